import { CATEGORIES, type Category } from '../model/catalogue.ts';
import { type Reliability, reliabilityBand } from '../model/listing.ts';
import { type NetworkKey, networkKey } from '../model/network.ts';
import { getUsdcNumber, parseUsdc } from '../model/usdc.ts';
import type { ListQuery, ListSort } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import type { ListingRef } from './listings.ts';
import {
  buildRouteFilter,
  getRouteFacts,
  packRouteFacts,
  type RouteFacts,
  type RouteFilter,
  type RouteWishes,
} from './route-facts.ts';

/** Bits of `traits`: one for each category, band and network, and one each for verified and not. */
const CATEGORY_BITS = numberBits(CATEGORIES, 0);
const BAND_BITS = numberBits(reliabilityBand.options, 5);
const NETWORK_BITS = numberBits(networkKey.options, 8);
const VERIFIED = 1 << 14;
const UNVERIFIED = 1 << 15;

/** The bit of `traits` that a listing has which passes a filter, by the value of the filter. */
export const TRAIT_BITS = {
  category: CATEGORY_BITS,
  band: BAND_BITS,
  network: NETWORK_BITS,
  verified: { true: VERIFIED, false: UNVERIFIED },
} as const;

/** What verification and reliability add to relevance (at most 1): enough to order what fits alike, and no more. */
const VERIFIED_BONUS = 0.01;
const RELIABILITY_BONUS = 0.01;

/** The most that a listing has beyond its words. */
export const BONUS_MAX = VERIFIED_BONUS + RELIABILITY_BONUS;

/** An order by what is known of listings; that of relevance and that of names need no numbers. */
export type KeyedSort = Exclude<ListSort, 'relevance' | 'name'>;

/**
 * What each order compares: numbers that sort upwards, so what should come first is the smaller. By `behind` the listings
 * that answer little of a request come after all others: it is more than any two numbers of the order differ.
 */
export const ORDERS: Readonly<
  Record<KeyedSort, { readonly behind: number; readonly getKey: (row: ColumnRow) => number }>
> = {
  price: { behind: 1e10, getKey: ({ price_min }) => getUsdcNumber(price_min) },
  updated: { behind: 1e13, getKey: ({ updated_at }) => -Date.parse(updated_at) },
  reliability: { behind: 1e3, getKey: ({ reliability_score }) => -(reliability_score ?? -1) },
  latency: { behind: 1e10, getKey: ({ latency_median_ms }) => latency_median_ms ?? 1e9 },
  proof: { behind: 1e13, getKey: ({ verified_at }) => (verified_at === null ? 0 : -Date.parse(verified_at)) },
};
const KEYED_SORTS = Object.keys(ORDERS) as KeyedSort[];

/** Builds the column of each order. */
function buildKeys(getColumn: (sort: KeyedSort) => Iterable<number>): Columns['keys'] {
  const columns = KEYED_SORTS.map((sort) => [sort, Float64Array.from(getColumn(sort))]);
  return Object.fromEntries(columns) as Columns['keys'];
}

/**
 * What filters and orders read of the live listings, as columns in the order of their slugs: going through all of them
 * takes a millisecond. Never changed once made.
 */
export interface Columns {
  readonly slugs: readonly string[];
  /** Row numbers in the file, under which words and documents are found. */
  readonly numbers: Uint32Array;
  /** Places by row number; -1 where no live listing has it. */
  readonly places: Int32Array;
  /** Revision of the latest change of each. */
  readonly revisions: Uint32Array;
  /** Category, band, verification and networks as bits. */
  readonly traits: Uint16Array;
  /** What orders compare, see `ORDERS`. */
  readonly keys: Readonly<Record<KeyedSort, Float64Array>>;
  /** What each has beyond its words where relevance decides. */
  readonly bonuses: Float64Array;
  /** Provider's names in lower case. */
  readonly providers: readonly string[];
  /** Numbers that the listings of one product at several addresses have in common (`product.ts`); 0 where not known. */
  readonly products: Float64Array;
  /** What filters know of the routes of each. */
  readonly routes: RouteFacts;
}

/** The columns of one listing. */
interface ColumnRow {
  readonly number: number;
  readonly slug: string;
  readonly revision: number;
  readonly state: 'live' | 'held' | 'delisted';
  readonly category: Category;
  readonly reliability_band: Reliability['band'];
  readonly reliability_score: number | null;
  readonly verified_routes: number;
  readonly networks: string;
  readonly price_min: number;
  readonly updated_at: string;
  readonly latency_median_ms: number | null;
  readonly verified_at: string | null;
  readonly provider_name: string;
  readonly product: number | null;
  readonly facts: Buffer | null;
}

