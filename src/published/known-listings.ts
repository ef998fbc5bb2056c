import { LRUCache } from 'lru-cache';
import { buildRouteIndex, type RouteIndex } from '../evidence/route-match.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import { listRouteCautions } from '../model/listing.ts';
import { getRouteUrl } from '../model/route.ts';
import type { CheckedRoute } from '../views/check.ts';
import type { PublicListing, RemovedListing, Tombstone } from '../views/listing/record.ts';
import type { PublicRoute } from '../views/listing/route-record.ts';
import type { Published } from './file.ts';
import { findListing, findRemoved, type ListingAddress } from './listings.ts';

/** The part of a route that is kept in memory to recognise and compare calls of it. */
export interface KnownRoute extends CheckedRoute, Pick<PublicRoute, 'path'> {}

/** A listing in which calls of its routes are looked up. */
export interface KnownListing {
  readonly slug: string;
  readonly tombstone: Tombstone | undefined;
  readonly routes: readonly KnownRoute[];
  readonly index: RouteIndex<KnownRoute>;
}

/** Most routes kept in memory, over all listings: some 40 MB. Those of the most recently used listings stay. */
const KEPT_ROUTES = 50_000;

interface Kept {
  readonly revision: number;
  readonly listing: KnownListing;
}

const keptOf = new WeakMap<Published['sqlite'], LRUCache<string, Kept>>();

/**
 * Returns a live or delisted listing for looking up calls; undefined if it is gone. It is read again if `address.revision`, its
 * current revision, is not that of the kept one.
 */
export function findKnownListing(published: Published, { slug, revision }: ListingAddress): KnownListing | undefined {
  const kept =
    keptOf.get(published.sqlite) ??
    new LRUCache<string, Kept>({
      maxSize: KEPT_ROUTES,
      sizeCalculation: ({ listing: { routes } }) => 1 + routes.length,
    });
  keptOf.set(published.sqlite, kept);
  const known = kept.get(slug);
  if (known?.revision === revision) return known.listing;
  const listing = readListing(published, slug);
  if (listing) kept.set(slug, { revision, listing });
  else kept.delete(slug);
  return listing;
}

function readListing(published: Published, slug: string): KnownListing | undefined {
  const removed = findRemoved(published, slug);
  const listing = removed ?? findListing(published, slug);
  if (!listing) return undefined;
  const routes =
    'tombstone' in listing
      ? listRemovedRoutes(listing)
      : listing.routes.map((route) => buildKnownRoute(route, listing));
  return { slug, tombstone: removed?.tombstone, routes, index: buildRouteIndex(listing.base_url, routes) };
}

/** Builds the part of a route of a listing that is kept in memory. */
export function buildKnownRoute(route: PublicRoute, { slug, listing_cautions }: PublicListing): KnownRoute {
  const { method, path, url, verification, payee, terms, proofs } = route;
  return {
    listing: slug,
    method,
    path,
    url,
    verification,
    payee,
    terms: getCurrentTerms(terms),
    proofs: proofs.map(({ network, amount, ceiling, pay_to, verified_at, receipt_id }) => {
      return { network, amount, ceiling, pay_to, verified_at, receipt_id };
    }),
    cautions: listRouteCautions(listing_cautions, route),
  };
}

/** Lists the routes that a removed listing had. Only their methods and paths are still known. */
function listRemovedRoutes({ tombstone, base_url, routes }: RemovedListing): KnownRoute[] {
  return routes.map(({ method, path }) => ({
    listing: tombstone.slug,
    method,
    path,
    url: getRouteUrl(base_url, path),
    verification: 'unverified',
    payee: null,
    terms: [],
    proofs: [],
    cautions: [],
  }));
}
