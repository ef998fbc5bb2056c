import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { GuardedClient } from '../../fetching/client.ts';
import { parseRetryAfter } from '../../fetching/retry-after.ts';
import { isObject } from '../../model/json.ts';
import { cutText } from '../../model/text.ts';
import type { FeedPage, FeedPullOptions } from '../feed.ts';
import { findMember } from '../json-value.ts';
import { readLimitedFile } from '../limited-file.ts';
import { getSourceName, isWebAddress } from '../source-name.ts';
import { getFeedItemKey } from './item.ts';

export interface PullOptions extends FeedPullOptions {
  pageSize?: number | undefined;
  maxPages?: number | undefined;
  pullLimits?: Partial<PullLimits> | undefined;
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
export async function* pullFeed(options: PullOptions): AsyncGenerator<FeedPage, void, undefined> {
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
    const url = new URL(address);
    url.searchParams.set('limit', String(pageSize));
    url.searchParams.set('offset', String(offset));
    const page = await fetchPageBytes(url, subject, { client, pullLimits, signal: options.signal })
      .then((bytes) => parseFeedPage(bytes, subject))
      .catch((error: unknown) => {
        if (paging.pages > 0 && isBeyondEnd(error, offset, total)) return EMPTY_PAGE;
        throw addOffset(error, offset);
      });
    total = page.total ?? total;
    const end = addPage(paging, { ...page, total }, page.items.map(getFeedItemKey));
    yield { items: page.items, total, end };
    if (end) return;
  }
}

const EMPTY_PAGE: ServedPage = { items: [], total: null, limit: null };

async function readFeedFile(path: string, maxBytes: number): Promise<FeedPage> {
  const subject = `The file ${getSourceName(path)}`;
  const read = await readLimitedFile(path, maxBytes).catch((error: unknown) => {
    throw new ServiceError('bad_input', `${subject} cannot be read.`, {
      reason: 'unreadable_file',
      hint: 'Give the path of a feed file, or an address that begins with https://.',
      cause: error,
    });
  });
  if (read === 'not_a_file') {
    throw new ServiceError('bad_input', `${subject} is a folder, a pipe or a device.`, {
      reason: 'not_a_file',
      hint: 'Save the feed as a file, and give its path.',
    });
  }
  if (read === 'too_large') throw buildTooLargeError(subject, maxBytes);
  const { items, total } = parseFeedPage(read, subject);
  // A file may hold one page of a longer feed. Then items that it lacks are not gone.
  return { items, total, end: { complete: total === null || items.length >= total } };
}

function isBeyondEnd(error: unknown, offset: number, total: number | null): boolean {
  if (!(error instanceof ServiceError) || error.reason !== 'bad_status') return false;
  return BEYOND_END_STATUSES.has(Number(error.details.status)) && (total === null || offset >= total);
}

/** Adds the offset at which a pull failed. */
function addOffset(error: unknown, offset: number): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { code, message, hint, reason, details, cause } = error;
  return new ServiceError(code, message, {
    reason,
    details: { ...details, offset },
    cause,
    ...(hint !== undefined && { hint }),
  });
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
 * Adds a page to what was seen, and returns the end of the pull, or null if it goes on at the next offset. A short page does
 * not mean the end: servers filter rows after counting them, and limit the page size without saying so. So the offset
 * advances by the number of rows that one page is known to cover, pages overlap, and the end is reached with the stated
 * total, or when no new items come.
 */
function addPage(paging: Paging, page: ServedPage, keys: readonly string[]): FeedPage['end'] {
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
): FeedPage['end'] {
  if (total !== null && paging.offset >= total && (fresh === 0 || count < paging.requested)) {
    return { complete: true };
  }
  if (isRepeated) return { complete: total === null || paging.seen.size >= total };
  if (total === null && paging.idle >= MAX_IDLE_PAGES.unknownTotal) return { complete: true };
  if (paging.idle >= MAX_IDLE_PAGES.knownTotal) return { complete: false };
  if (paging.pages >= paging.maxPages) return { complete: false };
  return null;
}

/** A page as the server sent it: raw items, and its paging information if there is any. */
interface ServedPage {
  items: unknown[];
  total: number | null;
  /** The number of rows that the server says it looked at for this page. */
  limit: number | null;
}

/**
 * Parses the bytes of a feed page, in all shapes seen so far: `{items, pagination: {total, limit}}`, `{resources,
 * total, limit}`, `{items}`, either of them within `data`, and a bare array. `subject` names the page in messages. Throws `bad_json`, or `not_a_feed`
 * for JSON without a list of items. Items of any depth are taken, so that one bad item does not lose the page.
 */
export function parseFeedPage(bytes: Uint8Array, subject: string): ServedPage {
  const json = parseJson(bytes, subject);
  if (Array.isArray(json)) return { items: json, total: null, limit: null };
  const items = isObject(json) ? listItemLists(json).find((list) => Array.isArray(list)) : undefined;
  if (!items) {
    throw new ServiceError('bad_input', `${subject} is JSON, but holds no list of items.`, {
      reason: 'not_a_feed',
      hint: 'A Bazaar feed is an object with "items" or "resources"; its address usually ends in /discovery/resources.',
    });
  }
  return { items, total: findCount(json, 'total'), limit: findCount(json, 'limit') || null };
}