const SELECT = `SELECT number, slug, revision, state, category, reliability_band, reliability_score, verified_routes, networks,
  price_min, updated_at, latency_median_ms, verified_at, provider_name, product, facts FROM listings LEFT JOIN route_facts ON listing = number`;

/** Reads the columns of every live listing. (Sorted by `+slug`: found one by one in the index of slugs they would take half as long again.) */
export function readColumns(published: Published): Columns {
  const [live] = published
    .prepare<{ count: number }>(`SELECT count(*) AS count FROM listings WHERE state = 'live'`)
    .all();
  const rows = published.prepare<ColumnRow>(`${SELECT} WHERE state = 'live' ORDER BY +slug`).iterate();
  return buildColumns(rows, live?.count ?? 0);
}

/**
 * Reads the columns of what changed after a revision, and puts them in the place of what was known before. Sorted by `+slug`,
 * they are found by the index of revisions; by `slug` SQLite would go through all listings in that order.
 */
export function updateColumns(before: Columns, published: Published, revision: number): Columns {
  const changed = published.prepare<ColumnRow>(`${SELECT} WHERE revision > ? ORDER BY +slug`).all(revision);
  const live = changed.filter(({ state }) => state === 'live');
  const after = buildColumns(live, live.length);
  const isChanged = new Set(changed.map(({ slug }) => slug));
  return mergeColumns(before, after, isChanged);
}

/** Finds the place of a live listing by its slug; -1 where there is none. */
export function findPlace({ slugs }: Columns, slug: string): number {
  const place = findNextPlace({ slugs }, slug);
  return slugs[place] === slug ? place : -1;
}

