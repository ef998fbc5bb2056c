import { setImmediate } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { type Writing, writeCatalogue } from '../catalogue/transaction.ts';
import { endFreshening, startFreshening } from '../catalogue/write/probe-runs.ts';
import { type PublicationResult, publishSampled } from '../catalogue/write/probed.ts';
import { judgeRounds } from '../catalogue/write/rounds.ts';

/** Listings that are published in one transaction, and so with one revision. */
const BATCH_SIZE = 100;

/** Time between two publications of results while probes run, in milliseconds. */
const INTERVAL_MS = 10_000;

/** Number of listings with each result when their samples were published. */
export type PublishedCounts = Record<PublicationResult['result'], number>;

/** Publishes the results of samples in batches while a run goes on. */
interface Publishing {
  /** Publishes if the last time was long enough ago. A call during a publication does nothing. */
  publishIfDue(): void;
  /** Publishes everything, and returns the counts since the beginning. Throws if an earlier publication failed. */
  finish(): Promise<PublishedCounts>;
}

/**
 * Opens the publication of one run's samples. `now` is the time of the recorded changes. With `freshens` it also
 * publishes fresher times of all listings once a day.
 */
export function openPublishing(
  catalogue: Catalogue,
  { now, freshens }: { now: () => Date; freshens: boolean },
): Publishing {
  const counts: PublishedCounts = { changed: 0, unchanged: 0, delisted: 0, relisted: 0 };
  let last = performance.now();
  let pending: Promise<void> | undefined;
  let failure: unknown;

  async function write<Result>(work: (writing: Writing) => Promise<Result>): Promise<Result> {
    return await writeCatalogue(catalogue, now().toISOString(), work);
  }

  async function publish(): Promise<void> {
    const fresh = await write(async (writing) => {
      await judgeRounds(writing);
      return freshens && (await startFreshening(writing));
    });
    for (;;) {
      const published = await write((writing) => publishSampled(writing, BATCH_SIZE, { fresh }));
      for (const { result } of published) counts[result] += 1;
      if (published.length === 0) break;
      // The event loop handles probes between transactions.
      await setImmediate();
    }
    if (fresh) await write(endFreshening);
  }

  return {
    publishIfDue() {
      if (pending || performance.now() - last < INTERVAL_MS) return;
      pending = publish()
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => {
          last = performance.now();
          pending = undefined;
        });
    },
    async finish() {
      await pending;
      if (failure !== undefined) throw failure;
      await publish();
      return counts;
    },
  };
}
