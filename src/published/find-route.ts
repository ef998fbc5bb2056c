import { getPathDistance, NEAR_ROUTES } from '../evidence/path-distance.ts';
import { listMatchingRoutes } from '../evidence/route-match.ts';
import type { UnknownReason } from '../views/check.ts';
import type { Tombstone } from '../views/listing/record.ts';
import type { Published } from './file.ts';
import { findKnownListing, type KnownListing, type KnownRoute } from './known-listings.ts';
import { type ListingAddress, listListingsAt, listLiveOnOrigin } from './listings.ts';

/** A call as it was asked about: its method, if one was named, and the address without user, fragment and closing dot of the host. */
export interface AskedCall {
  readonly method: string | undefined;
  readonly url: URL;
}

/** The method of a call that names none, where not one route alone is at its address. */
export const DEFAULT_METHOD = 'GET';

/** What a call is of. */
export type FoundRoute =
  | { kind: 'route'; route: KnownRoute }
  | { kind: 'delisted'; tombstone: Tombstone }
  | { kind: 'unknown'; reason: UnknownReason; listing: string | null; nearest: KnownRoute[] };

/** Segments of an address beyond which no listing's base address is looked for. */
const MAX_SEGMENTS = 64;

/** Most listings of a host that are looked through for what a call meant, and most routes that are named. */
const NEAR_LISTINGS = 20;
const NAMED = 3;

/** Longest address that is named. */
const NAMED_LENGTH = 300;

/**
 * Finds the route that a call is of: by the listings whose base address the called one begins with. Of several routes the
 * most specific one counts, and of several listings the one that knows most of it. A call with HEAD is one of GET. One
 * without a method is of the one route that is at the address; where there are several, it is one of GET. Where no route is
 * found, gives why, and the routes of that host that were most likely meant.
 */
export function findRoute(published: Published, call: AskedCall): FoundRoute {
  const listings = listKnown(published, listListingsAt(published, listBaseAddresses(call.url)));
  const live = listings.filter(({ tombstone }) => tombstone === undefined);
  const matching = live.map(({ index }) => listMatchingRoutes(index, call.url));
  const [only, ...others] = matching.flat();
  const asked = call.method ?? (others.length === 0 && only ? only.method : DEFAULT_METHOD);
  const called = matching.flatMap((routes) => routes.find(({ method }) => isMethodOf(asked, method)) ?? []);
  const [route] = called.sort((a, b) => getKnowledge(b) - getKnowledge(a));
  if (route) return { kind: 'route', route };
  const otherMethods = matching.flat();
  const gone = listings.filter(({ tombstone }) => tombstone !== undefined);
  const delisted =
    gone.find(({ index }) => listMatchingRoutes(index, call.url).length > 0) ??
    (live.length === 0 ? gone[0] : undefined);
  if (delisted?.tombstone && otherMethods.length === 0) return { kind: 'delisted', tombstone: delisted.tombstone };
  const near = otherMethods.length > 0 ? otherMethods : listNear(published, call.url);
  return {
    kind: 'unknown',
    reason: getReason(call.url, { otherMethods, live, near }),
    listing: live[0]?.slug ?? null,
    nearest: near.filter(({ url }) => url.length <= NAMED_LENGTH).slice(0, NAMED),
  };
}

/** Lists the base addresses that a called address may begin with, the longest first. */
function listBaseAddresses({ origin, pathname }: URL): string[] {
  const segments = pathname.replace(/\/+$/, '').split('/').slice(1, MAX_SEGMENTS);
  return segments.map((_segment, index) => [origin, ...segments.slice(0, index + 1)].join('/')).concat(origin);
}

/** Lists the listings at these addresses, the longest address first. */
function listKnown(published: Published, addresses: readonly ListingAddress[]): KnownListing[] {
  return addresses
    .toSorted((a, b) => b.base_url.length - a.base_url.length)
    .flatMap((address) => findKnownListing(published, address) ?? []);
}

/** Lists routes of the called host by how near their paths are; one listed with https may have been called without. */
function listNear(published: Published, { origin, protocol, hostname, pathname }: URL): KnownRoute[] {
  const origins = protocol === 'http:' ? [origin, `https://${hostname}`] : [origin];
  const addresses = origins.flatMap((one) => listLiveOnOrigin(published, one, NEAR_LISTINGS));
  return listKnown(published, addresses)
    .flatMap(({ routes }) => routes)
    .slice(0, NEAR_ROUTES)
    .map((route) => ({ route, distance: getPathDistance(getPath(route.url), pathname) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ route }) => route);
}

function getPath(url: string): string {
  return url.slice(url.indexOf('/', 'https://'.length));
}

function isMethodOf(asked: string, method: string): boolean {
  return method === asked || (asked === 'HEAD' && method === 'GET');
}

function getKnowledge({ proofs, terms }: KnownRoute): number {
  if (proofs.length > 0) return 2;
  return terms.some(({ evidence }) => evidence === 'observed') ? 1 : 0;
}

function getReason(
  { protocol }: URL,
  found: { otherMethods: readonly KnownRoute[]; live: readonly KnownListing[]; near: readonly KnownRoute[] },
): UnknownReason {
  if (found.otherMethods.length > 0) return 'other_method';
  if (protocol === 'http:' && found.near.some(({ url }) => url.startsWith('https:'))) return 'not_https';
  if (found.live.some(({ routes }) => routes.length === 0)) return 'not_itemised';
  return found.near.length > 0 || found.live.length > 0 ? 'path_not_listed' : 'host_not_listed';
}
