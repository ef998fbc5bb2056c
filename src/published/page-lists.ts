import { CATEGORIES, type Category } from '../model/catalogue.ts';
import type { ListQuery } from '../views/listing/query.ts';
import { PAGE_SIZE } from '../views/pages/lists.ts';
import type { Published } from './file.ts';
import { buildListingCondition, buildRouteCondition } from './filters.ts';
import { countPassing } from './indexed-lists.ts';
import type { LiveRef } from './listings.ts';
import type { Snapshot } from './snapshot.ts';

/** The filter of a list of pages: a category, a network, or verified listings. */
export type ListFilter = Pick<ListQuery, 'category' | 'network' | 'verified'>;

const numbersOf = new WeakMap<Snapshot, Map<string, Uint32Array>>();

/**
 * Returns the row numbers of a list's listings, those that `/agent/list` finds by the same filter, read once for each snapshot:
 * verified ones first, then the others; in both groups marked ones last, then by slug.
 */
function getNumbers(published: Published, snapshot: Snapshot, shown: ListFilter): Uint32Array {
  const kept = numbersOf.get(snapshot) ?? new Map<string, Uint32Array>();
  numbersOf.set(snapshot, kept);
  const key = JSON.stringify(shown);
  const { sql, values } = buildListingCondition(shown);
  const read = `SELECT number FROM listings WHERE ${sql} AND ${buildRouteCondition(shown)}
    ORDER BY verified_routes > 0 DESC, marked IS NOT NULL, slug`;
  const numbers =
    kept.get(key) ?? Uint32Array.from(published.sqlite.prepare<[object], number>(read).pluck().all(values));
  kept.set(key, numbers);
  return numbers;
}

/** One page of a list, and whether another page follows. */
export interface ListPart {
  readonly listings: readonly LiveRef[];
  readonly page: number;
  readonly has_next: boolean;
  readonly total: number;
}

/** Finds a page of a list by its number, from 1. Page 1 exists even if the list is empty. */
export function findListPart(
  published: Published,
  snapshot: Snapshot,
  shown: ListFilter,
  page: number,
): ListPart | undefined {
  const read = published.prepare<LiveRef>('SELECT number, slug, revision FROM listings WHERE number = ?');
  const numbers = getNumbers(published, snapshot, shown);
  const start = (page - 1) * PAGE_SIZE;
  if (!Number.isInteger(page) || page < 1 || (page > 1 && start >= numbers.length)) return undefined;
  return {
    listings: Array.from(numbers.subarray(start, start + PAGE_SIZE), (number) => read.get(number) as LiveRef),
    page,
    has_next: start + PAGE_SIZE < numbers.length,
    total: numbers.length,
  };
}

/** Returns the number of listings in each category. */
export function countByCategory(published: Published): ReadonlyMap<Category, number> {
  return new Map(CATEGORIES.map((category) => [category, countPassing(published, { category })]));
}
