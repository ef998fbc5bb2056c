import { setImmediate } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { endFreshening, startFreshening } from '../catalogue/freshening.ts';
import { type Published, publishSampled } from '../catalogue/publication.ts';
import { judgeRounds } from '../catalogue/rounds.ts';
import { type Writing, writeCatalogue } from '../catalogue/write.ts';

/** Listings published in one transaction, so with one revision. */
const BATCH_SIZE = 100;

/** While probes run, what they mean is published so often, in milliseconds. */
const INTERVAL_MS = 10_000;

/** How many listings changed by what their samples mean. */
export type PublishedCounts = Record<Published['result'], number>;

/** Publishes what samples mean for readers, a batch at a time, while they are being taken. */
export interface Publishing {
  /** Publishes what there is if the last time was long enough ago; while it does so, a further call does nothing. */
  maybe(): void;
  /**
   * Publishes all there is, and gives what became of how many listings since the beginning. Throws what failed
   * meanwhile.
   */
  finish(): Promise<PublishedCounts>;
}

/**
 * Opens the publishing of samples of one run. `now` is the time that changes are recorded with. With `freshens` it also
 * publishes once a day, of all listings, what merely became fresher.
 */
export function openPublishing(
  catalogue: Catalogue,
  { now, freshens }: { now: () => Date; freshens: boolean },
): Publishing {
  const counts: PublishedCounts = { changed: 0, unchanged: 0, delisted: 0, relisted: 0 };
  let last = performance.now();
  let under: Promise<void> | undefined;
  let failure: unknown;

  function write<Result>(work: (writing: Writing) => Result): Result {
    return writeCatalogue(catalogue, now().toISOString(), work);
  }

  async function publish(): Promise<void> {
    const fresh = write((writing) => {
      judgeRounds(writing);
      return freshens && startFreshening(writing);
    });
    for (;;) {
      const published = write((writing) => publishSampled(writing, BATCH_SIZE, { fresh }));
      for (const { result } of published) counts[result] += 1;
      if (published.length === 0) break;
      // Between transactions probes get their turn.
      await setImmediate();
    }
    if (fresh) write(endFreshening);
  }

  return {
    maybe() {
      if (under || performance.now() - last < INTERVAL_MS) return;
      under = publish()
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => {
          last = performance.now();
          under = undefined;
        });
    },
    async finish() {
      await under;
      if (failure !== undefined) throw failure;
      await publish();
      return counts;
    },
  };
}
