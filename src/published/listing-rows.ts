import type { ChangedListing } from '../catalogue/delta.ts';
import { getDomain } from '../evidence/domains.ts';
import { foldRoutes } from '../evidence/route-folds.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import { isDangerous } from '../model/caution.ts';
import { isLive, type Listing, type LiveListing } from '../model/listing.ts';
import { networkKey } from '../model/network.ts';
import type { Latency } from '../model/probe.ts';
import { listCounted } from '../model/route.ts';
import { encodeTerms, getListingVector } from '../search/terms.ts';
import { agentItem } from '../views/listing/item.ts';
import { buildMatchedRoute } from '../views/listing/matched-route.ts';
import {
  buildPublicListing,
  findTombstone,
  type PublicHead,
  type PublicListing,
  type RemovedListing,
} from '../views/listing/record.ts';
import { buildAgentRoute, type PublicRoute } from '../views/listing/route-record.ts';
import type { Site } from '../views/site.ts';
import { encodeFacts } from './facts.ts';
import { getProductNumber } from './product.ts';
import { getPriceColumn } from './schema.ts';
import { listTopics } from './topics.ts';

/** Values of one row, by column; null for columns that are not named. */
type Row = Record<string, string | number | null>;

/** The rows of one listing, without its changes, receipts and words. */
export interface ListingRows {
  readonly listing: Row;
  /**
   * JSON of `PublicHead` for a live listing, and of `RemovedListing` for a delisted one; null for a held listing, of which only
   * the name is public.
   */
  readonly document: string | null;
  readonly routes: readonly Row[];
  readonly offers: readonly Row[];
  /** The rest of a live listing: what searches read of it, and the short forms of it and of its routes as JSON. */
  readonly live: {
    readonly search: { readonly terms: string; readonly vector: Buffer; readonly facts: string };
    readonly item: string;
    readonly matchedRoutes: readonly string[];
  } | null;
}

/**
 * Parses the document of a listing, with its routes in the order in which readers see them; undefined before its first
 * publication.
 */
export function parseListing(document: string): Listing | undefined {
  if (document === '{}') return undefined;
  const listing: Listing = JSON.parse(document);
  return { ...listing, routes: foldRoutes(listing.base_url, listing.routes) };
}

/**
 * Builds the rows of a listing: everything for a live one; the tombstone and paths for a delisted one, so that calls of removed
 * routes are recognised; the name for a held one that was ever live.
 */
export function buildListingRows(
  row: Omit<ChangedListing, 'receipts'>,
  listing: Listing | undefined,
  site: Pick<Site, 'baseUrl'>,
): ListingRows {
  const { number, id, slug, state, revision } = row;
  const identity = { number, slug, id, state, revision };
  if (listing && isLive(listing)) {
    const form = buildPublicListing(listing, site);
    const { routes, ...head } = form;
    return {
      listing: { ...identity, ...buildColumns(listing, form) },
      document: JSON.stringify(head),
      routes: routes.map((route, position) => buildRouteRow(route, { number, position, listing: form })),
      offers: routes.flatMap((route, position) => buildOfferRows(route, { number, position })),
      live: {
        search: {
          terms: encodeTerms(listing),
          vector: Buffer.from(getListingVector(listing)),
          facts: encodeFacts(listing),
        },
        item: JSON.stringify(pickItem(head)),
        matchedRoutes: routes.map((route) => JSON.stringify(buildMatchedRoute(form, route))),
      },
    };
  }
  const isKnown = row.was_live === 1;
  return {
    listing: {
      ...identity,
      base_url: isKnown ? row.base_url : null,
      domain: isKnown ? getDomain(row.base_url) : null,
      title: isKnown ? (listing?.title ?? null) : null,
    },
    document: listing ? writeRemoved(listing) : null,
    routes: [],
    offers: [],
    live: null,
  };
}

