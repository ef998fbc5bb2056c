import { type NetworkKey, networkKey } from '../model/network.ts';
import { FACET_NAMES, FACET_VALUES, type FacetName, type Facets, type ListQuery } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import { buildCountCondition } from './filters.ts';
import { FILTERED, getPriceColumn } from './schema.ts';

/** What a list without words can be asked. */
type Filters = Partial<Omit<ListQuery, 'q'>>;

/** A row of a live listing, with what is counted by (`FILTERED`). */
interface CountedListing extends Readonly<Record<string, string | number | null>> {
  readonly category: string;
  readonly reliability_band: string;
  readonly verified_routes: number;
  readonly networks: string;
  readonly seen_networks: string;
  readonly price_min: number;
}

/** No route of that kind has a price. */
const NO_PRICE = -1;

const KEY = ['network', 'proved', 'category', 'band', 'verified', 'is_seen', 'is_unseen', 'price'];

const ADD = `INSERT INTO counts VALUES (${KEY.map((name) => `@${name}`).join(', ')}, @step)
  ON CONFLICT DO UPDATE SET listings = listings + excluded.listings`;
const DROP = `DELETE FROM counts WHERE listings = 0 AND ${KEY.map((name) => `${name} = @${name}`).join(' AND ')}`;

/**
 * Counts a live listing as it lies in the file: `step` is 1 for one that has come, and -1 for one that goes. One that is not there, or
 * not live, counts nothing.
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

/** Lists the keys under which a listing is counted: on any network and on each of its own, by all routes and by the proved ones. */
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
  // Without a price it is asked for by no network, and by no proof.
  return rows.filter(({ network, proved, price }) => price !== NO_PRICE || (network === '' && proved === 0));
}

/** Finds the least limit of prices that a listing passes by one of its routes, in atomic USDC. */
function findPrice(listing: CountedListing, networks: readonly NetworkKey[], isProved: boolean): number {
  const prices = networks.flatMap((network) => listing[getPriceColumn(network, isProved)] ?? []).map(Number);
  return prices.length === 0 ? NO_PRICE : Math.max(listing.price_min, Math.min(...prices));
}

/** Counts the live listings that pass a query without words by the table of counts; undefined where it asks what that does not tell. */
export function countByTable(published: Published, query: Filters): number | undefined {
  const condition = buildCountCondition(query);
  if (!condition) return undefined;
  const sql = `SELECT coalesce(sum(listings), 0) AS count FROM counts WHERE ${condition.sql}`;
  return published.prepare<{ count: number }>(sql).get(condition.values)?.count ?? 0;
}

/**
 * Counts the live listings that pass a query without words by the values of each filter: as many as would pass if the filter had that
 * value, all others being as they are. Undefined where it asks what the table of counts does not tell.
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
