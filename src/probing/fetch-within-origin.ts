import type { FetchResponse, GuardedClient } from '../fetching/client.ts';
import { PROBED_BODY_PIECES } from '../fetching/limits.ts';
import { isRedirect } from '../fetching/request.ts';
import type { JsonObject } from '../model/json.ts';
import { MAX_CHALLENGE_BYTES } from '../x402/challenge-json.ts';
import type { ProbeRequest } from './probe-request.ts';

/** Redirects followed in one probe. */
const MAX_REDIRECTS = 3;

/** Most bytes of one answer, before and after content codings are undone. */
const MAX_BYTES = 1024 * 1024;

/**
 * Returns the most bytes to read of a body: only that of a 402 is read, up to the longest challenge and one byte more.
 */
const getWantedBytes = (status: number): number => (status === 402 ? MAX_CHALLENGE_BYTES + 1 : 0);

/** Cause of a sample if robots.txt forbids the request or the target of a redirect. */
export const ROBOTS_DISALLOWED = 'robots_disallowed';

/** A redirect that was not followed, and the reason. */
export interface UnfollowedRedirect {
  cause:
    | 'redirected_elsewhere'
    | 'redirect_changes_method'
    | 'too_many_redirects'
    | 'bad_redirect'
    | typeof ROBOTS_DISALLOWED;
  status: number;
  detail: JsonObject;
}

export interface FetchWithinOriginOptions {
  /** Time for each request, in milliseconds. */
  timeoutMs: number;
  /** Returns whether robots.txt allows an address. Without this function everything is allowed. */
  isAllowed?: ((url: string) => boolean) | undefined;
  /** Awaited before each further request. Its errors are thrown on. */
  pause?: (() => Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Makes the request of a probe and follows redirects within the origin as long as method and body stay the same: a
 * trailing slash, a moved path. A redirect to another origin is not followed, because a 402 there would be for somebody
 * else's route. A redirect that changes the method to GET is not followed either, because it asks for something else.
 * Each redirect is a request of its own: it has its own time limit, waits for its turn (`pause`), and robots.txt may
 * forbid it. `elapsedMs` of the answer is that of all requests, without the pauses. Throws what the guarded client
 * throws.
 */
export async function fetchWithinOrigin(
  client: Pick<GuardedClient, 'fetch'>,
  request: ProbeRequest,
  { timeoutMs, signal, isAllowed, pause }: FetchWithinOriginOptions,
): Promise<FetchResponse | UnfollowedRedirect> {
  const { method, headers, body } = request;
  const size = { bodyBytes: MAX_BYTES, bodyPieces: PROBED_BODY_PIECES, decodedBytes: MAX_BYTES };
  const limits = { totalMs: timeoutMs, ...size };
  let url = request.url;
  let elapsedMs = 0;
  for (let followed = 0; ; followed += 1) {
    const response = await client.fetch(url, {
      method,
      headers,
      body,
      redirect: 'manual',
      signal,
      limits,
      getWantedBytes,
    });
    const { status } = response;
    elapsedMs += response.elapsedMs;
    if (!isRedirect(status, response.headers)) return { ...response, elapsedMs };
    const next = getRedirectTarget(url, method, response);
    if (!(next instanceof URL)) return next;
    if (followed === MAX_REDIRECTS) return { cause: 'too_many_redirects', status, detail: {} };
    if (isAllowed?.(next.href) === false) {
      return { cause: ROBOTS_DISALLOWED, status, detail: { target: next.pathname.slice(0, 300) } };
    }
    url = next;
    await pause?.();
  }
}

function getRedirectTarget(url: URL, method: string, { status, headers }: FetchResponse): URL | UnfollowedRedirect {
  const target = URL.parse(headers.get('location') ?? '', url);
  if (!target) return { cause: 'bad_redirect', status, detail: {} };
  const detail = { target: target.origin.slice(0, 300) };
  if (target.origin !== url.origin) return { cause: 'redirected_elsewhere', status, detail };
  const isMethodKept = method === 'GET' || method === 'HEAD' || status === 307 || status === 308;
  if (!isMethodKept) return { cause: 'redirect_changes_method', status, detail };
  return target;
}
