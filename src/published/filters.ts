import type { z } from 'zod';
import { networkKey } from '../model/network.ts';
import { parseUsdc } from '../model/usdc.ts';
import type { ListQuery, listFilters } from '../views/listing/query.ts';
import { type Columns, getNetworkBits, TRAIT_BITS } from './columns.ts';
import type { NamedRoutes } from './named-routes.ts';
import { ORDERS } from './orders.ts';
import { buildRouteFilter, type RouteFilter, type RouteWishes } from './route-facts.ts';
import { getPriceColumn } from './schema.ts';

type Filters = Omit<z.infer<typeof listFilters>, 'q'>;

/** A filter that is set. Its condition and its test ask the same of a listing as a whole; one of them is left out where it cannot tell. */
interface SetFilter {
  /** The condition on rows of `listings`. What the filter is set to goes by the filter's name. */
  readonly sql?: string;
  /** What that name stands for, if it is not just what the filter is set to. */
  readonly bound?: string | number;
  /** The test of the listing at a place. */
  readonly test?: (columns: Columns, place: number) => boolean;
}

const FILTERS: {
  readonly [Name in keyof Filters]-?: (value: NonNullable<Filters[Name]>, query: Filters) => SetFilter;
} = {
  category: (value) => ({ sql: 'category = @category', test: buildTraitTest(TRAIT_BITS.category[value]) }),
  network: (value, { seen }) => ({
    sql:
      seen === false
        ? `${buildNetworkCondition('networks')} AND NOT ${buildNetworkCondition('seen_networks')}`
        : buildNetworkCondition(seen ? 'seen_networks' : 'networks'),
    bound: ` ${value} `,
    test: buildTraitTest(getNetworkBits(seen)[value]),
  }),
  seen: (value) => ({
    sql: value ? `seen_networks <> ''` : 'networks <> seen_networks',
    test: buildTraitTest(Object.values(getNetworkBits(value)).reduce((all, bit) => all | bit, 0)),
  }),
  verified: (value) => ({
    sql: `verified_routes ${value ? '>' : '='} 0`,
    test: buildTraitTest(TRAIT_BITS.verified[`${value}`]),
  }),
  band: (value) => ({ sql: 'reliability_band = @band', test: buildTraitTest(TRAIT_BITS.band[value]) }),
  max_price_usdc: (value) => ({
    sql: 'price_min <= @max_price_usdc',
    bound: parseUsdc(value) ?? 0,
    test: ({ keys }, place) => (keys.price[place] as number) <= Number(value),
  }),
  // Of a listing without routes nobody can tell who can pay it.
  can: () => ({ test: ({ routes: { starts } }, place) => starts[place] !== starts[place + 1] }),
  // What these two name is looked up first, see `findNamedRoutes`.
  host: () => ({}),
  path: () => ({}),
  provider: (value) => {
    const name = value.toLowerCase();
    const test: SetFilter['test'] = ({ providers }, place) => providers[place] === name;
    return { sql: 'provider_key = @provider', bound: name, test };
  },
  updated_since: (value) => {
    const latest = -Date.parse(value);
    const test: SetFilter['test'] = ({ keys }, place) => (keys.updated[place] as number) <= latest;
    return { sql: `${ORDERS.updated.sql} <= @updated_since`, bound: latest, test };
  },
};

function buildNetworkCondition(column: 'networks' | 'seen_networks'): string {
  return `(instr(' ' || ${column} || ' ', @network) > 0)`;
}

function buildTraitTest(bit: number): NonNullable<SetFilter['test']> {
  return ({ traits }, place) => ((traits[place] as number) & bit) !== 0;
}

/** Lists the filters of a query by their names; `bound` is always there. */
function listSet(query: Filters): (SetFilter & { readonly name: string })[] {
  return Object.entries(FILTERS).flatMap(([name, set]) => {
    const value = query[name as keyof Filters];
    return value === undefined
      ? []
      : ({ name, bound: value, ...set(value as never, query) } as SetFilter & { name: string });
  });
}

/** Builds the condition that a listing is live and passes a query as a whole, and the values that it names. */
export function buildListingCondition(query: Filters): { sql: string; values: object } {
  const set = listSet(query);
  return {
    sql: ["state = 'live'", ...set.flatMap(({ sql }) => sql ?? [])].join(' AND '),
    values: Object.fromEntries(set.map(({ name, bound }) => [name, bound])),
  };
}

/** Builds the condition that a route of a listing passes, which asks what `buildRouteFilter` does; `TRUE` where every one does. */
export function buildRouteCondition({ network, verified, max_price_usdc }: Filters): string {
  if (network === undefined && max_price_usdc === undefined && verified !== true) return 'TRUE';
  const passes = max_price_usdc === undefined ? 'IS NOT NULL' : '<= @max_price_usdc';
  const networks = network === undefined ? networkKey.options : [network];
  return `(${networks.map((key) => `${getPriceColumn(key, verified === true)} ${passes}`).join(' OR ')})`;
}

/** Which listings and routes pass. A listing passes by one and the same route. */
export type Filter = ReturnType<typeof buildFilter>;

/** Builds the filter of a query, all but its words, which passes only what is named; that of routes is undefined where all pass. */
export function buildFilter(columns: Columns, query: ListQuery, named: NamedRoutes | undefined) {
  const isRoutePassing = buildRouteFilter(columns.routes, getRouteWishes(query));
  const isNamed: RouteFilter = (place, position) =>
    named?.get(columns.numbers[place] as number)?.has(position) === true && isRoutePassing?.(place, position) !== false;
  return {
    isListingPassing: buildListingFilter(columns, query, named),
    isRoutePassing: query.path === undefined ? isRoutePassing : isNamed,
  };
}

/** Returns what a query asks of one and the same route. */
export function getRouteWishes({ network, verified, max_price_usdc, can }: Filters): RouteWishes {
  const most = max_price_usdc === undefined ? undefined : parseUsdc(max_price_usdc);
  return { network, isVerified: verified === true, most, isPriced: can !== undefined };
}

/** Builds the filter of what is known of listings as a whole. What a route must be, its listing must allow for. */
export function buildListingFilter(columns: Columns, query: Filters, named: NamedRoutes | undefined) {
  const tests = listSet(query).flatMap(({ test }) => test ?? []);
  if (named) tests.push(({ numbers }, place) => named.has(numbers[place] as number));
  return (place: number) => tests.every((isPassing) => isPassing(columns, place));
}
