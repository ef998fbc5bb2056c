import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { getHash } from '../published/hash.ts';
import { PROJECT_DIR } from './code-version.ts';
import { isFileError, isMissing, listNames } from './folders.ts';

/** Compiled pages belong to the project, whatever RELEASES is: Astro compiles inside it. */
export const CODE_DIR = join(PROJECT_DIR, 'dist/code');

/** What the compiler made, by path: the hash of each file. Written last, so a folder without it is not complete. */
const LIST = 'files.json';

/** The compiled pages of one code version. */
export interface PageCode {
  readonly version: string;
  readonly folder: string;
  /** The module whose `handler` renders pages. */
  readonly entry: string;
  /** What browsers load: `_astro/*`. */
  readonly clientDir: string;
}

/** Gives the compiled pages in a folder. */
export function getPageCode(version: string, folder: string): PageCode {
  return { version, folder, entry: join(folder, 'server/entry.mjs'), clientDir: join(folder, 'client') };
}

/**
 * Finds the compiled pages of a code version, those compiled last. Undefined where there are none that are what the
 * compiler made, to the byte: reading them takes a few milliseconds.
 */
export function findPageCode(version: string, codeDir = CODE_DIR): PageCode | undefined {
  const folders = listNames(codeDir).filter((name) => name.startsWith(`${version}-`));
  const name = folders
    .sort()
    .reverse()
    .find((candidate) => isSound(join(codeDir, candidate)));
  return name === undefined ? undefined : getPageCode(version, join(codeDir, name));
}

/** Writes down what a folder holds, so that damage is noticed. */
export function recordFiles(folder: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const hashes = Object.fromEntries(files.map((file) => [file, getHash(readFileSync(join(folder, file)))]));
  writeFileSync(join(folder, LIST), JSON.stringify(hashes));
}

/**
 * Says that compiled pages are still wanted, so that they are not removed as old ones. Where the folder may not be written
 * to, or is gone, nobody removes anything either.
 */
export function recordUse({ folder }: PageCode, at = new Date()): void {
  try {
    utimesSync(folder, at, at);
  } catch (error) {
    if (!['ENOENT', 'EACCES', 'EPERM', 'EROFS'].some((code) => isFileError(error, code))) throw error;
  }
}

function isSound(folder: string): boolean {
  try {
    const hashes: Record<string, string> = JSON.parse(readFileSync(join(folder, LIST), 'utf8'));
    const files = Object.entries(hashes);
    return files.length > 0 && files.every(([file, hash]) => getHash(readFileSync(join(folder, file))) === hash);
  } catch (error) {
    if (isMissing(error) || isFileError(error, 'EISDIR') || error instanceof SyntaxError) return false;
    throw error;
  }
}
