import { type NetworkKey, networkKey } from '../model/network.ts';
import { FACET_NAMES, FACET_VALUES, type FacetName, type Facets } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import { buildCountCondition, type Filters } from './filters.ts';
import { FILTERED, getPriceColumn } from './schema.ts';

/** A row of a live listing with the columns that are counted (`FILTERED`). */
interface CountedListing extends Readonly<Record<string, string | number | null>> {
  readonly category: string;
  readonly reliability_band: string;
  readonly verified_routes: number;
  readonly networks: string;
  readonly seen_networks: string;
  readonly price_min: number;
}

/** Stands for a listing without any priced route of the kind. */
const NO_PRICE = -1;

const KEY = ['network', 'proved', 'category', 'band', 'verified', 'is_seen', 'is_unseen', 'price'];

const ADD = `INSERT INTO counts VALUES (${KEY.map((name) => `@${name}`).join(', ')}, @step)
  ON CONFLICT DO UPDATE SET listings = listings + excluded.listings`;
const DROP = `DELETE FROM counts WHERE listings = 0 AND ${KEY.map((name) => `${name} = @${name}`).join(' AND ')}`;

/**
 * Adds a live listing of the file to the table of counts (`step` 1), or subtracts it (-1). Does nothing for a listing that is
 * missing or not live.
 */
export function countListing(published: Published, number: number, step: 1 | -1): void {
  const listing = published
    .prepare<CountedListing>(`SELECT ${FILTERED} FROM listings WHERE number = ? AND state = 'live'`)
    .get(number);
  if (!listing) return;
  const [add, drop] = [published.prepare(ADD), published.prepare(DROP)];
  for (const row of listCounted(listing)) {
    add.run({ ...row, step });
    if (step < 0) drop.run(row);
  }
}

/**
 * Lists the rows of the table of counts that a listing is counted in: for any network and each of its networks, for all its
 * routes and for proved routes alone.
 */
function listCounted(listing: CountedListing): Record<string, string | number>[] {
  const networks = networkKey.options.filter((key) => listing.networks.split(' ').includes(key));
  const seen = listing.seen_networks.split(' ');
  const rows = [undefined, ...networks].flatMap((network) =>
    [false, true].map((isProved) => ({
      network: network ?? '',
      proved: Number(isProved),
      category: listing.category,
      band: listing.reliability_band,
      verified: Number(listing.verified_routes > 0),
      is_seen: Number(network === undefined ? listing.seen_networks !== '' : seen.includes(network)),
      is_unseen: Number(network === undefined ? listing.networks !== listing.seen_networks : !seen.includes(network)),
      price: findPrice(listing, network === undefined ? networkKey.options : [network], isProved),
    })),
  );
  // A row without a price is needed only for queries on any network and without proof.
  return rows.filter(({ network, proved, price }) => price !== NO_PRICE || (network === '' && proved === 0));
}

/** Returns the lowest price limit that lets the listing pass by one of its routes, in atomic USDC. */
function findPrice(listing: CountedListing, networks: readonly NetworkKey[], isProved: boolean): number {
  const prices = networks.flatMap((network) => listing[getPriceColumn(network, isProved)] ?? []).map(Number);
  return prices.length === 0 ? NO_PRICE : Math.max(listing.price_min, Math.min(...prices));
}

/**
 * Returns the number of live listings that pass a query without words, from the table of counts; undefined if the query has a
 * filter that the table does not cover.
 */
export function countByTable(published: Published, query: Filters): number | undefined {
  const condition = buildCountCondition(query);
  if (!condition) return undefined;
  const sql = `SELECT coalesce(sum(listings), 0) AS count FROM counts WHERE ${condition.sql}`;
  return published.prepare<{ count: number }>(sql).get(condition.values)?.count ?? 0;
}

/**
 * Returns the number of live listings for each value of each filter: those that would pass if that filter had that value and all
 * others stayed as they are. The query has no words. Undefined if it has a filter that the table of counts does not cover.
 */
export function countFacetsByTable(published: Published, query: Filters): Facets | undefined {
  if (!buildCountCondition(query)) return undefined;
  const countByColumn = (column: 'category' | 'band') => {
    const { [column]: _any, ...others } = query;
    const { sql = '', values = {} } = buildCountCondition(others) ?? {};
    const rows = published
      .prepare<{ value: string; count: number }>(
        `SELECT ${column} AS value, sum(listings) AS count FROM counts WHERE ${sql} GROUP BY ${column}`,
      )
      .all(values);
    const counts = new Map(rows.map(({ value, count }) => [value, count]));
    return FACET_VALUES[column].map((value) => ({ value, count: counts.get(value) ?? 0 }));
  };
  const countEach = (name: FacetName) =>
    FACET_VALUES[name].map((value) => {
      const narrowed = { ...query, [name]: name === 'verified' ? value === 'true' : value };
      return { value, count: countByTable(published, narrowed) ?? 0 };
    });
  return Object.fromEntries(
    FACET_NAMES.map((name) => [name, name === 'category' || name === 'band' ? countByColumn(name) : countEach(name)]),
  ) as Facets;
}