/** Writes the public rest of a delisted listing; null for a held one. */
function writeRemoved(listing: Listing): ListingRows['document'] {
  const tombstone = findTombstone(listing);
  if (!tombstone) return null;
  const { base_url, category, routes } = listing;
  const removed: RemovedListing = {
    tombstone,
    base_url,
    category,
    routes: routes.map(({ id, method, path }) => ({ id, method, path })),
  };
  return JSON.stringify(removed);
}

/** Returns the short form of a listing: those fields that `/agent/list` shows. */
function pickItem(head: PublicHead): object {
  return Object.fromEntries(Object.entries(head).filter(([name]) => name in agentItem.shape));
}

function buildColumns(listing: LiveListing, form: PublicListing): Row {
  const { base_url, title, tagline, provider_name, category, price_min, price_max, networks, reliability } = listing;
  const verified = networks.filter(({ settlement_verified }) => settlement_verified);
  return {
    base_url,
    title,
    tagline,
    provider_name,
    category,
    price_min,
    price_max,
    provider_key: provider_name.toLowerCase(),
    ...buildPriceColumns(listing),
    networks: form.networks.join(' '),
    seen_networks: listKeys(networks.filter(({ advertised }) => advertised)),
    verified_networks: listKeys(verified),
    routes: form.endpoints_count,
    verified_routes: form.verified_route_count,
    reliability_band: reliability.band,
    reliability_score: reliability.score,
    ...buildLatencyColumns(listing.latency),
    listed_at: listing.listed_at,
    updated_at: listing.updated_at,
    verified_at: form.last_verified_at,
    topics: listTopics(listing).join(' '),
    domain: getDomain(base_url),
    product: getProductNumber(listing),
    marked: form.marked?.as ?? null,
  };
}

/** Returns the lowest prices of a listing on each network; where no route counts, the price of the listing as a whole. */
function buildPriceColumns({ routes, price_min }: Pick<Listing, 'routes' | 'price_min'>): Row {
  const lowest: Row = {};
  const counted = listCounted(routes);
  for (const network of networkKey.options) {
    lowest[getPriceColumn(network, false)] = counted.length === 0 ? price_min : null;
    lowest[getPriceColumn(network, true)] = null;
  }
  for (const { terms, verification } of counted) {
    for (const { network, amount } of getCurrentTerms(terms)) {
      for (const isVerified of verification === 'settlement-verified' ? [false, true] : [false]) {
        const column = getPriceColumn(network, isVerified);
        lowest[column] = Math.min(amount, Number(lowest[column] ?? amount));
      }
    }
  }
  return lowest;
}

function buildLatencyColumns(latency: Latency | null | undefined): Row {
  return { latency_median_ms: latency?.median_ms ?? null, latency_p95_ms: latency?.p95_ms ?? null };
}

function listKeys(networks: LiveListing['networks']): string {
  return networks.map(({ key }) => key).join(' ');
}

/** Key of a route: the row number of its listing, and its position there. */
interface RouteKey {
  readonly number: number;
  readonly position: number;
}

function buildRouteRow(
  route: PublicRoute,
  { number, position, listing }: RouteKey & { readonly listing: PublicListing },
): Row {
  const { method, path, url, proof } = route;
  const cautions = [...route.cautions, ...listing.listing_cautions];
  return {
    listing: number,
    position,
    method,
    path,
    url,
    verified: route.verification === 'settlement-verified' ? 1 : 0,
    verified_at: proof?.verified_at ?? null,
    danger: isDangerous(cautions) ? 1 : 0,
    ...buildLatencyColumns(route.probe?.latency),
    document: JSON.stringify(buildAgentRoute(route)),
  };
}

function buildOfferRows(route: PublicRoute, { number, position }: RouteKey): Row[] {
  // Routes that are only named by others are not recommended.
  if (route.set_aside) return [];
  return getCurrentTerms(route.terms).map((offer): Row => {
    const { network, scheme, asset, amount, pay_to, evidence, last_seen_at, needs } = offer;
    return {
      listing: number,
      position,
      network,
      scheme,
      asset,
      amount,
      pay_to,
      evidence,
      last_seen_at,
      needs: needs.join(' '),
    };
  });
}
