import { isObject } from '../json-value.ts';
import { parseResourceUrl } from '../outside-address.ts';

/** The address of a document, and the base address that the user asked for. */
export interface DocumentPlace {
  /** Address of the document; null for a file. */
  url: string | null;
  /** Base address that the user asked for; null to use those of the document. */
  base_url: string | null;
  allowPrivateNetworks: boolean;
}

/** Most servers of one list that are looked at. */
const MAX_SERVERS = 20;

/**
 * Finds the base address of an operation among the servers of the innermost list that has some: the one that the user
 * asked for, else the first that can be listed (many documents begin with a local one), else the first. Variables are at
 * their defaults, and addresses relative to the document (OpenAPI 3.1, "Server Object"). Without servers it is the
 * address that the user asked for, else the document's origin; undefined without these. A stand-in (`isStandIn`) gives
 * way to that host, and so does any server that cannot be listed if the user asked for an address: `isReplaced`.
 */
export function findServerUrl(
  lists: readonly unknown[],
  place: DocumentPlace,
): { server: string; isReplaced: boolean } | undefined {
  const servers = lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0) ?? [];
  const addresses = servers.slice(0, MAX_SERVERS).flatMap((server) => readServer(server, place) ?? []);
  const { url, base_url } = place;
  const real = addresses.filter((address) => !isStandIn(address, place));
  const wanted = base_url === null ? undefined : addresses.find((address) => isSameBase(address, base_url));
  const found =
    wanted ?? real.find((address) => isListable(address, place)) ?? (base_url === null ? real[0] : undefined);
  if (found !== undefined) return { server: found, isReplaced: false };
  const own = base_url ?? (url === null ? undefined : new URL(url).origin);
  return own === undefined ? undefined : { server: moveToHost(addresses[0], own), isReplaced: addresses.length > 0 };
}

/** Hosts that a document's template or generator wrote: names of examples (RFC 2606), and those that a reader fills in. */
const TEMPLATE_HOST = /(?:^|\.)example\.(?:com|net|org)$|^(?:[\w-]+\.)*your[_-]?(?:api|app|domain|host|server|site)\b/i;

/** Hosts of the machine itself. */
const LOOPBACK_HOST = /^(?:127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|(?:.+\.)?localhost)$/i;

/** Returns whether an address stands for one that its author did not write: the machine itself, or a template's host. */
function isStandIn(address: string, { allowPrivateNetworks }: DocumentPlace): boolean {
  const hostname = URL.parse(address)?.hostname ?? '';
  return TEMPLATE_HOST.test(hostname) || (LOOPBACK_HOST.test(hostname) && !allowPrivateNetworks);
}

/** Returns a base address, with the path of a stand-in if it has none of its own. */
function moveToHost(standIn: string | undefined, own: string): string {
  const path = (standIn === undefined ? null : URL.parse(standIn))?.pathname ?? '/';
  const isBare = new URL(own).pathname === '/';
  return isBare && path !== '/' && !/%7B/i.test(path) ? `${new URL(own).origin}${path}` : own;
}

/** Returns whether one of two base addresses is the other, or below it. */
function isSameBase(address: string, baseUrl: string): boolean {
  const [a, b] = [address, baseUrl].map((text) => `${text.replace(/\/+$/, '')}/`);
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

function isListable(address: string, options: DocumentPlace): boolean {
  return !/\{[^{}]*\}/.test(address) && parseResourceUrl(address, options, () => undefined) instanceof URL;
}

function readServer(server: unknown, { url, base_url }: DocumentPlace): string | undefined {
  if (!isObject(server) || typeof server.url !== 'string') return undefined;
  const address = fillVariables(server.url.trim(), server.variables);
  if (/^[a-z][a-z0-9+.-]*:/i.test(address)) return address;
  return URL.parse(address, url ?? base_url ?? undefined)?.href;
}

function fillVariables(address: string, variables: unknown): string {
  if (!isObject(variables)) return address;
  return address.replace(/\{([^{}]{1,80})\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isObject(variable) ? variable.default : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
  });
}

/** Returns a base address in its canonical form: without query, fragment and slash at the end. */
export function getBaseAddress(url: URL): string {
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
