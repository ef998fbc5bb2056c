import type { z } from 'zod';
import { listMissing } from '../evidence/abilities.ts';
import { parseAbilities } from '../model/ability.ts';
import { type NetworkKey, networkKey } from '../model/network.ts';
import { parseUsdc } from '../model/usdc.ts';
import type { ListQuery, listFilters } from '../views/listing/query.ts';
import type { Facts, ListingFacts, RouteFilter, RouteWishes } from './facts.ts';
import type { NamedRoutes } from './named-routes.ts';
import { ORDERS } from './orders.ts';
import { getPriceColumn } from './schema.ts';

/** The filters of a list, without words. */
export type Filters = Omit<z.infer<typeof listFilters>, 'q'>;

/**
 * A filter that is set. Its conditions and its test check the same for a listing as a whole; each is left out if it cannot check
 * it.
 */
interface SetFilter {
  /** The condition on rows of `listings`. It names the value of the filter by the filter's name. */
  readonly sql?: string;
  /** The condition on rows of `counts`, see `counts.ts`. Without one, listings that pass are counted one by one. */
  readonly counted?: string;
  /** The value bound to that name, if it is not the filter's own value. */
  readonly bound?: string | number;
  /** The test of a listing in memory. */
  readonly test?: (listing: ListingFacts) => boolean;
}

const FILTERS: {
  readonly [Name in keyof Filters]-?: (value: NonNullable<Filters[Name]>, query: Filters) => SetFilter;
} = {
  category: (value) => ({
    sql: 'category = +@category',
    counted: 'category = +@category',
    test: ({ category }) => category === value,
  }),
  network: (value, { seen }) => ({
    sql:
      seen === false
        ? `${buildNetworkCondition('networks')} AND NOT ${buildNetworkCondition('seen_networks')}`
        : buildNetworkCondition(seen ? 'seen_networks' : 'networks'),
    counted: 'network = +@network AND price >= 0',
    test: (listing) => isOnNetwork(listing, value, seen),
  }),
  seen: (value) => ({
    sql: value ? `seen_networks <> ''` : 'networks <> seen_networks',
    counted: value ? 'is_seen' : 'is_unseen',
    test: (listing) => networkKey.options.some((key) => isOnNetwork(listing, key, value)),
  }),
  verified: (value) => ({
    sql: `verified_routes ${value ? '>' : '='} 0`,
    counted: value ? 'verified AND price >= 0' : 'NOT verified',
    test: ({ isVerified }) => isVerified === value,
  }),
  band: (value) => ({
    sql: 'reliability_band = +@band',
    counted: 'band = +@band',
    test: ({ band }) => band === value,
  }),
  max_price_usdc: (value) => ({
    sql: 'price_min <= +@max_price_usdc',
    bound: parseUsdc(value) ?? 0,
    counted: 'price BETWEEN 0 AND +@max_price_usdc',
    test: ({ price }) => price <= Number(value),
  }),
  // A listing of which no route counts says nothing about who can pay it.
  can: () => ({ test: ({ isWhole }) => !isWhole }),
  // The routes that these two filters name are looked up first, see `findNamedRoutes`.
  host: () => ({}),
  path: () => ({}),
  provider: (value) => {
    const name = value.toLowerCase();
    return { sql: 'provider_key = +@provider', bound: name, test: ({ provider }) => provider === name };
  },
  updated_since: (value) => {
    const latest = -Date.parse(value);
    const sql = `${ORDERS.updated.sql} <= +@updated_since`;
    return { sql, bound: latest, test: ({ updated }) => updated <= latest };
  },
};

function buildNetworkCondition(column: 'networks' | 'seen_networks'): string {
  return `(instr(' ' || ${column} || ' ', ' ' || @network || ' ') > 0)`;
}

/**
 * Returns true if a listing is paid on a network: as dated evidence shows (`seen` true), as is only declared (false), or either.
 */
export function isOnNetwork({ networks, seenNetworks }: ListingFacts, key: NetworkKey, seen: boolean | undefined) {
  return networks.includes(key) && (seen === undefined || seenNetworks.includes(key) === seen);
}

/** Lists the filters that a query sets, with their names. Each has `bound`. */
function listSet(query: Filters): (SetFilter & { readonly name: string })[] {
  return Object.entries(FILTERS).flatMap(([name, set]) => {
    const value = query[name as keyof Filters];
    return value === undefined
      ? []
      : ({ name, bound: value, ...set(value as never, query) } as SetFilter & { name: string });
  });
}

/** Returns the condition that a listing is live and passes a query as a whole, and the values that it binds. */
export function buildListingCondition(query: Filters): { sql: string; values: object } {
  const set = listSet(query);
  return {
    sql: ["state = 'live'", ...set.flatMap(({ sql }) => sql ?? [])].join(' AND '),
    values: Object.fromEntries(set.map(({ name, bound }) => [name, bound])),
  };
}

