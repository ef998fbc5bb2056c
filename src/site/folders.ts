import { execFile } from 'node:child_process';
import { closeSync, fsync, openSync, readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { isFileError } from '../errors.ts';

const sync = promisify(fsync);

/** Returns true if a file system error means that a file or folder does not exist. */
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

/** Number of files from which syncing the whole file system, including others' writes, is faster than syncing each file. */
const MANY = 1000;

/** Number of files that are written to the disk at once. */
const LANES = 16;

/** Makes new files, and the entries of new folders, durable. All of them are inside the folder `within`. */
export async function makeDurable(within: string, paths: readonly string[]): Promise<void> {
  if (paths.length >= MANY && (await syncFileSystem(within))) return;
  const left = paths.values();
  const work = async () => {
    for (const path of left) await syncPath(path);
  };
  await Promise.all(Array.from({ length: LANES }, work));
}

/** Makes one file, or the entries of one folder, durable. */
async function syncPath(path: string): Promise<void> {
  const handle = openSync(path, 'r');
  try {
    await sync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Syncs a whole file system. Returns false if that is not possible: only Linux promises that everything is on the disk when the
 * command ends.
 */
async function syncFileSystem(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return new Promise((resolve) => {
    execFile('sync', ['-f', folder], (error) => resolve(error === null));
  });
}
