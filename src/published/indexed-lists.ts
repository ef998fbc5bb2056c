import { LRUCache } from 'lru-cache';
import type { ListQuery, ListSort } from '../views/listing/query.ts';
import type { Cursor } from './cursor.ts';
import type { Published } from './file.ts';
import { buildListingCondition, buildRouteCondition } from './filters.ts';
import type { ListingRef } from './listings.ts';
import { findNamedRoutes } from './named-routes.ts';
import { ORDERS } from './orders.ts';
import type { Snapshot } from './snapshot.ts';

/** A listing of a page of a list, and what its order compares. */
type Listed = ListingRef & { readonly key: number };

/** What a list can be asked. */
type Filters = Partial<Omit<ListQuery, 'q' | 'can' | 'path'>>;

/**
 * Lists the first listings that pass a query in an order, or the first ones after an entry, by the index of the order. What is asked in
 * words, of clients and by paths is left out of account.
 */
export function listPassing(
  published: Published,
  query: Filters,
  { sort, after, limit }: { sort: ListSort; after?: Cursor['after'] | undefined; limit: number },
): Listed[] {
  const { sql, values } = buildCondition(published, query);
  const key = sort === 'name' || sort === 'relevance' ? undefined : ORDERS[sort].sql;
  const read = (where: string, order: string, count: number) =>
    published
      .prepare<Listed>(
        `SELECT number, slug, ${key ?? 0} AS key FROM listings WHERE ${sql} AND ${where} ORDER BY ${order} LIMIT +@count`,
      )
      .all({ ...values, ...after, count });
  if (key === undefined) return read(after ? 'slug > +@slug' : 'TRUE', 'slug', limit);
  if (!after) return read('TRUE', `${key}, slug`, limit);
  const even = read(`${key} = +@key AND slug > +@slug`, 'slug', limit);
  return even.length === limit ? even : [...even, ...read(`${key} > +@key`, `${key}, slug`, limit - even.length)];
}

/** For how many sets of filters the count is kept, of one snapshot. */
const KEPT_COUNTS = 1000;

const countsOf = new WeakMap<Snapshot, LRUCache<string, number>>();

/** Counts the listings that pass a query, as `listPassing` lists them; for each set of filters once for a snapshot. */
export function countPassing(published: Published, snapshot: Snapshot, query: Filters): number {
  const kept = countsOf.get(snapshot) ?? new LRUCache<string, number>({ max: KEPT_COUNTS });
  countsOf.set(snapshot, kept);
  const { sql, values } = buildCondition(published, query);
  const key = `${sql} ${JSON.stringify(values)}`;
  const select = `SELECT count(*) AS count FROM listings WHERE ${sql}`;
  const count = kept.get(key) ?? published.prepare<{ count: number }>(select).get(values)?.count ?? 0;
  kept.set(key, count);
  return count;
}

function buildCondition(published: Published, query: Filters): { sql: string; values: object } {
  const { sql, values } = buildListingCondition(query);
  const named = findNamedRoutes(published, { host: query.host });
  return {
    sql: `${sql} AND ${buildRouteCondition(query)}${named ? ' AND number IN (SELECT value FROM json_each(@named))' : ''}`,
    values: { ...values, ...(named && { named: JSON.stringify([...named.keys()]) }) },
  };
}