/**
 * Returns the condition on rows of `counts` for a query, and the values that it binds; undefined if the query has a filter that
 * the table does not cover. Words are ignored.
 */
export function buildCountCondition(query: Filters): { sql: string; values: object } | undefined {
  const set = listSet(query);
  if (set.some(({ counted }) => counted === undefined)) return undefined;
  const network = query.network === undefined ? ["network = ''"] : [];
  return {
    sql: [`proved = ${Number(query.verified === true)}`, ...network, ...set.map(({ counted }) => counted)].join(
      ' AND ',
    ),
    values: Object.fromEntries(set.map(({ name, bound }) => [name, bound])),
  };
}

/**
 * Returns the condition on rows of `listings` that one of the routes passes, the same as that of `buildFilter`; `TRUE` if
 * nothing is asked of its offers. The lowest prices of a listing say enough, except for a client (`can`) or a path.
 */
export function buildRouteCondition(query: Filters): string {
  const ofOffer = buildOfferCondition(query);
  if (ofOffer === undefined) return 'TRUE';
  const { network, verified, max_price_usdc, can, path } = query;
  if (can !== undefined || path !== undefined)
    return `EXISTS (SELECT 1 FROM offers WHERE listing = number AND ${ofOffer})`;
  const passes = max_price_usdc === undefined ? 'IS NOT NULL' : '<= +@max_price_usdc';
  const networks = network === undefined ? networkKey.options : [network];
  return `(${networks.map((key) => `${getPriceColumn(key, verified === true)} ${passes}`).join(' OR ')})`;
}

/**
 * Returns the condition on rows of `offers` that a route passes by this offer; undefined if nothing is asked of offers. Besides
 * the filters it names two values, both JSON: `@payable`, the needs that the client meets, and `@named`, the listing and position
 * of each route at the path.
 */
export function buildOfferCondition({ network, verified, max_price_usdc, can, path }: Filters): string | undefined {
  if (network === undefined && max_price_usdc === undefined && verified !== true && can === undefined) return undefined;
  return [
    can !== undefined && 'needs IN (SELECT value FROM json_each(@payable))',
    network !== undefined && 'network = +@network',
    max_price_usdc !== undefined && 'amount <= +@max_price_usdc',
    path !== undefined && '(listing, position) IN (SELECT value ->> 0, value ->> 1 FROM json_each(@named))',
    verified &&
      'EXISTS (SELECT 1 FROM routes WHERE routes.listing = offers.listing AND routes.position = offers.position AND verified)',
  ]
    .filter(Boolean)
    .join(' AND ');
}

/** Tests of listings and of routes. All that is asked of a route must hold for one and the same route. */
export interface FilterTests {
  /** Both are undefined if everything passes. */
  readonly isListingPassing: ((listing: ListingFacts) => boolean) | undefined;
  readonly isRoutePassing: RouteFilter | undefined;
}

/** Builds the filter of a query, without its words. With `named`, only named listings and routes pass. */
export function buildFilter(facts: Facts, query: ListQuery, named: NamedRoutes | undefined): FilterTests {
  const isMeeting = facts.buildRouteFilter(getRouteWishes(query));
  const isListingPassing = buildListingFilter(query, named);
  if (query.path === undefined) {
    const isRoutePassing: RouteFilter = (listing, position) =>
      listing.isWhole || isMeeting?.(listing, position) !== false;
    return { isListingPassing, isRoutePassing: isMeeting && isRoutePassing };
  }
  const isRoutePassing: RouteFilter = (listing, position) =>
    named?.get(listing.number)?.has(position) === true && isMeeting?.(listing, position) !== false;
  return { isListingPassing, isRoutePassing };
}

/** Returns the conditions of a query that one and the same route must meet. */
export function getRouteWishes({ network, verified, max_price_usdc, can }: Filters): RouteWishes {
  const most = max_price_usdc === undefined ? undefined : parseUsdc(max_price_usdc);
  const abilities = can === undefined ? undefined : parseAbilities(can);
  const canPay = abilities && ((needs: readonly string[]) => listMissing(needs, abilities).length === 0);
  return { network, isVerified: verified === true, most, canPay };
}

/** Builds the filter of listings as a whole. A listing that cannot have a passing route does not pass either. */
export function buildListingFilter(query: Filters, named: NamedRoutes | undefined): FilterTests['isListingPassing'] {
  const tests = listSet(query).flatMap(({ test }) => test ?? []);
  if (named) tests.push(({ number }) => named.has(number));
  return tests.length === 0 ? undefined : (listing) => tests.every((isPassing) => isPassing(listing));
}
