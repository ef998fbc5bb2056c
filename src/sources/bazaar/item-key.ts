import { getItemHash } from '../feed.ts';
import { getTemplatePath } from '../outside-address.ts';
import { findMethod, findResource } from './item-fields.ts';
import { findFeedTool } from './mcp-tool.ts';

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
  // An address with http and without a port of its own is taken with https (`parseResourceUrl`).
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
