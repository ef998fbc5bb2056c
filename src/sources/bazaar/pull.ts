import { readFile, stat } from 'node:fs/promises';
import { ServiceError } from '../../errors.ts';
import type { GuardedClient } from '../../fetching/client.ts';
import { cutText } from '../../model/text.ts';
import type { FeedPage, FeedPullOptions } from '../feed.ts';
import { getSourceName, isWebAddress } from '../source-name.ts';
import { getFeedItemKey } from './item-key.ts';
import {
  buildTooLargeError,
  DEFAULT_PULL_LIMITS,
  fetchPageBytes,
  type PullLimits,
  parseFeedPage,
  type ServedPage,
} from './page.ts';
import { advancePull, type FeedEnd, openPullState } from './pull-state.ts';

export interface PullOptions extends FeedPullOptions {
  pageSize?: number | undefined;
  maxPages?: number | undefined;
  pullLimits?: Partial<PullLimits> | undefined;
}

/** One page of a Bazaar feed, where `next_offset` is a number of rows. */
export interface BazaarPage extends FeedPage {
  offset: number;
  /** Number of distinct items that are new in this pull. */
  fresh: number;
  end: FeedEnd | null;
}

/** Longest part of a feed's address that a message quotes, in UTF-16 units. */
const NAME_LENGTH = 200;

/** Statuses with which some servers answer when there are no rows at an offset. */
const BEYOND_END_STATUSES = new Set([400, 404, 416]);

/**
 * Pulls a Bazaar feed (`GET /discovery/resources`) page by page to its end, whatever its paging is like; a file is one
 * page. The last page has `end`, which says whether the whole feed was seen. Throws ServiceErrors with
 * `details.offset`, from which the pull can be resumed: `bad_json`, `not_a_feed`, `too_large`, `bad_status`, and the
 * client's own reasons.
 */
export async function* pullFeed(options: PullOptions): AsyncGenerator<BazaarPage, void, undefined> {
  const { address, client, from = 0, pageSize = 100, maxPages = 2000 } = options;
  const pullLimits = { ...DEFAULT_PULL_LIMITS, ...options.pullLimits };
  if (!isWebAddress(address)) {
    yield await readFeedFile(address, pullLimits.pageBytes);
    return;
  }
  if (!client) throw new ServiceError('internal', 'A feed address needs a client.');
  const state = openPullState(from, pageSize, maxPages);
  let total: number | null = null;
  for (;;) {
    const { offset } = state;
    const subject = `The page at offset ${offset} of the feed ${cutText(getSourceName(address), NAME_LENGTH)}`;
    const page = await fetchPage({
      address,
      offset,
      pageSize,
      subject,
      pullLimits,
      client,
      signal: options.signal,
    }).catch((error: unknown) => {
      if (state.pages > 0 && isBeyondEnd(error, offset, total)) return EMPTY_PAGE;
      throw addOffset(error, offset);
    });
    total = page.total ?? total;
    const { fresh, nextOffset, end } = advancePull(state, { ...page, total }, page.items.map(getFeedItemKey));
    yield { offset, items: page.items, fresh, total, next_offset: nextOffset, end };
    if (end) return;
  }
}

const EMPTY_PAGE: ServedPage = { items: [], total: null, limit: null };

interface PageRequest {
  address: string;
  offset: number;
  pageSize: number;
  subject: string;
  pullLimits: PullLimits;
  client: Pick<GuardedClient, 'fetch'>;
  signal: AbortSignal | undefined;
}

async function fetchPage(request: PageRequest): Promise<ServedPage> {
  const { address, offset, pageSize, subject, pullLimits, client, signal } = request;
  const url = new URL(address);
  url.searchParams.set('limit', String(pageSize));
  url.searchParams.set('offset', String(offset));
  return parseFeedPage(await fetchPageBytes(url, subject, { client, pullLimits, signal }), subject);
}

async function readFeedFile(path: string, maxBytes: number): Promise<BazaarPage> {
  const subject = `The file ${getSourceName(path)}`;
  const bytes = await readLimitedFile(path, subject, maxBytes);
  const { items, total } = parseFeedPage(bytes, subject);
  const fresh = new Set(items.map(getFeedItemKey)).size;
  // A file may hold one page of a longer feed. Then items that it lacks are not gone.
  const end: FeedEnd = { reason: 'whole_file', complete: total === null || items.length >= total };
  return { offset: 0, items, fresh, total, next_offset: items.length, end };
}

async function readLimitedFile(path: string, subject: string, maxBytes: number): Promise<Uint8Array> {
  try {
    const stats = await stat(path);
    if (!stats.isFile()) {
      throw new ServiceError('bad_input', `${subject} is a folder, a pipe or a device.`, {
        reason: 'not_a_file',
        hint: 'Save the feed as a file, and give its path.',
      });
    }
    if (stats.size > maxBytes) throw buildTooLargeError(subject, maxBytes);
    return await readFile(path);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('bad_input', `${subject} cannot be read.`, {
      reason: 'unreadable_file',
      hint: 'Give the path of a feed file, or an address that begins with https://.',
      cause: error,
    });
  }
}

function isBeyondEnd(error: unknown, offset: number, total: number | null): boolean {
  if (!(error instanceof ServiceError) || error.reason !== 'bad_status') return false;
  return BEYOND_END_STATUSES.has(Number(error.details.status)) && (total === null || offset >= total);
}

/** Adds the offset at which a pull failed, so that it can be resumed there. */
function addOffset(error: unknown, offset: number): unknown {
  if (!(error instanceof ServiceError)) return error;
  const goOn =
    offset > 0
      ? `The pull can continue from offset ${offset}; everything before it is complete.`
      : 'Check the address, or try again later.';
  const hint = error.hint ?? goOn;
  const { code, message, reason, details, cause } = error;
  return new ServiceError(code, message, { reason, hint, details: { ...details, offset }, cause });
}
