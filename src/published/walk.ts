import { setImmediate as nextTurn } from 'node:timers/promises';
import { openPublished, type Published } from './file.ts';
import type { Reading } from './reading.ts';
import { openSnapshots, type Snapshot } from './snapshot.ts';

/** Work that goes through the catalogue in steps of a millisecond or two, after each of which others can be answered. */
export type Walk<Found> = Generator<undefined, Found>;

/** A published catalogue that stays at the revision of a snapshot. */
export interface HeldReading {
  readonly published: Published;
  readonly snapshot: Snapshot;
}

/** Memory for pages of the file while the whole catalogue is walked through, in kilobytes: each row is read once. */
const PAGE_CACHE = 2000;

/** Longest time that a walk goes on before other requests have their turn, in milliseconds. */
const TURN_MS = 2;

/** Walks through the catalogue at once. */
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
 * Walks through the catalogue with others answered in between: the file is opened once more and held at one revision until the walk
 * is done. Where it cannot be opened, since somebody removed it, the walk is done at once in the one that is open.
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
    // A failure to read is noticed like any other.
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
