import { buildRouteIndex, type RouteIndex } from '../evidence/route-match.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { PayableRecord } from '../evidence/terms-check.ts';
import { type Listing, listRouteCautions } from '../model/listing.ts';
import { getRouteUrl, type Route } from '../model/route.ts';
import { findTombstone, type Tombstone } from '../views/listing/record.ts';
import type { Published } from './file.ts';
import { findListing, type ListingAddress } from './listings.ts';

/** A route as a call of it is found again and compared: no more is kept of it. */
export interface KnownRoute extends PayableRecord, Pick<Route, 'method' | 'path' | 'verification'> {
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
  readonly listings: Map<string, { revision: number; listing: KnownListing }>;
  routes: number;
}

const keptOf = new WeakMap<Published['sqlite'], Kept>();

/**
 * Gives a listing, live or delisted, as calls are looked up in it; undefined where it is gone. It is read again when its
 * revision, which `address` has as of now, is another than that of what is kept.
 */
export function findKnownListing(published: Published, { slug, revision }: ListingAddress): KnownListing | undefined {
  const kept = keptOf.get(published.sqlite) ?? { listings: new Map(), routes: 0 };
  keptOf.set(published.sqlite, kept);
  const before = kept.listings.get(slug);
  const listing = before?.revision === revision ? before.listing : readListing(published, slug);
  if (before) removeKept(kept, slug, before.listing);
  if (!listing) return undefined;
  kept.listings.set(slug, { revision, listing });
  kept.routes += getWeight(listing);
  for (const [oldest, { listing: old }] of kept.listings) {
    if (kept.routes <= KEPT_ROUTES || oldest === slug) break;
    removeKept(kept, oldest, old);
  }
  return listing;
}

function removeKept(kept: Kept, slug: string, listing: KnownListing): void {
  kept.listings.delete(slug);
  kept.routes -= getWeight(listing);
}

function getWeight({ routes }: KnownListing): number {
  return 1 + routes.length;
}

function readListing(published: Published, slug: string): KnownListing | undefined {
  const listing = findListing(published, { slug });
  if (!listing) return undefined;
  const routes = listing.routes.map((route): KnownRoute => buildKnownRoute(route, listing));
  return { slug, tombstone: findTombstone(listing), routes, index: buildRouteIndex(listing.base_url, routes) };
}

function buildKnownRoute(route: Route, listing: Listing): KnownRoute {
  const { method, path, verification, payee, terms, proofs } = route;
  return {
    listing: listing.slug,
    method,
    path,
    url: getRouteUrl(listing.base_url, path),
    verification,
    payee,
    terms: getCurrentTerms(terms),
    proofs: proofs.map(({ network, amount, ceiling, pay_to, verified_at, receipt_id }) => {
      return { network, amount, ceiling, pay_to, verified_at, receipt_id };
    }),
    cautions: listRouteCautions(listing, route),
  };
}
