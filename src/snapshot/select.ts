import type { Plan } from '../search/plan.ts';
import { getListSort, type ListQuery, type ListSort } from '../views/list-query.ts';
import { buildFilter, type Columns, getColumns } from './columns.ts';
import { buildCursor, type Cursor, parseCursor } from './cursor.ts';
import type { ListingEntry } from './entry.ts';
import type { Reading } from './reading.ts';
import type { Snapshot } from './snapshot.ts';
import { createTop } from './top.ts';
import { getWordIndex, type WordIndex } from './word-index.ts';

/** One page of the listings that match a query, and how many match in all. */
export interface Selection {
  total: number;
  entries: ListingEntry[];
  /** Where the next page starts; undefined on the last one. */
  next_cursor: string | undefined;
  /** Gives the cursor of a page cut short to so many entries, which is at least one and fewer than there are. */
  getCursorAfter(count: number): string;
}

type Chunk = Snapshot['chunks'][number];

/**
 * Selects the page of live listings that a query asks for. A cursor is a place in the order, not a count, so listings that
 * come or go between pages shift nothing: what is there the whole time and does not change is shown once. Throws
 * `bad_input` (`bad_cursor`) for a cursor of another query or none at all.
 */
export function selectListings(
  { catalogue }: Pick<Reading, 'catalogue'>,
  snapshot: Snapshot,
  query: ListQuery,
): Selection {
  const sort = getListSort(query);
  const cursor = query.cursor === undefined ? undefined : parseCursor(query.cursor, query, sort);
  const words = query.q === undefined ? undefined : getWordIndex(catalogue, snapshot);
  const plan = cursor?.plan ?? words?.buildPlan(query.q ?? '') ?? [];
  const { total, after, placed } = placeEntries(snapshot, {
    query,
    sort,
    cursor,
    find: words && createFinder(words, plan),
  });
  const getCursorAfter = (count: number) => {
    const last = placed[count - 1];
    return buildCursor({ after: { key: last?.key ?? 0, slug: last?.entry.slug ?? '' }, plan }, query, sort);
  };
  return {
    total,
    entries: placed.map(({ entry }) => entry),
    next_cursor: after > placed.length ? getCursorAfter(placed.length) : undefined,
    getCursorAfter,
  };
}

/** An entry and what the order compares. */
interface Placed {
  readonly entry: ListingEntry;
  readonly key: number;
}

/** Opens a chunk to be looked through: what it gives tells the relevance of the entry at a place, 0 where it does not match. */
type Find = (chunk: Chunk) => (at: number) => number;

/** Goes through all entries by slug: counts those that match and those after the cursor, and keeps the first of these. */
function placeEntries(
  { chunks, live_listings }: Snapshot,
  {
    query,
    sort,
    cursor,
    find,
  }: { query: ListQuery; sort: ListSort; cursor: Cursor | undefined; find: Find | undefined },
): { total: number; after: number; placed: Placed[] } {
  const isPassing = buildFilter(query);
  const top = createTop<ListingEntry>(query.limit);
  const { key: lastKey, slug: lastSlug } = cursor?.after ?? { key: Number.NEGATIVE_INFINITY, slug: '' };
  let total = 0;
  let after = 0;
  for (const chunk of chunks) {
    const columns = getColumns(chunk);
    const { entries } = chunk;
    // Slugs are compared only in the one chunk that the cursor's is in.
    const isPast = cursor !== undefined && (entries.at(-1)?.slug ?? '') <= lastSlug;
    const isAhead = cursor === undefined || (entries[0]?.slug ?? '') > lastSlug;
    if (sort === 'name' && find === undefined && isPassing === undefined) {
      // Nothing to look at but names: whole chunks are counted.
      if (isPast) continue;
      if (isAhead && top.isFull()) {
        after += entries.length;
        continue;
      }
    }
    const getRelevance = find?.(chunk);
    for (let at = 0; at < entries.length; at += 1) {
      const relevance = getRelevance === undefined ? 0 : getRelevance(at);
      if (getRelevance !== undefined && relevance === 0) continue;
      if (isPassing !== undefined && !isPassing(columns, at)) continue;
      total += 1;
      const key = getSortKey(sort, columns, at, relevance);
      const entry = entries[at] as ListingEntry;
      if (key < lastKey || (key === lastKey && (isPast || (!isAhead && entry.slug <= lastSlug)))) continue;
      after += 1;
      top.offer(key, entry);
    }
  }
  const isWhole = find === undefined && isPassing === undefined;
  return { total: isWhole ? live_listings : total, after, placed: top.list() };
}

/** Makes what finds entries by a plan: relevance first, then verification and reliability. */
function createFinder(words: WordIndex, plan: Plan): Find {
  const scores = words.score(plan);
  return (chunk) => {
    const numbers = words.listNumbers(chunk);
    const { bonuses } = getColumns(chunk);
    return (at) => {
      const score = scores[numbers[at] as number] ?? 0;
      return score === 0 ? 0 : score + (bonuses[at] as number);
    };
  };
}

/** Gives what a sort compares; everything sorts upwards, so what should come first is the smaller. */
function getSortKey(sort: ListSort, { keys }: Columns, at: number, relevance: number): number {
  switch (sort) {
    case 'relevance':
      return -relevance;
    case 'name':
      return 0;
    default:
      return keys[sort][at] as number;
  }
}
