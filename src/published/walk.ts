import { setImmediate as nextTurn } from 'node:timers/promises';
import { openPublished, type Published } from './file.ts';
import type { Reading } from './reading.ts';
import { openSnapshots, type Snapshot } from './snapshot.ts';

/** Work on the catalogue in steps of a millisecond or two. After each step other requests can be answered. */
export type Walk<Found> = Generator<undefined, Found>;

/** A published catalogue that stays at the revision of a snapshot. */
export interface HeldReading {
  readonly published: Published;
  readonly snapshot: Snapshot;
}

/** Page cache of a file while the whole catalogue is read, in kibibytes: each row is read once. */
const PAGE_CACHE = 2000;

/** Longest time for which a walk runs before other requests have their turn, in milliseconds. */
const TURN_MS = 2;

/** Runs a walk to its end without a pause. */
export function walkAtOnce<Found>({ published, readAtOnce }: Reading, walk: (held: HeldReading) => Walk<Found>): Found {
  return readAtOnce((snapshot) => {
    const steps = walk({ published, snapshot });
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
    }
  });
}

/**
 * Runs a walk while other requests are answered. The file is opened once more and held at one revision until the walk is done. If
 * it cannot be opened because somebody removed it, the walk runs at once on the open file.
 */
export async function walkInTurns<Found>(reading: Reading, walk: (held: HeldReading) => Walk<Found>): Promise<Found> {
  const held = tryHold(reading);
  if (!held) return walkAtOnce(reading, walk);
  try {
    const steps = walk(held);
    for (let since = performance.now(); ; ) {
      const { done, value } = steps.next();
      if (done) return value;
      if (performance.now() - since < TURN_MS) continue;
      await nextTurn();
      since = performance.now();
    }
  } catch (error) {
    // Passes the failure to `readOne`, which reports failures to read.
    return reading.readOne(() => {
      throw error;
    });
  } finally {
    held.published.close();
  }
}

function tryHold({ published: { file }, getSnapshot }: Reading): HeldReading | undefined {
  let published: Published | undefined;
  try {
    published = openPublished(file);
    published.sqlite.pragma(`cache_size = -${PAGE_CACHE}`);
    published.sqlite.exec('BEGIN');
    return { published, snapshot: openSnapshots(published, getSnapshot())() };
  } catch {
    published?.close();
    return undefined;
  }
}
