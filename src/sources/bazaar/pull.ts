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

export interface PullOptions extends FeedPullOptions {
  pageSize?: number | undefined;
  maxPages?: number | undefined;
  pullLimits?: Partial<PullLimits> | undefined;
}

/** One page of a Bazaar feed. */
export interface BazaarPage extends FeedPage {
  /** Number of rows before it. */
  offset: number;
  end: FeedEnd | null;
}

/** Longest part of a feed's address that a message quotes, in UTF-16 units. */
const NAME_LENGTH = 200;

/** Statuses with which some servers answer when there are no rows at an offset. */
const BEYOND_END_STATUSES = new Set([400, 404, 416]);

/**
 * Pulls a Bazaar feed (`GET /discovery/resources`) page by page to its end, whatever its paging is like; a file is one
 * page. The last page has `end`, which says whether the whole feed was seen. Throws ServiceErrors with `details.offset`:
 * `bad_json`, `not_a_feed`, `too_large`, `bad_status`, and the client's own reasons.
 */
export async function* pullFeed(options: PullOptions): AsyncGenerator<BazaarPage, void, undefined> {
  const { address, client, pageSize = 100, maxPages = 2000 } = options;
  const pullLimits = { ...DEFAULT_PULL_LIMITS, ...options.pullLimits };
  if (!isWebAddress(address)) {
    yield await readFeedFile(address, pullLimits.pageBytes);
    return;
  }
  if (!client) throw new ServiceError('internal', 'A feed address needs a client.');
  const paging = openPaging(pageSize, maxPages);
  let total: number | null = null;
  for (;;) {
    const { offset } = paging;
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
      if (paging.pages > 0 && isBeyondEnd(error, offset, total)) return EMPTY_PAGE;
      throw addOffset(error, offset);
    });
    total = page.total ?? total;
    const end = addPage(paging, { ...page, total }, page.items.map(getFeedItemKey));
    yield { offset, items: page.items, total, end };
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
  // A file may hold one page of a longer feed. Then items that it lacks are not gone.
  const end: FeedEnd = { reason: 'whole_file', complete: total === null || items.length >= total };
  return { offset: 0, items, total, end };
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

/** Adds the offset at which a pull failed, and what to do. */
function addOffset(error: unknown, offset: number): unknown {
  if (!(error instanceof ServiceError)) return error;
  const hint = error.hint ?? 'Check the address, or try again later.';
  const { code, message, reason, details, cause } = error;
  return new ServiceError(code, message, { reason, hint, details: { ...details, offset }, cause });
}

/** Reason for the end of a pull. `complete` says whether all items from the first offset on were seen. */
interface FeedEnd {
  reason: 'whole_file' | 'total_reached' | 'no_more_items' | 'offset_ignored' | 'page_limit';
  complete: boolean;
}

/** The state of paging through a feed. */
interface Paging {
  /** The requested page size. */
  readonly requested: number;
  readonly maxPages: number;
  pages: number;
  offset: number;
  /** The most items on any page so far. */
  largest: number;
  /** Pages in a row without new items. */
  idle: number;
  /** Sorted keys of the previous page. */
  previous: string;
  /** The first offset of the run of pages that equal the previous one. */
  previousFrom: number;
  /** Keys of all items so far. */
  readonly seen: Set<string>;
}

/**
 * Number of pages in a row without new items after which a feed of unknown length counts as complete, and one of known
 * length is given up.
 */
const MAX_IDLE_PAGES = { unknownTotal: 3, knownTotal: 50 };

/** Rows that two consecutive pages share, because rows move up when earlier ones disappear during the pull. */
const MAX_OVERLAP = 10;

function openPaging(requested: number, maxPages: number): Paging {
  const counts = { pages: 0, offset: 0, largest: 0, idle: 0 };
  return { requested, maxPages, ...counts, previous: '', previousFrom: 0, seen: new Set() };
}

/**
 * Adds a page to what was seen, and returns why the pull ends with it; null if it goes on at the next offset. A short page
 * does not mean the end: servers filter rows after counting them, and limit the page size without saying so. So the offset
 * advances by the number of rows that one page is known to cover, pages overlap, and the end is reached with the stated
 * total, or when no new items come.
 */
function addPage(paging: Paging, page: ServedPage, keys: readonly string[]): FeedEnd | null {
  const fresh = new Set(keys.filter((key) => !paging.seen.has(key))).size;
  for (const key of keys) paging.seen.add(key);
  const sorted = [...keys].sort().join('\n');
  if (fresh > 0 || sorted !== paging.previous) paging.previousFrom = paging.offset;
  // The server ignores the offset if two ranges that share no row have the same page.
  const isRepeated = keys.length > 0 && paging.offset - paging.previousFrom >= paging.requested;
  paging.previous = sorted;
  paging.pages += 1;
  paging.largest = Math.max(paging.largest, keys.length);
  paging.idle = fresh === 0 ? paging.idle + 1 : 0;
  paging.offset += getStride(paging, page, keys.length);
  return findEnd(paging, page, { fresh, count: keys.length, isRepeated });
}

function getStride({ requested, largest, idle }: Paging, { limit }: ServedPage, count: number): number {
  // A page without rows: only the server's `limit` says how far it looked.
  if (count === 0) return limit ?? requested;
  // A server that states a smaller limit than requested has capped it. One that repeats ours may have capped it too.
  const covered = Math.max(largest, limit !== null && limit < requested ? limit : 0);
  // Each page without news advances further, up to the requested size.
  if (idle > 0) return Math.max(covered, limit ?? Math.min(requested, covered * 2 ** idle));
  return covered - Math.min(MAX_OVERLAP, Math.floor(covered / 4));
}

function findEnd(
  paging: Paging,
  { total }: ServedPage,
  { fresh, count, isRepeated }: { fresh: number; count: number; isRepeated: boolean },
): FeedEnd | null {
  if (total !== null && paging.offset >= total && (fresh === 0 || count < paging.requested)) {
    return { reason: 'total_reached', complete: true };
  }
  if (isRepeated) return { reason: 'offset_ignored', complete: total === null || paging.seen.size >= total };
  if (total === null && paging.idle >= MAX_IDLE_PAGES.unknownTotal) return { reason: 'no_more_items', complete: true };
  if (paging.idle >= MAX_IDLE_PAGES.knownTotal) return { reason: 'no_more_items', complete: false };
  if (paging.pages >= paging.maxPages) return { reason: 'page_limit', complete: false };
  return null;
}
