import { createHash } from 'node:crypto';
import {
  constants,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { getHash } from '../published/hash.ts';
import { isFileError, isMissing, listNames } from './folders.ts';

/** The project's own folder, which holds `src/`. Pages must be compiled inside it (Astro's rule). */
export const PROJECT_DIR = resolve(import.meta.dirname, '../..');

/** Files that decide compiled pages, besides `src/`. */
const OTHER_INPUTS = ['astro.config.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** Returns the version of the code: a hash of the sources and the versions of all packages. Takes milliseconds. */
export function getCodeVersion(projectDir = PROJECT_DIR): string {
  const hash = createHash('sha256');
  const sources = readdirSync(join(projectDir, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [...sources, ...OTHER_INPUTS.map((name) => join(projectDir, name))]) {
    const content = readInput(file);
    hash.update(`${file.slice(projectDir.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/** A file that went away between listing and reading counts as empty: the version is computed again after a build. */
function readInput(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0);
    throw error;
  }
}

/** Compiled pages belong to the project, whatever RELEASES is: Astro compiles inside it. */
export const CODE_DIR = join(PROJECT_DIR, 'dist/code');

/** List of the compiler's files with their hashes. Written last, so a folder without it is not complete. */
const LIST = 'files.json';

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
 * Records that compiled pages are still wanted, so that they are not removed as old ones. Nobody removes anything either
 * if the folder may not be written to, or is gone.
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

/** The folder of hashed assets, in the compiled pages and beside the releases. */
export const ASSETS_FOLDER = '_astro';

/** Time that an asset stays which no release uses any more, for pages that are still open somewhere. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Sizes of assets by name, in bytes. */
export type Assets = Readonly<Record<string, number>>;

/**
 * Puts the hashed assets of the compiled pages beside the releases, which they outlive. Their time of change is that of
 * their last use; what has not been used for 30 days goes. A name has one content, so what is there stays. Gives
 * them all, and the names of those that were not there.
 */
export function publishAssets(
  code: PageCode,
  assetsDir: string,
  now: Date,
): { assets: Assets; published: readonly string[] } {
  const [from, to] = [join(code.clientDir, ASSETS_FOLDER), join(assetsDir, ASSETS_FOLDER)];
  mkdirSync(to, { recursive: true });
  const names = listNames(from);
  const assets = Object.fromEntries(names.map((name) => [name, statSync(join(from, name)).size]));
  const published = listLostAssets(assets, assetsDir);
  for (const name of published) publishAsset(join(from, name), join(to, name));
  for (const name of names) utimesSync(join(to, name), now, now);
  for (const name of listNames(to)) {
    const file = join(to, name);
    if (now.getTime() - statSync(file).mtimeMs > KEPT_MS) rmSync(file, { recursive: true, force: true });
  }
  return { assets, published };
}

/** Lists those of some assets that are not beside the releases, or not of their size. */
export function listLostAssets(assets: Assets, assetsDir: string): string[] {
  return Object.entries(assets)
    .filter(([name, bytes]) => findSize(join(assetsDir, ASSETS_FOLDER, name)) !== bytes)
    .map(([name]) => name);
}

/** A name that something else than a file has is no asset. */
function findSize(file: string): number | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : undefined;
}

/** Writes a file beside its place and renames it, so that nobody reads half of it. */
function publishAsset(from: string, to: string): void {
  const unfinished = join(dirname(to), `.${process.pid}.unfinished`);
  copyFileSync(from, unfinished, constants.COPYFILE_FICLONE);
  renameSync(unfinished, to);
}
