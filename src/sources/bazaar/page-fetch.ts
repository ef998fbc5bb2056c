import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { GuardedClient } from '../../fetching/client.ts';

/** How patient a pull is. Times are milliseconds, sizes bytes. */
export interface PullPatience {
  /** Tries of one page, the first included. */
  attempts: number;
  /** Wait after the first failure; doubled after each further one. */
  firstWaitMs: number;
  /** The longest wait that a server may ask for; beyond it the pull is given up, to be resumed later. */
  longestWaitMs: number;
  /** One page, all redirects included. */
  pageMs: number;
  /** One page, packed or unpacked. */
  pageBytes: number;
}

export const DEFAULT_PATIENCE: PullPatience = Object.freeze({
  attempts: 4,
  firstWaitMs: 500,
  longestWaitMs: 60_000,
  pageMs: 120_000,
  pageBytes: 100 * 1024 * 1024,
});

export interface PageFetchOptions {
  client: Pick<GuardedClient, 'fetch'>;
  patience: PullPatience;
  signal?: AbortSignal | undefined;
}

const TRANSIENT_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504]);
const TRANSIENT_REASONS = new Set(['timeout', 'held_up', 'disconnected', 'refused', 'name_not_resolved']);

/** What one try came to: the body, or a passing trouble with the wait that the server asks for. */
type Attempt = { body: Uint8Array } | { trouble: ServiceError; waitMs: number | null };

/**
 * Fetches the bytes of one feed page, again after a passing trouble (connection lost, time-out, 429, 5xx), as often and
 * as late as the patience allows; a `Retry-After` is honoured. `subject` names the page in messages. Throws the last
 * trouble, `too_large`, `bad_status` with `details.status`, or what the client throws.
 */
export async function fetchPageBytes(url: URL, subject: string, options: PageFetchOptions): Promise<Uint8Array> {
  const { attempts, firstWaitMs, longestWaitMs } = options.patience;
  for (let attempt = 1; ; attempt++) {
    const result = await tryPage(url, subject, options);
    if ('body' in result) return result.body;
    const waitMs = result.waitMs ?? firstWaitMs * 2 ** (attempt - 1);
    if (attempt >= attempts || waitMs > longestWaitMs) throw result.trouble;
    await waitFor(waitMs, options.signal);
  }
}

async function tryPage(url: URL, subject: string, { client, patience, signal }: PageFetchOptions): Promise<Attempt> {
  const { pageMs, pageBytes } = patience;
  const limits = { totalMs: pageMs, bodyBytes: pageBytes, decodedBytes: pageBytes };
  try {
    const response = await client.fetch(url, { headers: { accept: 'application/json' }, limits, signal });
    if (response.status >= 200 && response.status <= 299) return { body: response.body };
    const trouble = new ServiceError('unavailable', `${subject} was answered with status ${response.status}.`, {
      reason: 'bad_status',
      details: { status: response.status },
    });
    if (!TRANSIENT_STATUSES.has(response.status)) throw trouble;
    return { trouble, waitMs: findRetryAfterMs(response.headers.get('retry-after')) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.reason === 'too_large') throw buildTooLargeError(subject, pageBytes, error);
    if (!TRANSIENT_REASONS.has(error.reason)) throw error;
    return { trouble: error, waitMs: null };
  }
}

/** Builds the refusal of a page, or a file, that is too large to be read. */
export function buildTooLargeError(subject: string, bytes: number, cause?: unknown): ServiceError {
  const size = bytes >= 1024 * 1024 ? `${Math.floor(bytes / 1024 / 1024)} MB` : `${bytes} bytes`;
  return new ServiceError('refused', `${subject} is larger than ${size}, more than is read at once.`, {
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
    // Up to a quarter more, so that pullers that failed together do not come back together.
    await sleep(ms * (1 + Math.random() / 4), undefined, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new ServiceError('unavailable', 'The pull was stopped.', { reason: 'aborted', cause: error });
  }
}
