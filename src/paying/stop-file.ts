import { lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Finds the reason why payments are stopped; null if they are not. They are allowed only if the file certainly does not exist. A
 * file that cannot be checked, anything else with that name, and a missing folder all stop payments.
 */
export function findStop(file: string | null): string | null {
  if (file === null) return null;
  try {
    lstatSync(file);
    return 'the stop file exists';
  } catch (error) {
    if (isMissing(error) && isFolder(dirname(file))) return null;
    return `the stop file cannot be checked (${getCode(error)})`;
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
