import type { ListSort } from '../views/listing/query.ts';
import { countByTable } from './counts.ts';
import type { Cursor } from './cursor.ts';
import type { Published } from './file.ts';
import { buildListingCondition, buildRouteCondition, type Filters } from './filters.ts';
import type { ListingRef } from './listings.ts';
import { findNamedRoutes } from './named-routes.ts';
import { ORDERS } from './orders.ts';

/** A listing of a page of a list, and the value that its order compares. */
type Listed = ListingRef & { readonly key: number };

/**
 * Lists the first listings that pass a query in an order, or the first ones after an entry, from the index of the order. The
 * filters for words, clients (`can`) and paths are ignored.
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

/** Returns the number of listings that pass a query, with the same filters as `listPassing`. */
export function countPassing(published: Published, query: Filters): number {
  const counted = countByTable(published, query);
  if (counted !== undefined) return counted;
  const { sql, values } = buildCondition(published, query);
  const select = `SELECT count(*) AS count FROM listings WHERE ${sql}`;
  return published.prepare<{ count: number }>(select).get(values)?.count ?? 0;
}

function buildCondition(published: Published, query: Filters): { sql: string; values: object } {
  const { sql, values } = buildListingCondition(query);
  const named = findNamedRoutes(published, { host: query.host });
  return {
    sql: `${sql} AND ${buildRouteCondition(query)}${named ? ' AND number IN (SELECT value FROM json_each(@named))' : ''}`,
    values: { ...values, ...(named && { named: JSON.stringify([...named.keys()]) }) },
  };
}
