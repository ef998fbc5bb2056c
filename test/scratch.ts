import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A folder in memory, which Linux has. */
const IN_MEMORY = '/dev/shm';

/** Room that all tests together never need, in bytes. */
const ROOM = 2 * 1024 ** 3;

/**
 * Where tests make their folders. In memory where there is room: payments and pages are written to the disk at every
 * step, and a test would wait for it each time.
 */
export const SCRATCH = existsSync(IN_MEMORY) && getRoom(IN_MEMORY) > ROOM ? IN_MEMORY : tmpdir();

function getRoom(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
