import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsync,
  linkSync,
  openSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { promisify } from 'node:util';

const sync = promisify(fsync);

/** Why a file cannot be linked although it is there: another file system, too many links, or links are not had here. */
const UNLINKABLE = new Set(['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'ENOSYS']);

/** Says whether a file system error means that something is not there. */
export function isMissing(error: unknown): boolean {
  return isFileError(error, 'ENOENT') || isFileError(error, 'ENOTDIR');
}

/** Says whether something thrown is a file system error of a code. */
export function isFileError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
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

/** Gives a file a second name, or copies it where it cannot be linked. Gives false where it is not there. */
export function linkFile(from: string, to: string, link: typeof linkSync = linkSync): boolean {
  try {
    link(from, to);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    if (!(error instanceof Error && 'code' in error && UNLINKABLE.has(String(error.code)))) throw error;
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    return true;
  }
}

/**
 * Writes a new file, durable when this resolves, and gives its time of change in milliseconds. Throws where there is one: no
 * file is ever written to a second time.
 */
export async function writeDurably(file: string, content: string | Uint8Array): Promise<number> {
  const handle = openSync(file, 'wx');
  try {
    writeFileSync(handle, content);
    await sync(handle);
    return fstatSync(handle).mtimeMs;
  } finally {
    closeSync(handle);
  }
}

/** Makes what a folder lists durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = openSync(folder, 'r');
  try {
    await sync(handle);
  } finally {
    closeSync(handle);
  }
}
