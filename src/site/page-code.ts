import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DAY_MS } from '../model/duration.ts';
import { isMissing, listNames } from './folders.ts';

/** The project's own folder, which holds `src/`. Pages must be compiled inside it (Astro's rule). */
export const PROJECT_DIR = resolve(import.meta.dirname, '../..');

/** Files besides `src/` that the compiled pages depend on. */
const OTHER_INPUTS = ['astro.config.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** Returns the version of the code: a hash of the sources and the versions of all packages. Takes milliseconds. */
export function getCodeVersion(): string {
  const hash = createHash('sha256');
  const sources = readdirSync(join(PROJECT_DIR, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [...sources, ...OTHER_INPUTS.map((name) => join(PROJECT_DIR, name))]) {
    const content = readInput(file);
    hash.update(`${file.slice(PROJECT_DIR.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

let own: string | undefined;

/** Returns the version of the code that this process runs, which is computed once: later changes are not loaded. */
export function getOwnCodeVersion(): string {
  own ??= getCodeVersion();
  return own;
}

/**
 * Reads a file of the sources. One that was removed after it was listed counts as empty, since the version is computed again
 * after a build.
 */
function readInput(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0);
    throw error;
  }
}

/** Folder of the compiled pages. It belongs to the project, whatever SITE is, because Astro compiles inside the project. */
export const CODE_DIR = join(PROJECT_DIR, 'dist/code');

/** The compiled pages of one code version. */
export interface PageCode {
  readonly version: string;
  readonly folder: string;
  /** The module whose `handler` renders pages. */
  readonly entry: string;
  /** Folder of the files that browsers load: `_astro/*`. */
  readonly clientDir: string;
}

/** Returns the compiled pages in a folder. */
export function getPageCode(version: string, folder: string): PageCode {
  return { version, folder, entry: join(folder, 'server/entry.mjs'), clientDir: join(folder, 'client') };
}

/** Finds the latest compiled pages of a code version. A folder gets its name once it is complete. */
export function findPageCode(version: string, codeDir = CODE_DIR): PageCode | undefined {
  const name = listNames(codeDir)
    .filter((candidate) => candidate.startsWith(`${version}-`))
    .sort()
    .at(-1);
  return name === undefined ? undefined : getPageCode(version, join(codeDir, name));
}

/** Time for which unused compiled pages and assets stay, in milliseconds, for servers and open pages that still use them. */
export const KEPT_MS = 7 * DAY_MS;

/** Removes pages that were compiled more than a week ago, except the latest of these, which servers may still render with. */
export function removeOldPageCode(codeDir: string, now: Date): void {
  const old = listNames(codeDir)
    .filter((name) => /^[0-9a-f]{16}-/.test(name))
    .map((name) => ({ folder: join(codeDir, name), compiledAt: statSync(join(codeDir, name)).mtimeMs }))
    .filter(({ compiledAt }) => now.getTime() - compiledAt > KEPT_MS)
    .sort((a, b) => b.compiledAt - a.compiledAt);
  for (const { folder } of old.slice(1)) rmSync(folder, { recursive: true, force: true });
}
