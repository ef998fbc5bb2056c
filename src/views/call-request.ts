import type { JsonObject } from '../model/json.ts';
import type { PaidRequest } from '../model/request.ts';
import { formatRoute, getRouteUrl, type Route } from '../model/route.ts';

/** Methods whose requests carry no body (fetch refuses one on GET and HEAD). */
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Header names as HTTP allows them, less those that carry a payment or a secret or belong to the connection. */
const HEADER_NAME = /^[a-z0-9][a-z0-9!#$%&'*+.^_|~-]*$/i;
const WITHHELD_HEADER = /^(host|connection|content-length|transfer-encoding|cookie|.*authorization|.*payment.*)$/i;

/** A segment to fill in, as feeds write it (`/:id`) and as OpenAPI does (`{id}`). */
const TEMPLATE = /(?<=\/):([A-Za-z_][\w-]*)|\{([A-Za-z_][\w-]*)\}/g;

/** Everything that is not plain in an address, in a shell or in a string; braces are kept for placeholders alone. */
const UNSAFE_IN_URL = /[^\x21-\x7e]|["'<>\\^`{|}]/gu;

/** One request to a route, as the catalogue would make it: every part is the provider's and hostile until quoted. */
export interface CallRequest {
  /** The route as commands and pages name it, or the base address where no route is itemised. */
  readonly route: string;
  readonly method: string;
  /** Printable ASCII without quotes; templates are in it as `{name}`. */
  readonly url: string;
  /** Names of the `{name}` placeholders that the caller fills in. */
  readonly placeholders: readonly string[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON text to send, or null for no body. */
  readonly body: string | null;
}

/** Builds the example request of a route; without a route, a plain GET of the base address. */
export function buildCallRequest(baseUrl: string, route: Route | undefined): CallRequest {
  if (!route) {
    const url = encodeUnsafe(baseUrl);
    return { route: `GET ${url}`, method: 'GET', url, placeholders: [], headers: [], body: null };
  }
  const proven = route.proof?.request;
  if (proven) return buildProvenRequest(route, proven);
  const { url, placeholders } = fillUrl(getRouteUrl(baseUrl, route.path), route.example?.query ?? {});
  const body = BODILESS.has(route.method) ? undefined : route.example?.body;
  return {
    route: formatRoute(route),
    method: route.method,
    url,
    placeholders,
    headers: listHeaders(route.example?.headers ?? {}, body !== undefined),
    body: body === undefined ? null : formatJson(body),
  };
}

/** The very request that was paid for and answered: better than any example. */
function buildProvenRequest(route: Route, { method, url, headers, body }: PaidRequest): CallRequest {
  const { accept: _accept, ...given } = headers;
  return {
    route: formatRoute(route),
    method,
    url: encodeUnsafe(url),
    placeholders: [],
    headers: listHeaders(given, body !== null),
    body: body === null ? null : formatText(body),
  };
}

function formatText(body: string): string {
  try {
    return formatJson(JSON.parse(body));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return formatJson(body).slice(1, -1);
  }
}

/**
 * Writes JSON for a place that people read and copy: characters that are invisible or that turn the direction of text are
 * escaped, so that what is seen is what is sent.
 */
export function formatJson(value: JsonObject[string] | string): string {
  return JSON.stringify(value, null, 2).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()].map((at) => escapeUnit(character, at)).join(''),
  );
}

function escapeUnit(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;
}

function fillUrl(address: string, query: Record<string, string>): { url: string; placeholders: string[] } {
  const placeholders: string[] = [];
  let url = '';
  let rest = 0;
  for (const match of address.matchAll(TEMPLATE)) {
    const name = match[1] ?? match[2] ?? '';
    placeholders.push(name);
    url += `${encodeUnsafe(address.slice(rest, match.index))}{${name}}`;
    rest = match.index + match[0].length;
  }
  url += encodeUnsafe(address.slice(rest));
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
  );
  const search = encodeUnsafe(pairs.join('&'));
  const separator = search === '' ? '' : url.includes('?') ? '&' : '?';
  return { url: `${url}${separator}${search}`, placeholders: [...new Set(placeholders)] };
}

function encodeUnsafe(text: string): string {
  return text
    .toWellFormed()
    .replace(UNSAFE_IN_URL, (character) => (character === "'" ? '%27' : encodeURIComponent(character)));
}

function listHeaders(given: Record<string, string>, hasBody: boolean): [string, string][] {
  const headers = Object.entries(given).filter(
    ([name, value]) => HEADER_NAME.test(name) && !WITHHELD_HEADER.test(name) && /^[\x20-\x7e]+$/.test(value),
  );
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return hasBody && !isTyped ? [['content-type', 'application/json'], ...headers] : headers;
}
