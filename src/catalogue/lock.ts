import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { createFolder } from './folder.ts';

const POLL_MS = 50;
const SQLITE_BUSY = 5;

/** A lock that is held until it is released or its process ends in any way. */
export interface Lock {
  release(): void;
}

/**
 * Takes the lock of a file at once; returns undefined if another process holds it. The lock is an exclusive transaction of SQLite
 * on an empty file, which is a lock of the kernel: a `kill -9` frees it, it needs no clock and no process ids, and it works
 * between containers that share a folder. Throws `unavailable` if the file cannot be created.
 */
export function findLock(file: string): Lock | undefined {
  let database: DatabaseSync | undefined;
  try {
    createFolder(dirname(file));
    database = new DatabaseSync(file);
    // With the journal in memory nothing is written, so a full disk does not prevent the lock.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    const held = database;
    return { release: () => held.close() };
  } catch (error) {
    database?.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined;
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('unavailable', `The lock ${file} cannot be taken: ${getErrorMessage(error)}.`, {
      hint: 'Check that the folder can be written to.',
      reason: 'lock_failed',
      cause: error,
    });
  }
}

/**
 * Waits for the lock of a file. `onWait` is called once if another process holds it. Throws an AbortError if `signal` is aborted
 * meanwhile.
 */
export async function acquireLock(file: string, onWait?: () => void, signal?: AbortSignal): Promise<Lock> {
  let lock = findLock(file);
  if (!lock) onWait?.();
  while (!lock) {
    await sleep(POLL_MS, undefined, { signal });
    lock = findLock(file);
  }
  return lock;
}
