import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { copyRecords } from './peers/express-records.ts';
import { runChild, type Server, startProgram, type World } from './world.ts';

/** Name of the Express peers in tables. */
export const EXPRESS = 'Express and SQLite';

/** The Debian packages of Hugo and of a library that a bare Debian lacks. */
const HUGO_PACKAGES = ['hugo', 'libsass1'];

/** Folder in which a downloaded Hugo is unpacked. */
const HUGO_DIR = resolve(import.meta.dirname, '../../dist/peers/hugo');

/** A Hugo that runs on this machine, and the environment that it needs. */
export interface Hugo {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Finds the Hugo that `HUGO` names, else the one on the PATH, else one downloaded before. Else downloads it from Debian
 * without installing it; says why and returns undefined if that fails.
 */
export async function getHugo(tell: (line: string) => void): Promise<Hugo | undefined> {
  const found = findHugo();
  if (found) return found;
  const cause = await downloadHugo().then(
    () => 'A library that it needs may be missing.',
    (error: Error) => error.message.trim().split('\n').slice(0, 3).join(' '),
  );
  const downloaded = findHugo();
  if (!downloaded) {
    tell(`Hugo is left out, since it cannot be downloaded. ${cause}`);
    tell('  Install it, name it in HUGO, or on Debian run apt-get update first.');
  }
  return downloaded;
}

function findHugo(): Hugo | undefined {
  // A downloaded Hugo needs the folders of the libraries that came with it.
  const libraries = join(HUGO_DIR, 'usr/lib');
  const folders = existsSync(libraries) ? readdirSync(libraries).map((entry) => join(libraries, entry)) : [];
  const downloaded = {
    command: join(HUGO_DIR, 'usr/bin/hugo'),
    env: { ...process.env, LD_LIBRARY_PATH: folders.join(':') },
  };
  return [{ command: process.env.HUGO || 'hugo', env: process.env }, downloaded].find(({ command, env }) => {
    return spawnSync(command, ['version'], { env, stdio: 'ignore' }).status === 0;
  });
}

async function downloadHugo(): Promise<void> {
  const run = promisify(execFile);
  await mkdir(dirname(HUGO_DIR), { recursive: true });
  const folder = await mkdtemp(join(dirname(HUGO_DIR), '.unfinished-'));
  try {
    await run('apt-get', ['download', ...HUGO_PACKAGES], { cwd: folder });
    for (const file of readdirSync(folder).filter((entry) => entry.endsWith('.deb'))) {
      await run('dpkg-deb', ['-x', file, 'unpacked'], { cwd: folder });
    }
    await rm(HUGO_DIR, { recursive: true, force: true });
    await rename(join(folder, 'unpacked'), HUGO_DIR);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts the Express directory. */
export function startExpressDirectory(world: World): Promise<Server> {
  return startExpress(world, new URL('./peers/express-directory.ts', import.meta.url));
}

/** Starts the Express server of the discovery endpoints. */
export function startExpressDiscovery(world: World): Promise<Server> {
  return startExpress(world, new URL('./peers/express-discovery.ts', import.meta.url));
}

/** Starts an Express peer. The first start of any copies the records of the catalogue. */
async function startExpress({ config }: World, program: URL): Promise<Server> {
  const file = join(dirname(config.catalogueAddress), 'express.sqlite');
  if (!existsSync(file)) {
    await copyRecords(config, `${file}.unfinished`);
    renameSync(`${file}.unfinished`, file);
  }
  return startProgram(program, [file]);
}

/** Time and size of Hugo's build of the listings' pages, in seconds and bytes. */
export interface HugoBuild {
  readonly seconds: number;
  /** Mean size of a listing's page. */
  readonly pageBytes: number;
  /** Most memory that Hugo held. */
  readonly peak: number;
}

/**
 * Builds the pages of the listings with Hugo in a new folder, from templates of the same pages. Its time is Hugo's alone, without
 * that of our export, which writes the content files.
 */
export async function buildWithHugo({ command, env }: Hugo, world: World, folder: string): Promise<HugoBuild> {
  mkdirSync(folder, { recursive: true });
  cpSync(join(import.meta.dirname, 'peers/hugo'), folder, { recursive: true });
  const exporter = fileURLToPath(new URL('./peers/hugo-export.ts', import.meta.url));
  await runChild(process.execPath, [exporter, folder], { env: world.env });
  const args = ['--quiet', '--source', folder, '--cacheDir', join(folder, 'cache')];
  const built = await runChild(command, args, { env });
  const pages = join(folder, 'public/api');
  const sizes = readdirSync(pages).map((name) => statSync(join(pages, name)).size);
  const pageBytes = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return { seconds: built.seconds, pageBytes, peak: built.peak };
}
