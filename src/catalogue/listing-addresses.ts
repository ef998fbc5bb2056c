import type { Catalogue } from './database.ts';
import type { ListingsTable } from './tables.ts';

/** Where a listing is, and of which revision it is. */
export type ListingAddress = Pick<ListingsTable, 'slug' | 'base_url' | 'state' | 'revision'>;

const COLUMNS = 'slug, base_url, state, listings.revision';

/** `@` sorts right after `?`: what lies between is the address with a query behind it. */
const AT = `
  SELECT ${COLUMNS} FROM json_each(@addresses) AS asked JOIN listings ON base_url = asked.value
  UNION ALL
  SELECT ${COLUMNS} FROM json_each(@addresses) AS asked
    JOIN listings ON base_url >= asked.value || '?' AND base_url < asked.value || '@'`;

/** `0` sorts right after `/`. */
const ON_ORIGIN = `
  SELECT ${COLUMNS} FROM listings WHERE base_url = @origin AND state = 'live'
  UNION ALL
  SELECT ${COLUMNS} FROM listings WHERE base_url >= @origin || '/' AND base_url < @origin || '0' AND state = 'live' LIMIT @limit`;

/** Lists the listings in any state whose base address is one of these, or is one of these with a query behind it. */
export function listListingsAt(catalogue: Catalogue, addresses: readonly string[]): ListingAddress[] {
  return prepare(catalogue, AT).all({ addresses: JSON.stringify(addresses) }) as ListingAddress[];
}

/** Lists the first live listings whose base address is on an origin. */
export function listLiveOnOrigin(catalogue: Catalogue, origin: string, limit: number): ListingAddress[] {
  return prepare(catalogue, ON_ORIGIN).all({ origin, limit }) as ListingAddress[];
}

function prepare({ sqlite, statements }: Catalogue, sql: string) {
  const statement = statements.get(sql) ?? sqlite.prepare(sql);
  statements.set(sql, statement);
  return statement;
}
