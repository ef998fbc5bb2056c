import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { getErrorMessage, isFileError, ServiceError } from '../errors.ts';

/**
 * Creates a folder and its missing parents, one by one. Node's own recursive mkdir never ends if nothing can be created, such as
 * in `/proc`. Throws `unavailable` with the name of the folder that cannot be created.
 */
export function createFolder(folder: string): void {
  const missing: string[] = [];
  for (let path = resolve(folder); !existsSync(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing) createOne(path);
}

/** Throws `not_found` if the folder of a new file does not exist: its name is probably misspelt. */
export function refuseMissingFolder(file: string): void {
  if (existsSync(dirname(file))) return;
  throw new ServiceError('not_found', `There is no folder ${dirname(file)}.`, {
    hint: 'Make it first.',
    reason: 'no_folder',
  });
}

function createOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process created it first.
    if (isFileError(error, 'EEXIST')) return;
    throw new ServiceError('unavailable', `The folder ${path} cannot be made: ${getErrorMessage(error)}.`, {
      hint: `Check that this user may write to ${dirname(path)}, or choose another place.`,
      reason: 'no_folder',
      cause: error,
    });
  }
}
