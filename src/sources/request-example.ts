import { isObject, type JsonObject } from '../model/json.ts';
import { findPlaceholderSchema, isBodiless, type RequestExample } from '../model/request.ts';
import { cleanString, formatQuote } from './clean-string.ts';
import type { Note } from './findings.ts';
import { cleanJson } from './json-value.ts';

/** Headers that carry a secret or a payment. They are never shown and never sent. */
const SECRET_HEADER =
  /authorization|cookie|payment|api-?key|access-?key|token|secret|passw|signature|credential|session|-auth$|^auth/i;

/** Headers that control the connection or identify the client. Only the sender of a request may set them. */
const CONNECTION_HEADER =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|forwarded|via|origin|referer|proxy-.*|x-forwarded-.*|x-real-ip|sec-.*)$/i;

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,80}$/i;
const HEADER_VALUE = /^[\x20-\x7e]*$/;
const SECRET_VALUE = /^(?:bearer|basic|digest|l402|x402)\s/i;

const MAX_PARAMETERS = 50;
const MAX_VALUE_LENGTH = 500;

/**
 * Builds an example request from what a source gives, or null if nothing usable is left. Query values become text, and
 * placeholders are left out. Headers that HTTP does not allow, or that carry secrets or payments, are removed and
 * noted, and so is a body that the method cannot send.
 */
export function buildRequestExample(
  given: { query?: unknown; headers?: unknown; body?: unknown },
  method: string,
  note: Note,
): RequestExample | null {
  const query = readQuery(given.query);
  const headers = readHeaders(given.headers, note);
  const body = readBody(given.body, method, note);
  const example: RequestExample = {
    ...(Object.keys(query).length > 0 && { query }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && { body }),
  };
  return Object.keys(example).length > 0 ? example : null;
}

function readQuery(raw: unknown): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of listEntries(raw)) {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue;
    const text = cleanString(String(value).slice(0, MAX_VALUE_LENGTH + 1));
    if (text.length <= MAX_VALUE_LENGTH && !findPlaceholderSchema(text, name)) query[cleanString(name)] = text;
  }
  return query;
}

function readHeaders(raw: unknown, note: Note): Record<string, string> {
  const headers: Record<string, string> = {};
  const given = isObject(raw) ? Object.entries(raw).filter(([name]) => name !== '__proto__') : [];
  for (const [name, value] of given.slice(0, MAX_PARAMETERS)) {
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : (value ?? undefined);
    if (text === undefined || findPlaceholderSchema(text, name)) continue;
    const fault = findHeaderFault(name, text);
    if (fault !== undefined) {
      note('header_left_out', `The example’s header "${formatQuote(name)}" was left out: its ${fault}.`);
    } else if (SECRET_HEADER.test(name) || CONNECTION_HEADER.test(name) || SECRET_VALUE.test(String(text))) {
      note('header_removed', `The example's header ${name.toLowerCase()} was removed.`);
    } else headers[name.toLowerCase()] = cleanString(String(text));
  }
  const more = given.length - MAX_PARAMETERS;
  if (more > 0) note('header_left_out', `${more} headers of the example were left out: it may have ${MAX_PARAMETERS}.`);
  return headers;
}

/** Finds why a header cannot be sent (RFC 9110 section 5). Values are never quoted, because they may be secrets. */
function findHeaderFault(name: string, value: unknown): string | undefined {
  if (!HEADER_NAME.test(name)) return 'name is not one that HTTP allows';
  if (typeof value !== 'string') return 'value is not text';
  if (value.length > MAX_VALUE_LENGTH) return `value is longer than ${MAX_VALUE_LENGTH} characters`;
  return HEADER_VALUE.test(value) ? undefined : 'value holds a line end, or is not plain ASCII';
}

function readBody(raw: unknown, method: string, note: Note): RequestExample['body'] {
  if (raw === undefined || raw === null) return undefined;
  if (isBodiless(method)) {
    note('body_ignored');
    return undefined;
  }
  const body = cleanJson(raw);
  if (body === undefined) note('example_too_large');
  return body === undefined ? undefined : omitPlaceholders(body);
}

/** Returns an example body without the members that are placeholders or hold some; undefined if nothing is left. */
function omitPlaceholders(body: unknown): unknown {
  if (!isObject(body)) return hasPlaceholder(body, '') ? undefined : body;
  const kept = Object.entries(body).filter(([name, value]) => !hasPlaceholder(value, name));
  return kept.length === 0 && Object.keys(body).length > 0 ? undefined : Object.fromEntries(kept);
}

function hasPlaceholder(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return value.some((item) => hasPlaceholder(item, name));
  if (isObject(value)) return Object.entries(value).some(([field, inner]) => hasPlaceholder(inner, field));
  return findPlaceholderSchema(value, name) !== undefined;
}

/**
 * Builds the JSON Schema of an example of which an example request leaves fields out, because their values are
 * placeholders. These are required: the example has them. Undefined if there are none.
 */
export function describePlaceholders(example: JsonObject): JsonObject | undefined {
  const fields = Object.entries(example);
  const left = fields.filter(([name, value]) => hasPlaceholder(value, name));
  if (left.length === 0) return undefined;
  const { properties, ...rest } = describeAll(left);
  const given = Object.fromEntries(fields.map(([name, value]) => [name, { examples: [value] }]));
  return { ...rest, properties: { ...given, ...(isObject(properties) && properties) } };
}

function describeAll(fields: readonly [string, unknown][]): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, value]) => [name, describeValue(value, name)])),
    required: fields.map(([name]) => name),
  };
}

/** Describes a value by its placeholders; the other values in it become examples. */
function describeValue(value: unknown, name: string): unknown {
  if (isObject(value)) return describeAll(Object.entries(value));
  if (!Array.isArray(value)) return findPlaceholderSchema(value, name) ?? { examples: [value] };
  const [first] = value;
  return { type: 'array', ...(first !== undefined && { items: describeValue(first, name) }) };
}

function listEntries(raw: unknown): [string, unknown][] {
  if (!isObject(raw)) return [];
  return Object.entries(raw)
    .filter(([name]) => name !== '__proto__' && name.length <= 200)
    .slice(0, MAX_PARAMETERS);
}
