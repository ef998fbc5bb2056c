import { listMissing } from '../evidence/abilities.ts';
import { parseAbilities } from '../model/ability.ts';
import type { ListSort } from '../views/listing/query.ts';
import { countByTable } from './counts.ts';
import type { Cursor } from './cursor.ts';
import type { Published } from './file.ts';
import { buildListingCondition, buildOfferCondition, buildRouteCondition, type Filters } from './filters.ts';
import type { ListingRef } from './listings.ts';
import { findNamedRoutes, type NamedRoutes } from './named-routes.ts';
import { ORDERS } from './orders.ts';

/** A listing of a page of a list, and the value that its order compares. */
interface Listed extends ListingRef {
  readonly key: number;
}

/**
 * Lists the first listings that pass a query in an order, or the first ones after an entry, from the index of the order. The
 * query's words are ignored. `position` is that of the first route that passes, if the query has a path.
 */
export function listPassing(
  published: Published,
  query: Filters,
  { sort, after, limit }: { sort: ListSort; after?: Cursor['after'] | undefined; limit: number },
): (Listed & { readonly position?: number })[] {
  const { sql, values, named } = buildCondition(published, query);
  const key = sort === 'name' || sort === 'relevance' ? undefined : ORDERS[sort].sql;
  const read = (where: string, order: string, count: number) =>
    published
      .prepare<Listed>(
        `SELECT number, slug, ${key ?? 0} AS key FROM listings WHERE ${sql} AND ${where} ORDER BY ${order} LIMIT +@count`,
      )
      .all({ ...values, ...after, count });
  const list = () => {
    if (key === undefined) return read(after ? 'slug > +@slug' : 'TRUE', 'slug', limit);
    if (!after) return read('TRUE', `${key}, slug`, limit);
    const even = read(`${key} = +@key AND slug > +@slug`, 'slug', limit);
    return even.length === limit ? even : [...even, ...read(`${key} > +@key`, `${key}, slug`, limit - even.length)];
  };
  if (query.path === undefined) return list();
  const findPosition = openPositions(published, query, { values, named });
  return list().map((listed) => ({ ...listed, position: findPosition(listed) }));
}

/** Returns the number of listings that pass a query, with the same filters as `listPassing`. */
export function countPassing(published: Published, query: Filters): number {
  const counted = countByTable(published, query);
  if (counted !== undefined) return counted;
  const { sql, values } = buildCondition(published, query);
  const select = `SELECT count(*) AS count FROM listings WHERE ${sql}`;
  return published.prepare<{ count: number }>(select).get(values)?.count ?? 0;
}

/** The condition that a listing passes, the values that it binds, and the routes that the query names. */
interface Condition {
  readonly sql: string;
  readonly values: object;
  readonly named: NamedRoutes | undefined;
}

function buildCondition(published: Published, query: Filters): Condition {
  const { sql, values } = buildListingCondition(query);
  const named = findNamedRoutes(published, query);
  const isNamed = named ? 'number IN (SELECT value ->> 0 FROM json_each(@named))' : 'TRUE';
  return {
    sql: `${sql} AND ${isNamed} AND ${buildRouteCondition(query)}`,
    values: {
      ...values,
      ...(named && { named: JSON.stringify(listNamed(named)) }),
      ...(query.can !== undefined && { payable: JSON.stringify(listPayable(published, query.can)) }),
    },
    named,
  };
}

/** Lists the listing and the position of each named route; the listing alone if all its routes are named. */
function listNamed(named: NamedRoutes): number[][] {
  return [...named].flatMap(([listing, positions]) =>
    positions ? Array.from(positions, (position) => [listing, position]) : [[listing]],
  );
}

/** Goes from each needs of the index to the next ones. */
const NEEDS = `WITH RECURSIVE known(needs) AS (
  SELECT min(needs) FROM offers
  UNION ALL SELECT (SELECT min(needs) FROM offers WHERE offers.needs > known.needs) FROM known WHERE needs IS NOT NULL
) SELECT needs FROM known WHERE needs IS NOT NULL`;

/** Lists the needs of offers, as the file has them, that a client can meet. */
function listPayable(published: Published, can: string): string[] {
  const abilities = parseAbilities(can);
  const known = published.prepare<{ needs: string }>(NEEDS).all();
  return known.map(({ needs }) => needs).filter((needs) => listMissing(needs.split(' '), abilities).length === 0);
}

/** Returns the function that finds the position of the first route of a passing listing that passes a query with a path. */
function openPositions(published: Published, query: Filters, { values, named }: Omit<Condition, 'sql'>) {
  const ofOffer = buildOfferCondition(query);
  if (ofOffer === undefined) return ({ number }: ListingRef) => Math.min(...(named?.get(number) ?? []));
  const statement = published.prepare<{ position: number }>(
    `SELECT min(position) AS position FROM offers WHERE listing = @number AND ${ofOffer}`,
  );
  return ({ number }: ListingRef) => statement.get({ ...values, number })?.position ?? 0;
}
