import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, readConfig } from '../../src/config.ts';
import { runChild } from './children.ts';

/** What every benchmark of a run is given. */
export interface Run {
  /** Takes catalogues and releases; gone after the run. */
  readonly folder: string;
  /** How many times contestants take turns, and how long each turn is. */
  readonly rounds: number;
  readonly secondsEach: number;
  /** Says what is being done, or why something is left out. */
  readonly tell: (line: string) => void;
}

/** A synthetic catalogue and where its releases go. */
export interface World {
  readonly listings: number;
  readonly config: Config;
  /** For processes that serve it or rebuild from it. */
  readonly env: NodeJS.ProcessEnv;
}

/** The address by which the service names itself, whatever port it listens on. */
const BASE_URL = 'http://localhost:4321';

/** Opens the catalogue of a size, made once in a run; RELEASES is a folder named by the caller. */
export async function openWorld({ folder, tell }: Run, listings: number, releases = 'releases'): Promise<World> {
  const home = join(folder, String(listings));
  const file = join(home, 'catalogue.sqlite');
  if (!existsSync(file)) {
    tell(`Making a catalogue of ${listings.toLocaleString('en')} listings …`);
    mkdirSync(home, { recursive: true });
    const maker = fileURLToPath(new URL('./make-catalogue.ts', import.meta.url));
    await runChild(process.execPath, [maker, file, String(listings)]);
  }
  const settings = {
    ENV_FILES: 'off',
    BASE_URL,
    CATALOGUE: file,
    RELEASES: join(home, releases),
    HOST: '127.0.0.1',
    PORT: '0',
    RATE_LIMIT: '0',
    LOG_LEVEL: 'silent',
    PROBE: 'off',
    TRUSTED_PROXIES: '',
  };
  return { listings, config: readConfig(settings), env: { ...process.env, ...settings } };
}

/** Opens the catalogue of a size with a release of it. */
export async function openReleasedWorld(run: Run, listings: number): Promise<World> {
  const world = await openWorld(run, listings);
  run.tell(`Making a release of ${listings.toLocaleString('en')} listings …`);
  await runRebuild(world);
  return world;
}

/** What `npm run rebuild` runs with Node. */
export const REBUILD: readonly string[] = ['--import', './scripts/require-node.mjs', 'scripts/rebuild.ts'];

/** Runs the rebuild command to its end, as an operator does. */
export async function runRebuild({ env }: Pick<World, 'env'>): Promise<void> {
  await runChild(process.execPath, REBUILD, { env });
}
