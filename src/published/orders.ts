import type { ListSort } from '../views/listing/query.ts';

/** An order by a number of each listing. Relevance and name need none. */
export type KeyedSort = Exclude<ListSort, 'relevance' | 'name'>;

const inMs = (time: string) => `round(1000 * unixepoch(${time}, 'subsec'))`;

/**
 * The numbers that orders compare, over a row of `listings`. They sort upwards, so the first listing has the smallest. `behind`
 * is added for listings that answer little of a request, which puts them after all others: it is more than any two numbers of the
 * order differ.
 */
export const ORDERS: Readonly<Record<KeyedSort, { readonly sql: string; readonly behind: number }>> = {
  price: { sql: 'price_min / 1e6', behind: 1e10 },
  updated: { sql: `-${inMs('updated_at')}`, behind: 1e13 },
  reliability: { sql: '-coalesce(reliability_score, -1)', behind: 1e3 },
  latency: { sql: 'coalesce(latency_median_ms, 1000000000)', behind: 1e10 },
  proof: { sql: `-coalesce(${inMs('verified_at')}, 0)`, behind: 1e13 },
};
