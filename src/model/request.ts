import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isObject, type JsonObject } from './json.ts';

export const httpMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** Returns true if requests of a method have no body (fetch refuses one on GET and HEAD). */
export function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** Returns whether the fields of a request go into its body, unless its description says where. */
export function isWithBody(method: string): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

/** Matches `{id}` anywhere, and `:id` as a whole segment or a whole query value. */
export const PATH_TEMPLATE = /\{([^{}/?&]{1,80})\}|(?<=[/=]):([A-Za-z_]\w{0,79})(?=[/?&]|$)/g;

/** Returns the name of a template without the marks of RFC 6570 and of frameworks: `id` of `+id`, `id*`, `id:[0-9]+`. */
export function getTemplateName(template: string): string {
  return template.replace(/^[+*]|[*+?]$|:.*$/g, '');
}

/** Says whether a path, or a part of it that begins with `/`, holds a template. */
export function isTemplate(path: string): boolean {
  return path.search(PATH_TEMPLATE) >= 0;
}

/** Matches a text in place of a value: `{chain}`, `<token>`, `:id`, `0x12...`, `…`. */
const PLACEHOLDER =
  /^(?:\{[^{}]*\}|<[^<>]*>|:[a-z_]\w*|\.{2,}|\S*(?:\.{3}|…)\S*)$|0x[0-9a-f]*(?:\.{3}|…)|, ?(?:\.{3}|…)(?!\S*$)/i;

/** Names of types that appear in place of a value, each with its type in JSON Schema. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'string',
  str: 'string',
  integer: 'integer',
  int: 'integer',
  number: 'number',
  float: 'number',
  double: 'number',
  boolean: 'boolean',
  bool: 'boolean',
  object: 'object',
  array: 'array',
};

/** Longest placeholder, in UTF-16 units. */
const PLACEHOLDER_LENGTH = 500;

/** Names of fields whose values are names of types. */
const TYPED_FIELD = /type|format|kind|schema/i;

/**
 * Returns the JSON Schema of a field whose value is only a placeholder: the name of a type, a template, or a text cut short by
 * dots. Undefined for a value that can be sent.
 */
export function findPlaceholderSchema(value: unknown, name: string): JsonObject | undefined {
  if (typeof value !== 'string' || value.length > PLACEHOLDER_LENGTH) return undefined;
  const [, word = '', list] = /^\s*([a-z]+)(\[\])?\??\s*$/i.exec(value) ?? [];
  const type = TYPED_FIELD.test(name) ? undefined : TYPE_WORDS[word.toLowerCase()];
  if (type !== undefined) return list === undefined ? { type } : { type: 'array', items: { type } };
  return PLACEHOLDER.test(value.trim()) ? { type: 'string' } : undefined;
}

/** A request that the source gives as an example: query parameters, headers (never payment or secrets) and JSON body. */
export const requestExample = z.object({
  query: z.record(z.string(), z.string()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
});
export type RequestExample = z.infer<typeof requestExample>;

/** Builds the JSON-RPC message that calls a tool (MCP, "Calling Tools"). */
export function buildToolCall(name: string, args: unknown): string {
  const params = { name, arguments: isObject(args) ? args : {} };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

/** The request of a paid call, without its payment and secrets. Hash: SHA-256, hex. */
export const paidRequest = z.object({
  method: httpMethod,
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string().nullable(),
  hash: z.string().describe('SHA-256 of method, address and body, each followed by a line feed, in hexadecimal'),
  values_withheld: z
    .literal(true)
    .optional()
    .describe(
      'There where types stand in place of the values, which are on no public record; the hash is of what is shown',
    ),
});
export type PaidRequest = z.infer<typeof paidRequest>;

/** Returns the hash of a request: SHA-256 of method, address and body, each followed by a line feed, in hexadecimal. */
export function getRequestHash({ method, url, body }: Pick<PaidRequest, 'method' | 'url' | 'body'>): string {
  return createHash('sha256')
    .update(`${method}\n${url}\n${body ?? ''}\n`)
    .digest('hex');
}

/** The public record of a route, which decides which parts of a request to it are shown. */
interface RouteRecord {
  readonly path: string;
  readonly input_schema: JsonObject | null;
  readonly example: RequestExample | null;
}

/** Values that the program itself chooses: those in every call of a tool, and in some headers. */
const TOOL_VALUES = ['2.0', '1', 'tools/call'];
const OWN_HEADERS = new Set(['accept', 'content-type']);

/**
 * Returns true if the public record of a route has every value of a request. A request with an operator's own values fails this.
 */
export function isPublicRequest(
  { url, headers, body }: PaidRequest,
  base_url: string,
  { path, example, input_schema }: RouteRecord,
): boolean {
  const known = [...`${base_url}/${path}`.split(/[/?#&=]/), ...TOOL_VALUES, ...listValues([example, input_schema])];
  const shown = new Set(known.flatMap((value) => [value, encodeURIComponent(value.toWellFormed())]));
  const { pathname, searchParams } = new URL(url);
  const given = Object.entries(headers).flatMap(([name, value]) => (OWN_HEADERS.has(name) ? [] : value));
  const values = [...pathname.split('/'), ...searchParams.values(), ...given, ...listValues(parseBody(body))];
  return values.every((value) => shown.has(value));
}

/**
 * Builds the shown form of a request with values that are on no public record: names with types in place of values, and the given
 * path.
 */
export function withholdValues({ method, url, headers, body }: PaidRequest, path: string): PaidRequest {
  const { origin, pathname, searchParams } = new URL(url);
  const segments = pathname.split('/');
  const templates = (path.split(/[?#]/, 1)[0] ?? '').split('/');
  const address = segments.map((segment, at) =>
    isTemplate(`/${templates[at - segments.length + templates.length] ?? ''}`) ? '{string}' : segment,
  );
  const query = [...searchParams.keys()].map((name) => `${encodeURIComponent(name)}={string}`).join('&');
  const request = {
    method,
    url: `${origin}${address.join('/')}${query && `?${query}`}`,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, OWN_HEADERS.has(name) ? value : '{string}']),
    ),
    body: body && replaceValues(parseBody(body), (value) => `{${typeof value}}`),
  };
  return { ...request, hash: getRequestHash(request), values_withheld: true };
}

/** Parses a body as JSON; returns it as text if it is not JSON. */
function parseBody(body: string | null): unknown {
  try {
    return JSON.parse(body ?? '[]');
  } catch (error) {
    if (error instanceof SyntaxError) return body;
    throw error;
  }
}

/** Lists the values in a JSON value as texts, without names. */
function listValues(json: unknown): string[] {
  const values: string[] = [];
  replaceValues(json, (value) => values.push(String(value)));
  return values;
}

/** Writes JSON with every value replaced, except objects and lists. */
function replaceValues(json: unknown, replace: (value: unknown) => unknown): string {
  return JSON.stringify(json, (_name, value) => (typeof value === 'object' && value !== null ? value : replace(value)));
}
