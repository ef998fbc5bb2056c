import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { getMedian } from './rounds.ts';
import { buildSyntheticDeclaration, createSyntheticCatalogue } from './synthetic.ts';

/** What rebuilding costs at one catalogue size, from the start of the command to its end. */
export interface RebuildResult {
  listings: number;
  /** Every page rendered, code already compiled. */
  full_seconds: number;
  /** One listing changed since the last release; median of several. */
  one_change_seconds: number;
  one_change_rounds: number[];
}

/** Measures `npm run rebuild` as an operator runs it, process start included. */
export async function measureRebuilds(folder: string, listings: number): Promise<RebuildResult> {
  const file = join(folder, `rebuilds-${listings}.sqlite`);
  const catalogue = createSyntheticCatalogue(file, listings);
  const env = {
    ...process.env,
    CATALOGUE: file,
    RELEASES: join(folder, `rebuild-releases-${listings}`),
    LOG_LEVEL: 'silent',
  };
  await runRebuild(env, []);
  const full = await runRebuild(env, ['--force']);
  const rounds: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const declaration = buildSyntheticDeclaration(round * 7);
    const changed = { ...declaration, tagline: `Changed in round ${round}: ${declaration.tagline}` };
    writeCatalogue(catalogue, new Date().toISOString(), (writing) => recordDeclaration(writing, changed));
    rounds.push(await runRebuild(env, []));
  }
  catalogue.close();
  return { listings, full_seconds: full, one_change_seconds: getMedian(rounds), one_change_rounds: rounds };
}

/** Runs one rebuild and gives the seconds it took; throws when it fails. */
export async function runRebuild(env: NodeJS.ProcessEnv, flags: readonly string[]): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ['scripts/rebuild.ts', ...flags], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`the rebuild ended with ${code}`);
  return Number(((performance.now() - started) / 1000).toFixed(2));
}
