import { type CallInput, fillCallInput } from '../../evidence/call-input.ts';
import type { Replaceable } from '../../evidence/made-value.ts';
import { formatJson } from '../../model/json-text.ts';
import { buildToolCall, type PaidRequest } from '../../model/request.ts';
import { formatRoute, getRouteUrl, getToolName, isToolPath, type Route } from '../../model/route.ts';

/** Header names as HTTP allows them, less those that carry a payment or a secret or belong to the connection. */
const HEADER_NAME = /^[a-z0-9][a-z0-9!#$%&'*+.^_|~-]*$/i;
const WITHHELD_HEADER = /^(host|connection|content-length|transfer-encoding|cookie|.*authorization|.*payment.*)$/i;

/** Matches a part to fill in, as feeds write it (`/:id`, `?of=:id`) or as OpenAPI and gateways do (`{id}`, `{path+}`). */
const TEMPLATE = /(?<=[/=]):([A-Za-z_][\w-]*)|\{([A-Za-z_][\w-]*)[+*]?\}/g;

/** Characters with a special meaning in an address, a shell or a string. Angle brackets are allowed for placeholders alone. */
const UNSAFE_IN_URL = /[^\x21-\x7e]|["'<>\\^`{|}]/gu;

/** One request to a route, as the catalogue would make it. Each part is the provider's, and hostile until quoted. */
export interface CallRequest {
  /** The route as commands and pages name it; the base URL if the listing has no routes. */
  readonly route: string;
  /** The name of the tool, for the call of a tool. */
  readonly tool?: string;
  readonly method: string;
  /** Printable ASCII without quotes; parts that the caller fills in are written as `<name>`. */
  readonly url: string;
  /** The parts that the caller replaces first. */
  readonly replace: readonly Replaceable[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: CallBody | null;
}

/** The body that is sent: JSON over several lines, or text of another media type as it is. */
export interface CallBody {
  readonly text: string;
  readonly isJson: boolean;
}

/** Builds a plain GET of a base address. */
export function buildBareRequest(baseUrl: string): CallRequest {
  const url = encodeUnsafe(baseUrl);
  return { route: `GET ${url}`, method: 'GET', url, replace: [], headers: [], body: null };
}

/** Builds the request of a route: the call of its tool, else the request that was paid for, else one from declarations. */
export function buildCallRequest(baseUrl: string, route: Route, input = fillCallInput(route)): CallRequest {
  if (isToolPath(route.path)) return buildToolRequest(baseUrl, route, input);
  const proven = route.proof?.request;
  return proven ? buildProvenRequest(route, proven) : buildDeclaredRequest(baseUrl, route, input);
}

/** Builds the call of a tool: the message that an MCP client sends, with the arguments that were paid for or fit its schema. */
function buildToolRequest(baseUrl: string, route: Route, input: CallInput): CallRequest {
  const tool = getToolName(route.path);
  const paid = route.proof?.request?.body;
  const message = formatJson(JSON.parse(buildToolCall(tool, input.body)), 2);
  return {
    route: formatRoute(route),
    tool,
    method: 'POST',
    url: encodeUnsafe(getRouteUrl(baseUrl, route.path.split('#')[0] ?? '')),
    replace: paid ? [] : input.replace,
    headers: [
      ['accept', 'application/json, text/event-stream'],
      ['content-type', 'application/json'],
    ],
    body: paid ? readPaidBody(paid) : { text: message, isJson: true },
  };
}

/** Builds the exact request that was paid for and answered, which is better than any example. */
function buildProvenRequest(route: Route, { method, url, headers, body }: PaidRequest): CallRequest {
  const { accept: _accept, ...given } = headers;
  return {
    route: formatRoute(route),
    method,
    url: encodeUnsafe(url),
    replace: [],
    headers: listHeaders(given, body !== null),
    body: body === null ? null : readPaidBody(body),
  };
}

function buildDeclaredRequest(baseUrl: string, route: Route, input: CallInput): CallRequest {
  const { url, placeholders } = fillPath(getRouteUrl(baseUrl, route.path), input.path);
  const search = buildSearch(input);
  const separator = search === '' ? '' : url.includes('?') ? '&' : '?';
  const headers = listHeaders(input.headers, input.body !== undefined);
  return {
    route: formatRoute(route),
    method: route.method,
    url: `${url}${separator}${search}`,
    replace: [...placeholders.map((name) => ({ name, shown: `<${name}>` })), ...input.replace],
    headers,
    body: input.body === undefined ? null : buildBody(input.body, headers),
  };
}

/** Fills the templates of an address with the values known by name; the others become placeholders, named once each. */
function fillPath(address: string, values: CallInput['path']): { url: string; placeholders: string[] } {
  const placeholders = new Set<string>();
  let url = '';
  let rest = 0;
  for (const match of address.matchAll(TEMPLATE)) {
    const name = match[1] ?? match[2] ?? '';
    const known = Object.hasOwn(values, name) ? values[name] : undefined;
    if (known === undefined) placeholders.add(name);
    const filled = known === undefined ? `<${name}>` : encodeUnsafe(encodeURIComponent(known.toWellFormed()));
    url += `${encodeUnsafe(address.slice(rest, match.index))}${filled}`;
    rest = match.index + match[0].length;
  }
  return { url: `${url}${encodeUnsafe(address.slice(rest))}`, placeholders: [...placeholders] };
}

/** Writes the query. Placeholders are not percent-encoded, so that they are easier to find. */
function buildSearch({ query, replace }: CallInput): string {
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
  );
  return replace.reduce(
    (text, { name }) => text.replaceAll(`=%3C${name}%3E`, `=<${name}>`),
    encodeUnsafe(pairs.join('&')),
  );
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

/** Builds a body. A text is sent unchanged, unless the request says that it sends JSON. */
function buildBody(body: unknown, headers: CallRequest['headers']): CallBody {
  const [, type = ''] = headers.find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  const isJson = typeof body !== 'string' || /json/i.test(type);
  return { text: isJson ? formatJson(body, 2) : body, isJson };
}

function readPaidBody(body: string): CallBody {
  try {
    return { text: formatJson(JSON.parse(body), 2), isJson: true };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { text: body, isJson: false };
  }
}
