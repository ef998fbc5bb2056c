import { execFile } from 'node:child_process';
import { closeSync, fsync, openSync, readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { isFileError } from '../errors.ts';

const sync = promisify(fsync);

/** Returns true if a file system error means that something is not there. */
export function isMissing(error: unknown): boolean {
  return isFileError(error, 'ENOENT') || isFileError(error, 'ENOTDIR');
}

/** Lists the names in a folder; none where there is no folder. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Number of files from which writing out the whole file system, with others' writes, is quicker than each alone. */
const MANY = 1000;

/** Number of files that are written to the disk at once. */
const LANES = 16;

/** Makes new files, and what new folders list, durable; all of them are in the folder `within`. */
export async function makeDurable(within: string, paths: readonly string[]): Promise<void> {
  if (paths.length >= MANY && (await syncFileSystem(within))) return;
  const left = paths.values();
  const work = async () => {
    for (const path of left) await syncPath(path);
  };
  await Promise.all(Array.from({ length: LANES }, work));
}

/** Makes one file, or what one folder lists, durable. */
async function syncPath(path: string): Promise<void> {
  const handle = openSync(path, 'r');
  try {
    await sync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Returns false if this cannot be asked for: only Linux promises that all is on the disk when the command ends. */
async function syncFileSystem(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return new Promise((resolve) => {
    execFile('sync', ['-f', folder], (error) => resolve(error === null));
  });
}
