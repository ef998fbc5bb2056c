import { type OutsideUrlOptions, parseOutsideUrl, type Refusal } from './address.ts';
import { buildFetchFailure } from './failure.ts';
import type { PerFetchLimits } from './limits.ts';

/** Options of one fetch. */
export interface FetchInit {
  /** Default: `GET`. */
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
  /**
   * Handling of a redirect: follow it (`follow`, the default), or return it as the answer (`manual`). A request with a
   * payment never follows redirects: they are returned.
   */
  redirect?: 'follow' | 'manual' | undefined;
  signal?: AbortSignal | undefined;
  /** True if the body carries a payment: handled as a request whose headers do. */
  isPaying?: boolean | undefined;
  /** True to return the beginning of a body that is longer than the limits, and not to throw `too_large`. */
  isCutAllowed?: boolean | undefined;
  /**
   * Returns the number of bytes of the body that are wanted, by the status of the answer. Default: all. Further bytes
   * count towards the limits and are dropped. An encoded body that is longer than that is `too_large`.
   */
  getWantedBytes?: ((status: number) => number) | undefined;
  limits?: Partial<PerFetchLimits> | undefined;
}

/** One request as it is sent. Header names are in lower case. */
export interface OutgoingRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
  isPaying?: boolean | undefined;
}

/** Content codings that the body reader can undo. */
const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd';

/** Headers that carry a signed payment: x402 version 1 and version 2. */
const PAYMENT_HEADERS = ['x-payment', 'payment-signature'];

/** Headers that control the connection or name another host. Only the client sets them (RFC 9110 sections 7.2, 7.6.1). */
const CONNECTION_HEADERS = new Set([
  ...['host', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'content-length'],
]);

/** A method is a token (RFC 9110 section 9.1). CONNECT and TRACE are for proxies: they open tunnels or echo requests. */
const METHOD = /^(?!CONNECT$|TRACE$)[A-Z][A-Z0-9!#$%&'*+.^_`|~-]{0,31}$/;

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,256}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Builds the first request of a fetch, with default headers that the caller can replace. Throws `bad_request` for a
 * method or header that may not be sent. Values are never quoted, because they may be secrets.
 */
export function buildRequest(url: URL, init: FetchInit, userAgent: string): OutgoingRequest {
  const method = (init.method ?? 'GET').toUpperCase();
  if (!METHOD.test(method)) throw buildFetchFailure('bad_request', 'The request has a method that may not be sent.');
  const headers: Record<string, string> = {
    accept: '*/*',
    'accept-encoding': ACCEPTED_CODINGS,
    'user-agent': userAgent,
  };
  for (const [name, value] of Object.entries(init.headers ?? {})) headers[name.toLowerCase()] = value;
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || CONNECTION_HEADERS.has(name) || !HEADER_VALUE.test(value)) {
      throw buildFetchFailure('bad_request', 'The request has a header that may not be sent.', {
        details: { header: name },
      });
    }
  }
  return { url, method, headers, body: init.body ?? undefined, ...(init.isPaying && { isPaying: true }) };
}

/** Returns whether a request carries a signed payment, which may only be sent to the address it was made for. */
export function isPaying(request: OutgoingRequest): boolean {
  return request.isPaying === true || PAYMENT_HEADERS.some((name) => name in request.headers);
}

/** The statuses that redirect to `Location` (RFC 9110 section 15.4); 300, 304 and 305 do not. */
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/**
 * The only headers that are sent on after a redirect. The redirecting host chooses who receives the next request, and
 * credentials have too many names to list (Authorization, Cookie, X-Payment, X-Api-Key …).
 */
const KEPT_HEADERS = ['accept', 'accept-encoding', 'accept-language', 'user-agent'];
const KEPT_HEADERS_WITH_BODY = [...KEPT_HEADERS, 'content-type', 'content-language'];

/** Returns whether an answer redirects to another address. */
export function isRedirect(status: number, headers: Headers): boolean {
  return REDIRECT_STATUSES.has(status) && headers.has('location');
}

/**
 * Builds the request that a redirect asks for, or returns why it may not be made. The target is checked like any
 * outside address. Methods change as in browsers (RFC 9110 sections 15.4.2 to 15.4.9): 303 becomes GET unless it was
 * HEAD, 301 and 302 turn POST into GET, 307 and 308 change nothing.
 */
export function buildRedirect(
  request: OutgoingRequest,
  status: number,
  location: string,
  options: OutsideUrlOptions,
): OutgoingRequest | Refusal {
  const target = URL.parse(location, request.url);
  if (!target) return { reason: 'bad_url', message: `The host ${request.url.hostname} redirects to no valid address.` };
  const url = parseOutsideUrl(target.href, options);
  if (!(url instanceof URL)) {
    return { ...url, message: `The host ${request.url.hostname} redirects to a refused address. ${url.message}` };
  }
  const becomesGet =
    (status === 303 && request.method !== 'HEAD') || ((status === 301 || status === 302) && request.method === 'POST');
  const body = becomesGet ? undefined : request.body;
  return {
    url,
    method: becomesGet ? 'GET' : request.method,
    headers: getKeptHeaders(request.headers, body === undefined ? KEPT_HEADERS : KEPT_HEADERS_WITH_BODY),
    body,
  };
}

function getKeptHeaders(headers: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}
