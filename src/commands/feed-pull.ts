import { stat } from 'node:fs/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { findOpenPull, type Pull, recordPage, startPull } from '../catalogue/pulls.ts';
import { writeCatalogue } from '../catalogue/write.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { openGuardedClient } from '../fetching/client.ts';
import { formatRawItem, getFeedItemKey, getItemHash } from '../sources/bazaar/item-key.ts';
import { type FeedPage, pullFeed } from '../sources/bazaar/pull.ts';
import { identifySource, isWebAddress } from '../sources/source-name.ts';
import type { Progress } from './terminal/progress.ts';

/** An unfinished pull that was last heard of longer ago is begun again: too much has moved since. In milliseconds. */
const RESUMED_WITHIN_MS = 60 * 60 * 1000;

export interface FeedPullOptions {
  config: Config;
  now: () => Date;
  signal: AbortSignal;
  progress: Progress;
  /** The name of a file's feed on record; undefined: the file's own. */
  source?: string | undefined;
}

/**
 * Pulls a feed into the catalogue, each page in a transaction of its own, and goes on with a pull that was stopped less
 * than an hour ago. `ended` of what it gives is null where it was stopped. Throws what `pullFeed` does; the pages that
 * came before stay.
 */
export async function pullIntoCatalogue(
  catalogue: Catalogue,
  address: string,
  options: FeedPullOptions,
): Promise<Pull> {
  const { now, signal, progress } = options;
  const pull = await openPull(catalogue, address, options);
  if (pull.ended !== null) return pull;
  let reached = pull;
  progress.update(pull.items);
  try {
    for await (const page of generatePages(address, pull, options)) {
      reached = writeCatalogue(catalogue, now().toISOString(), (writing) =>
        recordPage(writing, reached, buildRecord(page)),
      );
      progress.update(reached.items, page.total ?? undefined);
      if (signal.aborted) break;
    }
    return reached;
  } catch (error) {
    if (signal.aborted && error instanceof ServiceError) return reached;
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
async function openPull(
  catalogue: Catalogue,
  address: string,
  { now, progress, source }: FeedPullOptions,
): Promise<Pull> {
  const feed = await identifySource(address, source);
  const since = new Date(now().getTime() - RESUMED_WITHIN_MS).toISOString();
  const open = isWebAddress(address) ? findOpenPull(catalogue, feed, since) : undefined;
  if (open) progress.note(`Going on with the pull of ${open.started_at}: ${open.items} items are here already.`);
  return open ?? writeCatalogue(catalogue, now().toISOString(), (writing) => startPull(writing, feed));
}

async function* generatePages(
  address: string,
  { next_offset }: Pull,
  { config, signal }: FeedPullOptions,
): AsyncGenerator<FeedPage> {
  const { allowPrivateNetworks, contactUrl } = config;
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: `agent-payable-apis (+${contactUrl})` });
  try {
    yield* pullFeed({ address, client, from: next_offset, signal });
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

function addResumption(error: unknown, { items, pages }: Pull): unknown {
  if (!(error instanceof ServiceError) || pages === 0) return error;
  return new ServiceError(error.code, error.message, {
    reason: error.reason,
    hint: `The ${items} items that came before are kept; the same command goes on from there within an hour.`,
    details: error.details,
    cause: error.cause,
  });
}