/** Lists the places where a page may have its items. */
function listItemLists(json: unknown): unknown[] {
  const holders = [json, findMember(json, 'data')];
  return [...holders.flatMap((holder) => [findMember(holder, 'items'), findMember(holder, 'resources')]), holders[1]];
}

function parseJson(bytes: Uint8Array, subject: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    // SyntaxError: not JSON. TypeError: the bytes are not UTF-8.
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1').trimStart()[0];
    const what = start === undefined ? 'empty' : start === '<' ? 'HTML instead of JSON' : 'not JSON';
    throw new ServiceError('bad_input', `${subject} is ${what}.`, {
      reason: 'bad_json',
      hint: 'Open the address or file and look at its content.',
    });
  }
}

function findCount(json: unknown, name: 'total' | 'limit'): number | null {
  const holders = [json, findMember(json, 'data')];
  const counts = holders.flatMap((holder) => [findMember(holder, 'pagination', name), findMember(holder, name)]);
  return counts.find((count): count is number => Number.isSafeInteger(count) && Number(count) >= 0) ?? null;
}

/** Limits of a pull. Times are milliseconds, sizes bytes. */
interface PullLimits {
  /** Attempts for one page, including the first. */
  attempts: number;
  /** Wait after the first failure. It doubles after each further one. */
  firstWaitMs: number;
  /** The longest wait that a server may ask for. A longer one ends the pull. */
  longestWaitMs: number;
  /** Time for one page, including all redirects. */
  pageMs: number;
  /** Size of one page, compressed or not. */
  pageBytes: number;
}

const DEFAULT_PULL_LIMITS: PullLimits = Object.freeze({
  attempts: 4,
  firstWaitMs: 500,
  longestWaitMs: 60_000,
  pageMs: 120_000,
  pageBytes: 100 * 1024 * 1024,
});

interface PageFetchOptions {
  client: Pick<GuardedClient, 'fetch'>;
  pullLimits: PullLimits;
  signal?: AbortSignal | undefined;
}

const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);
const TRANSIENT_REASONS = new Set(['timeout', 'held_up', 'disconnected', 'refused', 'name_not_resolved']);

/** The result of one attempt: the body, or a temporary failure with the wait that the server asks for. */
type Attempt = { body: Uint8Array } | { failure: ServiceError; waitMs: number | null };

/**
 * Fetches the bytes of one feed page. After a temporary failure (connection lost, time-out, 429, 5xx) it tries again
 * within the limits, and obeys `Retry-After`. `subject` names the page in messages. Throws the last failure,
 * `too_large`, `bad_status` with `details.status`, or what the client throws.
 */
async function fetchPageBytes(url: URL, subject: string, options: PageFetchOptions): Promise<Uint8Array> {
  const { attempts, firstWaitMs, longestWaitMs } = options.pullLimits;
  for (let attempt = 1; ; attempt++) {
    const result = await fetchPageOnce(url, subject, options);
    if ('body' in result) return result.body;
    const waitMs = result.waitMs ?? firstWaitMs * 2 ** (attempt - 1);
    if (attempt >= attempts || waitMs > longestWaitMs) throw result.failure;
    await waitFor(waitMs, options.signal);
  }
}

async function fetchPageOnce(
  url: URL,
  subject: string,
  { client, pullLimits, signal }: PageFetchOptions,
): Promise<Attempt> {
  const { pageMs, pageBytes } = pullLimits;
  const limits = { totalMs: pageMs, bodyBytes: pageBytes, decodedBytes: pageBytes };
  try {
    const response = await client.fetch(url, { headers: { accept: 'application/json' }, limits, signal });
    if (response.status >= 200 && response.status <= 299) return { body: response.body };
    const failure = new ServiceError('unavailable', `${subject} was answered with status ${response.status}.`, {
      reason: 'bad_status',
      details: { status: response.status },
    });
    if (!TRANSIENT_STATUSES.has(response.status)) throw failure;
    const seconds = parseRetryAfter(response.headers.get('retry-after'), new Date());
    return { failure, waitMs: seconds === null ? null : seconds * 1000 };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.reason === 'too_large') throw buildTooLargeError(subject, pageBytes, error);
    if (!TRANSIENT_REASONS.has(error.reason)) throw error;
    return { failure: error, waitMs: null };
  }
}

/** Builds the refusal of a page or file that is too large. */
function buildTooLargeError(subject: string, bytes: number, cause?: unknown): ServiceError {
  const size = bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MB` : `${bytes} bytes`;
  return new ServiceError('refused', `${subject} is larger than ${size}, which is too large.`, {
    reason: 'too_large',
    hint: 'Ask for smaller pages, or split the file.',
    cause,
  });
}

async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    // The wait is up to a quarter longer, so that clients that failed together do not come back together.
    await sleep(ms * (1 + Math.random() / 4), undefined, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new ServiceError('unavailable', 'The pull was stopped.', { reason: 'aborted', cause: error });
  }
}
