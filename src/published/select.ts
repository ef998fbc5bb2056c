import type { Scores } from '../search/ranking.ts';
import { getListSort, type ListQuery, type ListSort } from '../views/listing/query.ts';
import { buildFilter, type Columns, findNextPlace, getRef } from './columns.ts';
import { buildCursor, type Cursor, parseCursor } from './cursor.ts';
import type { Published } from './file.ts';
import type { ListingRef } from './listings.ts';
import type { Snapshot } from './snapshot.ts';
import { createTop } from './top.ts';
import { getWordIndex } from './word-index.ts';

/** One page of the listings that match a query, and how many match in all. */
export interface Selection {
  total: number;
  listings: ListingRef[];
  /** With `q`: how well it is answered. */
  answer: Answer | undefined;
  /** Where the next page starts; undefined on the last one. */
  next_cursor: string | undefined;
  /** Gives the cursor of a page that is cut short to `count` listings: at least one, and fewer than there are. */
  getCursorAfter(count: number): string;
}

/** How well a request in words is answered. */
export interface Answer {
  /** How much of the request each listing of the page answers, from 0 to 1, rounded. */
  readonly matches: readonly number[];
  /** Even the best of all that match answers little of the request. */
  readonly isWeak: boolean;
  /** Words of the request that no listing has, at most `UNMATCHED_MAX`. */
  readonly unmatched: readonly string[];
}

/** A best match below this is weak. A whole sentence has many words that no listing answers; a few words should be found. */
const WEAK_BELOW = { fewWords: 0.5, sentence: 0.2 };
const FEW_WORDS = 6;

/** Most words that are said to be unmatched. */
const UNMATCHED_MAX = 12;

/**
 * Selects the page of live listings that a query asks for. A cursor is a place in the order, not a count, so listings that
 * come or go between pages shift nothing: what is there the whole time and does not change is shown once. Throws
 * `bad_input` (`bad_cursor`) for a cursor of another query or none at all. Call it while the file stays at the
 * revision of the snapshot.
 */
export function selectListings(published: Published, snapshot: Snapshot, query: ListQuery): Selection {
  const sort = getListSort(query);
  const cursor = query.cursor === undefined ? undefined : parseCursor(query.cursor, query, sort);
  const words = query.q === undefined ? undefined : getWordIndex(published, snapshot);
  const asked = words?.buildPlan(query.q ?? '');
  const plan = cursor?.plan ?? asked?.plan ?? [];
  const scores = words?.score(plan);
  const { total, after, placed, best } = placeListings(snapshot, { query, sort, cursor, scores });
  const { columns } = snapshot;
  const getCursorAfter = (count: number) => {
    const last = placed[count - 1];
    const slug = last === undefined ? '' : (columns.slugs[last.item] as string);
    return buildCursor({ after: { key: last?.key ?? 0, slug }, plan }, query, sort);
  };
  const listings = placed.map(({ item }) => getRef(columns, item));
  return {
    total,
    listings,
    answer: words &&
      scores && {
        matches: listings.map(({ number }) => roundMatch(scores.matches[number] ?? 0)),
        isWeak: best < (plan.length <= FEW_WORDS ? WEAK_BELOW.fewWords : WEAK_BELOW.sentence),
        unmatched: asked?.unmatched.slice(0, UNMATCHED_MAX) ?? [],
      },
    next_cursor: after > placed.length ? getCursorAfter(placed.length) : undefined,
    getCursorAfter,
  };
}

function roundMatch(match: number): number {
  return Math.round(100 * match) / 100;
}

/** Goes through all listings by slug: counts those that match and those after the cursor, and keeps the places of the first of these. */
function placeListings(
  { columns, live_listings }: Snapshot,
  {
    query,
    sort,
    cursor,
    scores,
  }: { query: ListQuery; sort: ListSort; cursor: Cursor | undefined; scores: Scores | undefined },
): { total: number; after: number; placed: { key: number; item: number }[]; best: number } {
  const { slugs, numbers, bonuses } = columns;
  const isPassing = buildFilter(columns, query);
  const top = createTop<number>(query.limit);
  const lastKey = cursor?.after.key ?? Number.NEGATIVE_INFINITY;
  /** The first place whose slug comes after the cursor's: slugs settle even keys. */
  const nextPlace = cursor === undefined ? 0 : findNextPlace(columns, `${cursor.after.slug}\0`);
  if (sort === 'name' && scores === undefined && isPassing === undefined) {
    // Nothing to look at but names.
    const places = Array.from({ length: Math.min(query.limit, slugs.length - nextPlace) }, (_, at) => nextPlace + at);
    const placed = places.map((item) => ({ key: 0, item }));
    return { total: live_listings, after: slugs.length - nextPlace, placed, best: 0 };
  }
  let [total, after, best] = [0, 0, 0];
  for (let place = 0; place < slugs.length; place += 1) {
    const number = numbers[place] as number;
    const score = scores === undefined ? 0 : (scores.scores[number] ?? 0);
    if (scores !== undefined && score === 0) continue;
    if (isPassing !== undefined && !isPassing(place)) continue;
    total += 1;
    if (scores !== undefined) best = Math.max(best, scores.matches[number] ?? 0);
    const key = getSortKey(sort, columns, place, score + (bonuses[place] as number));
    if (key < lastKey || (key === lastKey && place < nextPlace)) continue;
    after += 1;
    top.offer(key, place);
  }
  return { total, after, placed: top.list(), best };
}

/** Gives what a sort compares; everything sorts upwards, so what should come first is the smaller. */
function getSortKey(sort: ListSort, { keys }: Columns, place: number, relevance: number): number {
  switch (sort) {
    case 'relevance':
      return -relevance;
    case 'name':
      return 0;
    default:
      return keys[sort][place] as number;
  }
}
