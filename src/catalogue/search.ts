import type { Catalogue } from './database.ts';
import { splitIdentifiers } from './search-index.ts';

/** What a word weighs by the field it is in. */
const FIELD_WEIGHTS = { title: 10, tagline: 5, description: 2, provider: 4, category: 2, routes: 1.5 };

/** Saturation, as in BM25: the more of its fields a word is in, the less another one adds. */
const SATURATION = 1.2;

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
 *
 * Unlike FTS5's own bm25, a rank depends on nothing but the listing, the request and `weights` (see `weighWords`): with
 * the same weights, listings that did not change keep their order whatever comes or goes around them. How often a field
 * repeats a word counts for nothing, since a provider decides that alone.
 */
export function searchListings(
  catalogue: Catalogue,
  request: string,
  weights: readonly number[] = weighWords(catalogue, request),
): SearchHit[] {
  const ranks = new Map<number, number>();
  for (const [index, word] of listWords(request).entries()) {
    for (const [number, found] of findFields(catalogue, word)) {
      const gain = ((weights[index] ?? 0) * found) / (found + SATURATION);
      ranks.set(number, (ranks.get(number) ?? 0) - gain);
    }
  }
  const ids = prepare(catalogue, 'SELECT number, id FROM listings WHERE number IN (SELECT value FROM json_each(?))');
  const rows = ids.all(JSON.stringify([...ranks.keys()])) as { number: number; id: string }[];
  const hits = rows.map(({ number, id }) => ({ listing_id: id, rank: ranks.get(number) ?? 0 }));
  return hits.sort((a, b) => a.rank - b.rank || (a.listing_id < b.listing_id ? -1 : 1));
}

/** Weighs the words of a request as of now, the rarer the more (inverse document frequency, as in BM25), to two decimals. */
export function weighWords(catalogue: Catalogue, request: string): number[] {
  const count = prepare(catalogue, 'SELECT count(*) FROM listing_search WHERE listing_search MATCH ?').pluck();
  const all = Number(prepare(catalogue, 'SELECT count(*) FROM listing_search_docsize').pluck().get());
  return listWords(request).map((word) => {
    const found = Number(count.get(word));
    return Math.max(0.01, Math.round(100 * Math.log(1 + (all - found + 0.5) / (found + 0.5))) / 100);
  });
}

/** Gives the listings that a word is in, by number, with the weights of the fields it is in added up. */
function findFields(catalogue: Catalogue, word: string): Map<number, number> {
  const find = prepare(catalogue, 'SELECT rowid FROM listing_search WHERE listing_search MATCH ?').pluck();
  const found = new Map<number, number>();
  for (const [field, weight] of Object.entries(FIELD_WEIGHTS)) {
    for (const number of find.all(`{${field}} : ${word}`) as number[]) {
      found.set(number, (found.get(number) ?? 0) + weight);
    }
  }
  return found;
}

function prepare({ sqlite, statements }: Catalogue, sql: string) {
  const statement = statements.get(sql) ?? sqlite.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

/** Lists the telling words of a request, each once and quoted, so that nothing in a request is read as query syntax. */
function listWords(request: string): string[] {
  const words =
    splitIdentifiers(request)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, 32) ?? [];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return [...new Set(telling.length > 0 ? telling : words)].map((word) => `"${word}"`);
}
