import { LRUCache } from 'lru-cache';
import { buildRouteIndex, type RouteIndex } from '../evidence/route-match.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { PayableRecord } from '../evidence/terms-check.ts';
import { listRouteCautions } from '../model/listing.ts';
import { getRouteUrl } from '../model/route.ts';
import type { PublicListing, RemovedListing, Tombstone } from '../views/listing/record.ts';
import type { PublicRoute, PublicTerms } from '../views/listing/route-record.ts';
import type { Published } from './file.ts';
import { findListing, findRemoved, type ListingAddress } from './listings.ts';

/** A route as a call of it is found again and compared: no more is kept of it. */
export interface KnownRoute extends PayableRecord, Pick<PublicRoute, 'method' | 'path' | 'verification'> {
  readonly terms: readonly PublicTerms[];
  /** Slug of its listing, and the address it is called at. */
  readonly listing: string;
  readonly url: string;
}

/** A listing as calls of its routes are looked up in it. */
export interface KnownListing {
  readonly slug: string;
  readonly tombstone: Tombstone | undefined;
  readonly routes: readonly KnownRoute[];
  readonly index: RouteIndex<KnownRoute>;
}

/** Routes kept in memory over all listings, those of the listings asked for last: some 40 MB. */
const KEPT_ROUTES = 50_000;

interface Kept {
  readonly revision: number;
  readonly listing: KnownListing;
}

const keptOf = new WeakMap<Published['sqlite'], LRUCache<string, Kept>>();

/**
 * Gives a listing, live or delisted, as calls are looked up in it; undefined where it is gone. It is read again when its
 * revision, which `address` has as of now, is another than that of what is kept.
 */
export function findKnownListing(published: Published, { slug, revision }: ListingAddress): KnownListing | undefined {
  const kept = keptOf.get(published.sqlite) ?? openKept();
  keptOf.set(published.sqlite, kept);
  const known = kept.get(slug);
  if (known?.revision === revision) return known.listing;
  const listing = readListing(published, slug);
  if (listing) kept.set(slug, { revision, listing });
  else kept.delete(slug);
  return listing;
}

function openKept(): LRUCache<string, Kept> {
  return new LRUCache({ maxSize: KEPT_ROUTES, sizeCalculation: ({ listing }) => 1 + listing.routes.length });
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

function buildKnownRoute(route: PublicRoute, { slug, listing_cautions }: PublicListing): KnownRoute {
  const { method, path, url, verification, payee, terms, proofs } = route;
  return {
    ...{ listing: slug, method, path, url, verification, payee },
    terms: getCurrentTerms(terms),
    proofs: proofs.map(({ network, amount, ceiling, pay_to, verified_at, receipt_id }) => {
      return { network, amount, ceiling, pay_to, verified_at, receipt_id };
    }),
    cautions: listRouteCautions(listing_cautions, route),
  };
}

/** Lists the routes that a removed listing had, of which nothing else is known any more. */
function listRemovedRoutes({ tombstone, base_url, routes }: RemovedListing): KnownRoute[] {
  return routes.map(({ method, path }) => ({
    ...{ listing: tombstone.slug, method, path, url: getRouteUrl(base_url, path) },
    ...{ verification: 'unverified', payee: null, terms: [], proofs: [], cautions: [] },
  }));
}
