import { createHash } from 'node:crypto';
import { isObject } from '../json-value.ts';
import { getTemplatePath } from '../outside-address.ts';
import { findMethod, findResource } from './item-fields.ts';
import { findFeedTool } from './mcp-tool.ts';

/** Nesting at which a raw item is cut, so that no code that walks it overflows its stack. */
const MAX_DEPTH = 200;

const MAX_ADDRESS_LENGTH = 2048;

/**
 * Returns the key of a raw item within its feed: method and address of the resource (`GET https://a.example/v1/x`), or
 * a hash of the item if it has no address. The key of an MCP tool ends with its name. Items with the same key are one
 * route. Never throws.
 */
export function getFeedItemKey(raw: unknown): string {
  const resource = findResource(raw);
  const url = resource !== undefined && resource.length <= MAX_ADDRESS_LENGTH ? URL.parse(resource) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return `sha256:${getItemHash(raw)}`;
  // Without a port of its own, an address with http is taken with https (`parseResourceUrl`).
  if (url.protocol === 'http:' && url.port === '') url.protocol = 'https:';
  // A dot at the end names the same host (`parseOutsideUrl` removes it as well).
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const tool = findFeedTool(raw);
  return tool ? `${getRouteKey('POST', url)}#${tool.name}` : getRouteKey(findMethod(raw) ?? 'GET', url);
}

/** Returns the key of a route: its method and address. */
function getRouteKey(method: string, url: URL): string {
  return `${method.slice(0, 20)} ${url.origin}${getTemplatePath(url)}`;
}

/** Returns the SHA-256 of a raw item in hexadecimal, the same for any order of its keys. Never throws. */
export function getItemHash(raw: unknown): string {
  return createHash('sha256')
    .update(formatRawItem(sortKeys(raw, 0)))
    .digest('hex');
}

/**
 * Writes a raw item as JSON text for the record. Values nested deeper than 200 levels are replaced by a note. Never
 * throws.
 */
export function formatRawItem(raw: unknown): string {
  return JSON.stringify(cutDepth(raw, 0)) ?? 'null';
}

function cutDepth(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '(nested too deeply)';
  if (Array.isArray(value)) return value.map((item) => cutDepth(item, depth + 1));
  return buildPlain(Object.entries(value).map(([key, member]) => [key, cutDepth(member, depth + 1)]));
}

function sortKeys(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => sortKeys(item, depth + 1));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [key, sortKeys(member, depth + 1)]);
  return buildPlain(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Builds an object in which even a key such as `__proto__` is plain data, as `JSON.parse` does. */
function buildPlain(entries: [string, unknown][]): Record<string, unknown> {
  return Object.fromEntries(entries);
}
