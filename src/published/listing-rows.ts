import { listNeeds } from '../evidence/abilities.ts';
import { getDomain } from '../evidence/domains.ts';
import { findMark } from '../evidence/marks.ts';
import { foldRoutes } from '../evidence/route-folds.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import { isLive, type Listing, type LiveListing, listRouteCautions } from '../model/listing.ts';
import { isPaidOn, networkKey } from '../model/network.ts';
import type { Latency } from '../model/probe.ts';
import { getRouteUrl, isToolPath, type Route } from '../model/route.ts';
import { encodeTerms, getListingVector } from '../search/terms.ts';
import { buildAgentItem, getVerification } from '../views/listing/item.ts';
import { buildMatchedRoute } from '../views/listing/matched-route.ts';
import type { Site } from '../views/site.ts';
import { encodeFacts } from './facts.ts';
import { getProductNumber } from './product.ts';
import { getPriceColumn } from './schema.ts';
import { listTopics } from './topics.ts';

/** Values of one row, by column. */
type Row = Record<string, string | number | null>;

/** What the file holds of one listing besides its changes, receipts and words. */
export interface ListingRows {
  readonly listing: Row;
  /** JSON, of a live listing without its routes; null for a held listing, of which nothing is public but its name. */
  readonly document: string | null;
  readonly routes: readonly Row[];
  readonly offers: readonly Row[];
  /** What it is found by; null unless it is live. */
  readonly search: { readonly terms: string; readonly vector: Buffer; readonly facts: string } | null;
}

/** A listing as the catalogue has it. */
interface CatalogueListing {
  readonly number: number;
  readonly id: string;
  readonly slug: string;
  readonly base_url: string;
  readonly state: Listing['state'];
  readonly revision: number;
  /** JSON of model `Listing`, `{}` before its first publication. */
  readonly document: string;
  readonly was_live: 0 | 1;
}

/** Parses the document of a listing, with its routes in the order of readers; undefined before its first publication. */
export function parseListing(document: string): Listing | undefined {
  if (document === '{}') return undefined;
  const listing: Listing = JSON.parse(document);
  return { ...listing, routes: foldRoutes(listing.base_url, listing.routes) };
}

/**
 * Builds the rows of a listing: everything of a live one, tombstone and paths of a delisted one (a call of a removed route
 * is to be recognised), and of a held one its name, if it was ever live.
 */
export function buildListingRows(row: CatalogueListing, listing: Listing | undefined): ListingRows {
  const { number, id, slug, state, revision } = row;
  const identity = { number, slug, id, state, revision };
  if (listing && isLive(listing)) {
    return {
      listing: { ...identity, ...buildColumns(listing) },
      document: JSON.stringify({ ...listing, routes: undefined }),
      routes: listing.routes.map((route, position) => buildRouteRow({ number, position, listing, route })),
      offers: listing.routes.flatMap((route, position) => buildOfferRows({ number, position, route })),
      search: {
        terms: encodeTerms(listing),
        vector: Buffer.from(getListingVector(listing)),
        facts: encodeFacts(listing),
      },
    };
  }
  const isKnown = row.was_live === 1;
  return {
    listing: {
      ...identity,
      ...NO_COLUMNS,
      base_url: isKnown ? row.base_url : null,
      domain: isKnown ? getDomain(row.base_url) : null,
      title: isKnown ? (listing?.title ?? null) : null,
    },
    document: state === 'delisted' && listing ? JSON.stringify(buildTombstoneListing(listing)) : null,
    routes: [],
    offers: [],
    search: null,
  };
}

/** Renders the short form of a live listing, as `/agent/list` shows it. */
export function renderItem(listing: LiveListing, site: Pick<Site, 'baseUrl'>): string {
  return JSON.stringify(buildAgentItem(listing, site));
}

/** Renders the short form of a route, as the results of a search show it. */
export function renderRoute(listing: LiveListing, route: Route): string {
  return JSON.stringify(buildMatchedRoute(listing, route));
}

