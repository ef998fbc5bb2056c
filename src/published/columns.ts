import { CATEGORIES, type Category } from '../model/catalogue.ts';
import { type Reliability, reliabilityBand } from '../model/listing.ts';
import { type NetworkKey, networkKey } from '../model/network.ts';
import type { Published } from './file.ts';
import type { ListingRef } from './listings.ts';
import { type KeyedSort, ORDERS } from './orders.ts';
import { getRouteFacts, packRouteFacts, type RouteFacts } from './route-facts.ts';
import type { Snapshot } from './snapshot.ts';

/** The bit of `traits` that a listing has which passes a filter, by the value of the filter. */
export const TRAIT_BITS = {
  category: numberBits(CATEGORIES, 0),
  band: numberBits(reliabilityBand.options, 5),
  network: numberBits(networkKey.options, 8),
  verified: { true: 1 << 14, false: 1 << 15 },
  /** By network: of those that dated evidence shows, and of those that are only declared. */
  seen: { true: numberBits(networkKey.options, 16), false: numberBits(networkKey.options, 22) },
} as const;

/** Returns the bits of the networks that a query asks for, by what it asks of their evidence. */
export function getNetworkBits(seen: boolean | undefined): Readonly<Record<NetworkKey, number>> {
  return seen === undefined ? TRAIT_BITS.network : TRAIT_BITS.seen[`${seen}`];
}

/** What verification and reliability add to relevance (at most 1): enough to order what fits alike, and no more. */
const VERIFIED_BONUS = 0.01;
const RELIABILITY_BONUS = 0.01;

/** Points that a mark takes away: more than all that a listing can have beyond its words. */
const MARK_MALUS = 0.021;

/** The most that a listing has beyond its words. */
export const BONUS_MAX = VERIFIED_BONUS + RELIABILITY_BONUS;

const KEYED_SORTS = Object.keys(ORDERS) as KeyedSort[];

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
  /** Category, band, verification and networks as bits. */
  readonly traits: Uint32Array;
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

/** The columns of one listing; what each order compares goes by its name. */
interface ColumnRow extends Readonly<Record<KeyedSort, number>> {
  readonly number: number;
  readonly slug: string;
  readonly state: 'live' | 'held' | 'delisted';
  readonly category: Category;
  readonly reliability_band: Reliability['band'];
  readonly reliability_score: number | null;
  readonly verified_routes: number;
  readonly networks: string;
  readonly seen_networks: string;
  readonly provider_key: string;
  readonly product: number | null;
  readonly marked: string | null;
  readonly facts: Buffer | null;
}

const SELECT = `SELECT number, slug, state, category, reliability_band, reliability_score, verified_routes, networks, seen_networks, provider_key,
  product, marked, ${KEYED_SORTS.map((sort) => `${ORDERS[sort].sql} AS ${sort}`).join(', ')}, facts
  FROM listings LEFT JOIN route_facts ON listing = number`;

const columnsOf = new WeakMap<Published['sqlite'], { readonly snapshot: Snapshot; readonly columns: Columns }>();

/**
 * Returns the columns as of a snapshot, read when they are first needed, which is for a search; from one snapshot to the next only
 * what changed is read. Call it while the file stays at the revision of the snapshot.
 */
export function getColumns(published: Published, snapshot: Snapshot): Columns {
  const before = columnsOf.get(published.sqlite);
  if (before?.snapshot === snapshot) return before.columns;
  const columns = before
    ? updateColumns(before.columns, published, before.snapshot.revision)
    : readColumns(published, snapshot.live_listings);
  columnsOf.set(published.sqlite, { snapshot, columns });
  return columns;
}

/** Reads the columns of all live listings, `count` of them, as they lie in the file (`+`): by an index they would take half as long again. */
function readColumns(published: Published, count: number): Columns {
  const rows = published.prepare<ColumnRow>(`${SELECT} WHERE +state = 'live' ORDER BY +slug`).iterate();
  return buildColumns(rows, count);
}

/**
 * Reads the columns of what changed after a revision, and puts them in the place of what was known before. Sorted by `+slug`,
 * they are found by the index of revisions; by `slug` SQLite would go through all listings in that order.
 */
function updateColumns(before: Columns, published: Published, revision: number): Columns {
  const changed = published.prepare<ColumnRow>(`${SELECT} WHERE revision > ? ORDER BY +slug`).all(revision);
  const live = changed.filter(({ state }) => state === 'live');
  const after = buildColumns(live, live.length);
  const isChanged = new Set(changed.map(({ slug }) => slug));
  return mergeColumns(before, after, isChanged);
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
  return ((traits[place] as number) & TRAIT_BITS.verified.true) !== 0;
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
  const traits = new Uint32Array(count);
  const bonuses = new Float64Array(count);
  const products = new Float64Array(count);
  const keys = KEYED_SORTS.map((sort) => ({ sort, column: new Float64Array(count) }));
  let place = 0;
  for (const row of rows) {
    const isVerified = row.verified_routes > 0;
    slugs.push(row.slug);
    numbers[place] = row.number;
    let bits =
      TRAIT_BITS.category[row.category] | TRAIT_BITS.band[row.reliability_band] | TRAIT_BITS.verified[`${isVerified}`];
    for (const network of networkKey.options) {
      if (row.networks.split(' ').includes(network)) {
        const isSeen = row.seen_networks.split(' ').includes(network);
        bits |= TRAIT_BITS.network[network] | TRAIT_BITS.seen[`${isSeen}`][network];
      }
    }
    traits[place] = bits;
    for (const { sort, column } of keys) column[place] = row[sort];
    bonuses[place] =
      (isVerified ? VERIFIED_BONUS : 0) +
      (RELIABILITY_BONUS * (row.reliability_score ?? 0)) / 100 -
      (row.marked === null ? 0 : MARK_MALUS);
    const name = names.get(row.provider_key) ?? row.provider_key;
    names.set(name, name);
    providers.push(name);
    products[place] = row.product ?? 0;
    facts.push(row.facts ?? NO_FACTS);
    place += 1;
  }
  return {
    ...{ slugs, providers, numbers, traits, bonuses, products },
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
    traits: Uint32Array.from(take(before.traits, after.traits)),
    keys: Object.fromEntries(
      KEYED_SORTS.map((sort) => [sort, Float64Array.from(take(before.keys[sort], after.keys[sort]))]),
    ) as Columns['keys'],
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
