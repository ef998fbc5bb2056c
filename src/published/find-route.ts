import { getPathDistance, NEAR_ROUTES } from '../evidence/path-distance.ts';
import { listMatchingRoutes } from '../evidence/route-match.ts';
import type { UnknownReason } from '../views/check.ts';
import type { Tombstone } from '../views/listing/record.ts';
import type { Published } from './file.ts';
import { findKnownListing, type KnownListing, type KnownRoute } from './known-listings.ts';
import { type ListingAddress, listListingsAt, listLiveOnOrigin } from './listings.ts';

/** A call that somebody asks about: its method, if given, and its address without user, fragment and a dot after the host. */
export interface AskedCall {
  readonly method: string | undefined;
  readonly url: URL;
}

/** The method assumed for a call without one if its address has several routes. */
export const DEFAULT_METHOD = 'GET';

/** The result of looking up a call. */
export type FoundRoute =
  | { kind: 'route'; route: KnownRoute }
  | { kind: 'delisted'; tombstone: Tombstone }
  | { kind: 'unknown'; reason: UnknownReason; listing: string | null; nearest: KnownRoute[] };

/** Most segments of a called address for which listings are looked up. */
const MAX_SEGMENTS = 64;

/** Most listings of a host that are searched for the nearest routes, and most routes that are suggested. */
const NEAR_LISTINGS = 20;
const NAMED = 3;

/** Longest address that is suggested, in characters. */
const NAMED_LENGTH = 300;

/**
 * Finds the route of a call among the listings whose base address the called address begins with. If several routes match, the
 * most specific one counts; if several listings match, the one with most on record. HEAD counts as GET. A call without a method
 * is one of the only route at the address, or of GET if there are several. If no route is found, returns the reason and the
 * routes of that host that were most likely meant.
 */
export function findCalledRoute(published: Published, call: AskedCall): FoundRoute {
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
  const near = otherMethods.length > 0 ? otherMethods : listFuzzy(published, call.url);
  return {
    kind: 'unknown',
    reason: getReason(call.url, { otherMethods, live, near }),
    listing: live[0]?.slug ?? null,
    nearest: near.filter(({ url }) => url.length <= NAMED_LENGTH).slice(0, NAMED),
  };
}

/** Lists the possible base addresses of a called address, longest first. */
function listBaseAddresses({ origin, pathname }: URL): string[] {
  const segments = pathname.replace(/\/+$/, '').split('/').slice(1, MAX_SEGMENTS);
  return segments.map((_segment, index) => [origin, ...segments.slice(0, index + 1)].join('/')).concat(origin);
}

/** Lists the listings at these addresses, longest address first. */
function listKnown(published: Published, addresses: readonly ListingAddress[]): KnownListing[] {
  return addresses
    .toSorted((a, b) => b.base_url.length - a.base_url.length)
    .flatMap((address) => findKnownListing(published, address) ?? []);
}

/** Lists routes of the called host, nearest path first. A route listed with https may have been called with http. */
function listFuzzy(published: Published, { origin, protocol, hostname, pathname }: URL): KnownRoute[] {
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
