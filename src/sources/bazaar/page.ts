import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { GuardedClient } from '../../fetching/client.ts';
import { isObject } from '../json-value.ts';
import { findMember } from './item-fields.ts';

/** A page as the server sent it: raw items, and its paging information if there is any. */
export interface ServedPage {
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
export interface PullLimits {
  /** Attempts for one page, including the first. */
  attempts: number;
  /** Wait after the first failure. It doubles after each further one. */
  firstWaitMs: number;
  /** The longest wait that a server may ask for. A longer one ends the pull, which can be resumed later. */
  longestWaitMs: number;
  /** Time for one page, including all redirects. */
  pageMs: number;
  /** Size of one page, compressed or not. */
  pageBytes: number;
}

export const DEFAULT_PULL_LIMITS: PullLimits = Object.freeze({
  attempts: 4,
  firstWaitMs: 500,
  longestWaitMs: 60_000,
  pageMs: 120_000,
  pageBytes: 100 * 1024 * 1024,
});

export interface PageFetchOptions {
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
export async function fetchPageBytes(url: URL, subject: string, options: PageFetchOptions): Promise<Uint8Array> {
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
    return { failure, waitMs: findRetryAfterMs(response.headers.get('retry-after')) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.reason === 'too_large') throw buildTooLargeError(subject, pageBytes, error);
    if (!TRANSIENT_REASONS.has(error.reason)) throw error;
    return { failure: error, waitMs: null };
  }
}

/** Builds the refusal of a page or file that is too large. */
export function buildTooLargeError(subject: string, bytes: number, cause?: unknown): ServiceError {
  const size = bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MB` : `${bytes} bytes`;
  return new ServiceError('refused', `${subject} is larger than ${size}, which is too large.`, {
    reason: 'too_large',
    hint: 'Ask for smaller pages, or split the file.',
    cause,
  });
}

/** Reads `Retry-After`: seconds or an HTTP date (RFC 9110 section 10.2.3). Returns milliseconds, or null. */
function findRetryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
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
