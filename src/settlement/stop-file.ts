import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Finds why paying is stopped; null where it is not. Only a file that certainly is not there lets paying go on: one
 * that cannot be looked at, whatever else has its name, and a folder that is missing itself all stop it.
 */
export function findStop(file: string | null): string | null {
  if (file === null) return null;
  try {
    lstatSync(file);
    return 'the stop file is there';
  } catch (error) {
    if (isMissing(error) && isFolder(dirname(file))) return null;
    return `the stop file cannot be looked at (${getCode(error)})`;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isMissing(error: unknown): boolean {
  return getCode(error) === 'ENOENT';
}

function getCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
}
