import { CATEGORIES } from '../model/category.ts';
import { reliabilityBand } from '../model/listing.ts';
import { networkKey } from '../model/network.ts';
import { parseUsdc } from '../model/usdc.ts';
import type { ListQuery } from '../views/list-query.ts';
import type { ListingEntry } from './entry.ts';
import type { Snapshot } from './snapshot.ts';

type Chunk = Snapshot['chunks'][number];

/** Bits of `traits`: one for each category, band and network, and one each for verified and not. */
const CATEGORY_BITS = numberBits(CATEGORIES, 0);
const BAND_BITS = numberBits(reliabilityBand.options, 5);
const NETWORK_BITS = numberBits(networkKey.options, 8);
const VERIFIED = 1 << 14;
const UNVERIFIED = 1 << 15;

/** What verification and reliability add to relevance (at most 1): enough to order what fits alike, and no more. */
const VERIFIED_BONUS = 0.02;
const RELIABILITY_BONUS = 0.02;

/** What filters and orders read of the entries of a chunk, as columns: going through all listings takes a millisecond. */
export interface Columns {
  /** Category, band, verification and networks as bits. */
  readonly traits: Uint16Array;
  /** Numbers that sort upwards: what should come first is the smaller. */
  readonly keys: Record<'price' | 'updated' | 'reliability', Float64Array>;
  /** What each entry has beyond its words where relevance decides. */
  readonly bonuses: Float64Array;
  /** Provider's names in lower case. */
  readonly providers: readonly string[];
}

const columnsOf = new WeakMap<Chunk, Columns>();

/** Gives the columns of a chunk, made once: chunks that did not change are the same from snapshot to snapshot. */
export function getColumns(chunk: Chunk): Columns {
  let columns = columnsOf.get(chunk);
  if (!columns) {
    const { entries } = chunk;
    const pick = (get: (entry: ListingEntry) => number) => Float64Array.from(entries, get);
    columns = {
      traits: Uint16Array.from(entries, getTraits),
      keys: {
        price: pick(({ price_min_usdc }) => price_min_usdc),
        updated: pick(({ updated_at }) => -Date.parse(updated_at)),
        reliability: pick(({ reliability_score }) => -(reliability_score ?? -1)),
      },
      bonuses: pick(getBonus),
      providers: entries.map(({ provider }) => provider),
    };
    columnsOf.set(chunk, columns);
  }
  return columns;
}

/** Says of the entry at a place of a chunk whether it passes. */
export type Filter = (columns: Columns, at: number) => boolean;

/** Builds the filter of a query, all but its words; undefined where everything passes. */
export function buildFilter(query: ListQuery): Filter | undefined {
  const { category, network, verified, band } = query;
  const filters: Filter[] = [];
  const wanted = [
    category && CATEGORY_BITS[category],
    band && BAND_BITS[band],
    verified === undefined ? undefined : verified ? VERIFIED : UNVERIFIED,
    network && NETWORK_BITS[network],
  ].reduce<number>((all, bit) => all | (bit ?? 0), 0);
  if (wanted !== 0) filters.push(({ traits }, at) => ((traits[at] as number) & wanted) === wanted);
  if (query.max_price_usdc !== undefined) {
    const most = (parseUsdc(query.max_price_usdc) ?? 0) / 1e6;
    filters.push(({ keys }, at) => (keys.price[at] as number) <= most);
  }
  if (query.provider !== undefined) {
    const provider = query.provider.toLowerCase();
    filters.push(({ providers }, at) => providers[at] === provider);
  }
  if (query.updated_since !== undefined) {
    const latest = -Date.parse(query.updated_since);
    filters.push(({ keys }, at) => (keys.updated[at] as number) <= latest);
  }
  return filters.length === 0 ? undefined : (columns, at) => filters.every((isPassing) => isPassing(columns, at));
}

function getBonus({ payment_verified, reliability_score }: ListingEntry): number {
  return (payment_verified ? VERIFIED_BONUS : 0) + (RELIABILITY_BONUS * (reliability_score ?? 0)) / 100;
}

function getTraits({ networks, category, reliability_band, payment_verified }: ListingEntry): number {
  return networks.reduce<number>(
    (bits, network) => bits | NETWORK_BITS[network],
    CATEGORY_BITS[category] | BAND_BITS[reliability_band] | (payment_verified ? VERIFIED : UNVERIFIED),
  );
}

function numberBits<Name extends string>(names: readonly Name[], from: number): Record<Name, number> {
  return Object.fromEntries(names.map((name, at) => [name, 1 << (from + at)])) as Record<Name, number>;
}