const NO_COLUMNS = {
  ...{ base_url: null, title: null, tagline: null, provider_name: null, provider_key: null },
  ...{ category: null, price_min: null, price_max: null, ...buildPriceColumns({ routes: [], price_min: null }) },
  ...{ networks: null, seen_networks: null, verified_networks: null },
  ...{ routes: null, verified_routes: null, reliability_band: null, reliability_score: null },
  ...{ latency_median_ms: null, latency_p95_ms: null },
  ...{ listed_at: null, updated_at: null, verified_at: null, topics: null, domain: null, product: null, marked: null },
};

function buildColumns(listing: LiveListing): Row {
  const { base_url, title, tagline, provider_name, category, price_min, price_max, networks, reliability } = listing;
  const { endpoints_count, verified_route_count, last_verified_at } = getVerification(listing);
  const verified = networks.filter(({ settlement_verified }) => settlement_verified);
  return {
    ...{ base_url, title, tagline, provider_name, category, price_min, price_max },
    provider_key: provider_name.toLowerCase(),
    ...buildPriceColumns(listing),
    networks: listKeys(networks.filter(isPaidOn)),
    seen_networks: listKeys(networks.filter(({ advertised }) => advertised)),
    verified_networks: listKeys(verified),
    routes: endpoints_count,
    verified_routes: verified_route_count,
    reliability_band: reliability.band,
    reliability_score: reliability.score,
    ...buildLatencyColumns(listing.latency),
    listed_at: listing.listed_at,
    updated_at: listing.updated_at,
    verified_at: last_verified_at,
    topics: listTopics(listing).join(' '),
    domain: getDomain(base_url),
    product: getProductNumber(listing),
    marked: findMark(listing)?.as ?? null,
  };
}

/** Builds the lowest prices of a listing on each network. Without routes it is what is said of it as a whole. */
function buildPriceColumns({ routes, price_min }: Pick<Listing, 'routes' | 'price_min'>): Row {
  const lowest: Row = {};
  for (const network of networkKey.options) {
    lowest[getPriceColumn(network, false)] = routes.length === 0 ? price_min : null;
    lowest[getPriceColumn(network, true)] = null;
  }
  for (const { set_aside, terms, verification } of routes) {
    for (const { network, amount } of set_aside ? [] : getCurrentTerms(terms)) {
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

function buildRouteRow({
  number,
  position,
  listing,
  route,
}: {
  number: number;
  position: number;
  listing: LiveListing;
  route: Route;
}): Row {
  const { method, path, proof } = route;
  const cautions = listRouteCautions(listing, route);
  return {
    ...{ listing: number, position, method, path },
    url: getRouteUrl(listing.base_url, path),
    verified: route.verification === 'settlement-verified' ? 1 : 0,
    verified_at: proof?.verified_at ?? null,
    danger: cautions.some(({ severity }) => severity === 'danger') ? 1 : 0,
    ...buildLatencyColumns(route.probe?.latency),
    document: JSON.stringify(route),
  };
}

function buildOfferRows({ number, position, route }: { number: number; position: number; route: Route }): Row[] {
  // Nobody is sent to what only others name.
  if (route.set_aside) return [];
  const isTool = isToolPath(route.path);
  return getCurrentTerms(route.terms).map((offer): Row => {
    const { network, scheme, asset, amount, pay_to, evidence, last_seen_at } = offer;
    const needs = listNeeds(offer, { isTool }).join(' ');
    return { listing: number, position, network, scheme, asset, amount, pay_to, evidence, last_seen_at, needs };
  });
}

/** Leaves of a delisted listing what its tombstone says, and the routes that it had. */
function buildTombstoneListing(listing: Listing): Listing {
  return {
    ...listing,
    ...{ tagline: '', description: '', provider_name: '', mcp_endpoint: null, docs_url: null },
    ...{ price_min: null, price_max: null, networks: [], cautions: [], corrections: [], sources: [] },
    reliability: { ...listing.reliability, band: 'unscored', score: null, samples: 0, last_sample_at: null, days: [] },
    latency: null,
    said_by: {},
    routes: listing.routes.map(({ id, method, path }) => ({
      ...{
        id,
        method,
        path,
        said_by: {},
        description: '',
        mime_type: null,
        input_schema: null,
        output_schema: null,
        example: null,
      },
      ...{ verification: 'unverified' as const, proof: null, proofs: [], cautions: [], undelivered: null },
      ...{ payee: null, probe: null, terms: [] },
    })),
  };
}