/** Finds the place of the first listing whose slug is the one given, or comes after it. */
export function findNextPlace({ slugs }: Pick<Columns, 'slugs'>, slug: string): number {
  let [low, high] = [0, slugs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((slugs[middle] as string) < slug) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Gives the listing at a place. */
export function getRef({ slugs, numbers }: Columns, place: number): ListingRef {
  return { number: numbers[place] as number, slug: slugs[place] as string };
}

/** Says whether the listing at a place has a settlement-verified route. */
export function isVerified({ traits }: Columns, place: number): boolean {
  return ((traits[place] as number) & VERIFIED) !== 0;
}

/** Says whether the listing at a place is of a category. */
export function isOfCategory({ traits }: Columns, place: number, category: Category): boolean {
  return ((traits[place] as number) & CATEGORY_BITS[category]) !== 0;
}

/** Says whether payment on a network is advertised by the listing at a place. */
export function isOnNetwork({ traits }: Columns, place: number, network: NetworkKey): boolean {
  return ((traits[place] as number) & NETWORK_BITS[network]) !== 0;
}

/** Gives when the listing at a place last changed, in milliseconds since 1970. */
export function getUpdatedMs({ keys }: Columns, place: number): number {
  return -(keys.updated[place] as number);
}

/** Which listings and routes pass. */
export interface Filter {
  /** Says of a listing by its place whether it may pass, by all that is known of it as a whole. */
  readonly isListingPassing: (place: number) => boolean;
  /** Says of one of its routes whether it passes; undefined where all do. A listing passes by one and the same route. */
  readonly isRoutePassing: RouteFilter | undefined;
}

/** Builds the filter of a query, all but its words; undefined where everything passes. */
export function buildFilter(columns: Columns, query: ListQuery): Filter | undefined {
  const isListingPassing = buildListingFilter(columns, query);
  return (
    isListingPassing && { isListingPassing, isRoutePassing: buildRouteFilter(columns.routes, getRouteWishes(query)) }
  );
}

/** Gives what a query asks of one and the same route. */
export function getRouteWishes({ network, verified, max_price_usdc, can }: ListQuery): RouteWishes {
  const most = max_price_usdc === undefined ? undefined : parseUsdc(max_price_usdc);
  return { network, isVerified: verified === true, most, isPriced: can !== undefined };
}

/** Builds the filter of what is known of listings as a whole. What a route must be, its listing must allow for. */
export function buildListingFilter(
  { traits, keys, providers, routes: { starts } }: Columns,
  query: ListQuery,
): ((place: number) => boolean) | undefined {
  const { category, network, verified, band } = query;
  const filters: ((place: number) => boolean)[] = [];
  const wanted = [
    category && CATEGORY_BITS[category],
    band && BAND_BITS[band],
    verified === undefined ? undefined : TRAIT_BITS.verified[`${verified}`],
    network && NETWORK_BITS[network],
  ].reduce<number>((all, bit) => all | (bit ?? 0), 0);
  if (wanted !== 0) filters.push((place) => ((traits[place] as number) & wanted) === wanted);
  if (query.max_price_usdc !== undefined) {
    const most = getUsdcNumber(parseUsdc(query.max_price_usdc) ?? 0);
    filters.push((place) => (keys.price[place] as number) <= most);
  }
  // Of a listing without routes nobody can tell who can pay it.
  if (query.can !== undefined) filters.push((place) => starts[place] !== starts[place + 1]);
  if (query.provider !== undefined) {
    const provider = query.provider.toLowerCase();
    filters.push((place) => providers[place] === provider);
  }
  if (query.updated_since !== undefined) {
    const latest = -Date.parse(query.updated_since);
    filters.push((place) => (keys.updated[place] as number) <= latest);
  }
  return filters.length === 0 ? undefined : (place) => filters.every((isPassing) => isPassing(place));
}

const NO_FACTS = Buffer.alloc(0);

/** Builds the columns of `count` rows. Arrays of numbers are made in their final size, so that none is copied while it grows. */
function buildColumns(rows: Iterable<ColumnRow>, count: number): Columns {
  /** Many listings have the same provider, whose name is in memory once. */
  const names = new Map<string, string>();
  const slugs: string[] = [];
  const providers: string[] = [];
  const facts: Buffer[] = [];
  const numbers = new Uint32Array(count);
  const revisions = new Uint32Array(count);
  const traits = new Uint16Array(count);
  const bonuses = new Float64Array(count);
  const products = new Float64Array(count);
  const keys = KEYED_SORTS.map((sort) => ({ sort, getKey: ORDERS[sort].getKey, column: new Float64Array(count) }));
  let place = 0;
  for (const row of rows) {
    const isVerified = row.verified_routes > 0;
    slugs.push(row.slug);
    numbers[place] = row.number;
    revisions[place] = row.revision;
    let bits = CATEGORY_BITS[row.category] | BAND_BITS[row.reliability_band] | (isVerified ? VERIFIED : UNVERIFIED);
    for (const network of networkKey.options) if (row.networks.includes(network)) bits |= NETWORK_BITS[network];
    traits[place] = bits;
    for (const { getKey, column } of keys) column[place] = getKey(row);
    bonuses[place] = (isVerified ? VERIFIED_BONUS : 0) + (RELIABILITY_BONUS * (row.reliability_score ?? 0)) / 100;
    const name = row.provider_name.toLowerCase();
    if (!names.has(name)) names.set(name, name);
    providers.push(names.get(name) ?? name);
    products[place] = row.product ?? 0;
    facts.push(row.facts ?? NO_FACTS);
    place += 1;
  }
  return {
    ...{ slugs, providers, numbers, revisions, traits, bonuses, products },
    places: listPlaces(numbers),
    keys: Object.fromEntries(keys.map(({ sort, column }) => [sort, column])) as Columns['keys'],
    routes: packRouteFacts(facts),
  };
}

/** Merges two sets of columns by slug; what `isChanged` names comes from the second, or is gone where that lacks it. */
function mergeColumns(before: Columns, after: Columns, isChanged: ReadonlySet<string>): Columns {
  /** Places to take, in order: those of `before` from 0 on, those of `after` as -1, -2 and so on. */
  const order: number[] = [];
  let next = 0;
  for (const [place, slug] of before.slugs.entries()) {
    while (next < after.slugs.length && (after.slugs[next] as string) < slug) order.push(-1 - next++);
    if (!isChanged.has(slug)) order.push(place);
  }
  while (next < after.slugs.length) order.push(-1 - next++);
  const take = <Column extends { readonly [place: number]: unknown }>(a: Column, b: Column) =>
    order.map((place) => (place >= 0 ? a[place] : b[-1 - place]) as never);
  const numbers = Uint32Array.from(take(before.numbers, after.numbers));
  return {
    slugs: take(before.slugs, after.slugs),
    providers: take(before.providers, after.providers),
    numbers,
    places: listPlaces(numbers),
    revisions: Uint32Array.from(take(before.revisions, after.revisions)),
    traits: Uint16Array.from(take(before.traits, after.traits)),
    keys: buildKeys((sort) => take(before.keys[sort], after.keys[sort])),
    bonuses: Float64Array.from(take(before.bonuses, after.bonuses)),
    products: Float64Array.from(take(before.products, after.products)),
    routes: packRouteFacts(
      order.map((place) =>
        place >= 0 ? getRouteFacts(before.routes, place) : getRouteFacts(after.routes, -1 - place),
      ),
    ),
  };
}

function listPlaces(numbers: ArrayLike<number>): Int32Array {
  let most = 0;
  for (let place = 0; place < numbers.length; place += 1) most = Math.max(most, numbers[place] as number);
  const places = new Int32Array(most + 1).fill(-1);
  for (let place = 0; place < numbers.length; place += 1) places[numbers[place] as number] = place;
  return places;
}

function numberBits<Name extends string>(names: readonly Name[], from: number): Record<Name, number> {
  return Object.fromEntries(names.map((name, at) => [name, 1 << (from + at)])) as Record<Name, number>;
}
