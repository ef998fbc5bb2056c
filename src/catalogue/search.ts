import type { Catalogue } from './database.ts';
import { splitIdentifiers } from './search-index.ts';

/** Weights of title, tagline, description, provider, category and routes in the ranking (bm25). */
const FIELD_WEIGHTS = [0, 10, 5, 2, 4, 2, 1.5];

/** Words of requests that say nothing about what is asked for. */
const STOP_WORDS = new Set(
  'a an and any api apis are as at be by can do does for from get give have how i in into is it its me my need of on or please some that the their them there this to use want what when where which who whose will with you your'.split(
    ' ',
  ),
);

/** A listing that matches, the smaller rank the better. */
export interface SearchHit {
  listing_id: string;
  rank: number;
}

/**
 * Finds live listings by words of their title, tagline, description, provider, category or routes, the best first. Any
 * word may match; a request of stop words alone is searched as it is. Gives none for text without letters or digits.
 */
export function searchListings({ sqlite, statements }: Catalogue, request: string): SearchHit[] {
  const match = buildMatch(request);
  if (!match) return [];
  const sql = `SELECT listing_id, bm25(listing_search, ${FIELD_WEIGHTS.join(', ')}) AS rank
    FROM listing_search WHERE listing_search MATCH ? ORDER BY rank, listing_id`;
  const statement = statements.get(sql) ?? sqlite.prepare(sql);
  statements.set(sql, statement);
  return statement.all(match) as SearchHit[];
}

/** Builds the FTS5 query: each word quoted, so that nothing in a request is read as query syntax. */
function buildMatch(request: string): string {
  const words =
    splitIdentifiers(request)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, 32) ?? [];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return [...new Set(telling.length > 0 ? telling : words)].map((word) => `"${word}"`).join(' OR ');
}
