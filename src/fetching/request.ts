import { buildFetchFailure } from './failure.ts';
import type { PerFetchLimits } from './limits.ts';

/** How one fetch is to be made. */
export interface FetchInit {
  /** `GET` unless said otherwise. */
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
  /**
   * What to do with a redirect: go on (`follow`, the default), give it back as the answer (`manual`), or throw
   * `redirected` (`error`). A request that carries a payment never goes on: its redirect is given back.
   */
  redirect?: 'follow' | 'manual' | 'error' | undefined;
  signal?: AbortSignal | undefined;
  /** Give the beginning of a body that is longer than `bodyBytes` and not encoded, rather than throw `too_large`. */
  isCutAllowed?: boolean | undefined;
  limits?: Partial<PerFetchLimits> | undefined;
}

/** One request as it goes on the wire. Header names are in lower case. */
export interface OutgoingRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** Content codings that the body reader can undo. */
const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd';

/** Headers that carry a signed payment: x402 version 1 and version 2. */
const PAYMENT_HEADERS = ['x-payment', 'payment-signature'];

/** Headers that steer the connection or name another host: set by the client alone (RFC 9110 sections 7.2, 7.6.1). */
const CONNECTION_HEADERS = new Set([
  ...['host', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'content-length'],
]);

/** A method is a token (RFC 9110 section 9.1); CONNECT and TRACE are for proxies and would open tunnels or echo. */
const METHOD = /^(?!CONNECT$|TRACE$)[A-Z][A-Z0-9!#$%&'*+.^_`|~-]{0,31}$/;

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,256}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Builds the first request of a fetch, with what every request carries unless the caller says otherwise. Throws
 * `bad_request` for a method or header that may not be sent; no value is quoted, since values may be secrets.
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
  return { url, method, headers, body: init.body ?? undefined };
}

/** Tells whether a request carries a signed payment, which must reach the one address it was made for and no other. */
export function isPaying(request: OutgoingRequest): boolean {
  return PAYMENT_HEADERS.some((name) => name in request.headers);
}
