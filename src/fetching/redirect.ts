import { type OutsideUrlOptions, parseOutsideUrl, type Refusal } from './address.ts';
import type { OutgoingRequest } from './request.ts';

/** The statuses that send on to `Location` (RFC 9110 section 15.4); 300, 304 and 305 do not. */
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);

/**
 * Headers that a redirect hands on. A list of what may go, not of what may not: whoever answers a redirect chooses who
 * reads the next request, and credentials have many names (Authorization, Cookie, X-Payment, X-Api-Key …).
 */
const HANDED_ON = ['accept', 'accept-encoding', 'accept-language', 'user-agent'];
const HANDED_ON_WITH_BODY = [...HANDED_ON, 'content-type', 'content-language'];

/** Tells whether an answer sends on to another address. */
export function isRedirect(status: number, headers: Headers): boolean {
  return REDIRECT_STATUSES.has(status) && headers.has('location');
}

/**
 * Builds the request that a redirect asks for, its target checked like any outside address, or says why it may not be
 * made. Methods as browsers do it (RFC 9110 sections 15.4.2 to 15.4.9): 303 becomes GET unless it was HEAD, 301 and 302
 * turn POST into GET, 307 and 308 change nothing.
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
    headers: getHeadersHandedOn(request.headers, body === undefined ? HANDED_ON : HANDED_ON_WITH_BODY),
    body,
  };
}

function getHeadersHandedOn(headers: Record<string, string>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
}
