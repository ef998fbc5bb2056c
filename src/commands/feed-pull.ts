import { stat } from 'node:fs/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { findOpenPull, isKnownFeed, type Pull, recordPage, recordPullFailure, startPull } from '../catalogue/pulls.ts';
import { type Writing, writeCatalogue } from '../catalogue/write.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { openGuardedClient } from '../fetching/client.ts';
import { cutText } from '../model/text.ts';
import { formatRawItem, getFeedItemKey, getItemHash } from '../sources/bazaar/item-key.ts';
import { type FeedPage, pullFeed } from '../sources/bazaar/pull.ts';
import { isWebAddress } from '../sources/source-name.ts';
import { getUserAgent } from '../views/user-agent.ts';
import type { Progress } from './terminal/progress.ts';

/** Longest reason of a failure that is kept, in UTF-16 units. */
const MESSAGE_LENGTH = 300;

/** An unfinished pull that was last heard of longer ago is begun again: too much has moved since. In milliseconds. */
const RESUMED_WITHIN_MS = 60 * 60 * 1000;

export interface FeedPullOptions {
  config: Config;
  now: () => Date;
  signal: AbortSignal;
  progress: Progress;
}

export interface FeedToPull {
  /** Its http(s) address, or a file. */
  address: string;
  /** Its name on record, as `getUniqueSourceName` gives it. */
  feed: string;
}

/**
 * Pulls a feed into the catalogue, each page in a transaction of its own, and goes on with a pull that was stopped less
 * than an hour ago. Returns undefined where it was stopped before the first page, and `ended` null where it was stopped
 * later. Throws what `pullFeed` does; the pages that came before stay, and the reason is kept with a known feed.
 */
export async function pullIntoCatalogue(
  catalogue: Catalogue,
  { address, feed }: FeedToPull,
  options: FeedPullOptions,
): Promise<Pull | undefined> {
  const { now, signal, progress } = options;
  let reached = findPullToResume(catalogue, { address, feed }, options);
  if (reached && reached.ended !== null) return reached;
  progress.update(reached?.items ?? 0);
  const write = <Result>(work: (writing: Writing) => Result) => writeCatalogue(catalogue, now().toISOString(), work);
  try {
    for await (const page of generatePages(address, reached?.next_offset ?? 0, options)) {
      // A pull begins with its first page, so that one which brought nothing leaves nothing.
      const before = reached;
      reached = write((writing) => recordPage(writing, before ?? startPull(writing, feed), buildRecord(page)));
      progress.update(reached.items, page.total ?? undefined);
      if (signal.aborted) break;
    }
    return reached;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (signal.aborted) return reached;
    if (isKnownFeed(catalogue, feed)) {
      const message = cutText(`${error.message} (${error.reason})`, MESSAGE_LENGTH);
      write((writing) => recordPullFailure(writing, { feed, message }));
    }
    throw addResumption(error, reached);
  }
}

/** Says since when what a pull brought is known: a file's items cannot have been seen later than it was written. */
export async function getPulledAt(address: string, { started_at }: Pull): Promise<string> {
  if (isWebAddress(address)) return started_at;
  const { mtime } = await stat(address);
  const writtenAt = mtime.toISOString();
  return writtenAt < started_at ? writtenAt : started_at;
}

/** A file is read anew each time: it costs nothing, and it may be another by now. */
function findPullToResume(
  catalogue: Catalogue,
  { address, feed }: FeedToPull,
  { now, progress }: FeedPullOptions,
): Pull | undefined {
  if (!isWebAddress(address)) return undefined;
  const since = new Date(now().getTime() - RESUMED_WITHIN_MS).toISOString();
  const open = findOpenPull(catalogue, feed, since);
  if (open) progress.note(`Going on with the pull of ${open.started_at}: ${open.items} items are here already.`);
  return open;
}

async function* generatePages(
  address: string,
  from: number,
  { config, signal }: FeedPullOptions,
): AsyncGenerator<FeedPage> {
  const { allowPrivateNetworks } = config;
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent(config) });
  try {
    yield* pullFeed({ address, client, from, signal });
  } finally {
    await client.close();
  }
}

function buildRecord({ items, next_offset, end }: FeedPage): Parameters<typeof recordPage>[2] {
  return {
    items: items.map((raw) => ({ key: getFeedItemKey(raw), hash: getItemHash(raw), raw: formatRawItem(raw) })),
    next_offset,
    ended: end && (end.complete ? 'complete' : 'incomplete'),
  };
}

function addResumption(error: ServiceError, reached: Pull | undefined): ServiceError {
  if (!reached) return error;
  return new ServiceError(error.code, error.message, {
    reason: error.reason,
    hint: `The ${reached.items} items that came before are kept; the same command goes on from there within an hour.`,
    details: error.details,
    cause: error.cause,
  });
}
