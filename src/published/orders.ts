import type { ListSort } from '../views/listing/query.ts';

/** An order by what is known of listings; that of relevance and that of names need no numbers. */
export type KeyedSort = Exclude<ListSort, 'relevance' | 'name'>;

const inMs = (time: string) => `round(1000 * unixepoch(${time}, 'subsec'))`;

/**
 * What each order compares, over a row of `listings`: numbers that sort upwards, so what should come first is the smaller. By
 * `behind` the listings that answer little of a request come after all others: it is more than any two numbers of the order differ.
 */
export const ORDERS: Readonly<Record<KeyedSort, { readonly sql: string; readonly behind: number }>> = {
  price: { sql: 'price_min / 1e6', behind: 1e10 },
  updated: { sql: `-${inMs('updated_at')}`, behind: 1e13 },
  reliability: { sql: '-coalesce(reliability_score, -1)', behind: 1e3 },
  latency: { sql: 'coalesce(latency_median_ms, 1000000000)', behind: 1e10 },
  proof: { sql: `-coalesce(${inMs('verified_at')}, 0)`, behind: 1e13 },
};
