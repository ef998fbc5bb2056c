import type { Scores } from '../search/ranking.ts';
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
  /** With `q`: how well it is answered. */
  answer: Answer | undefined;
  /** Where the next page starts; undefined on the last one. */
  next_cursor: string | undefined;
  /** Gives the cursor of a page cut short to so many entries, which is at least one and fewer than there are. */
  getCursorAfter(count: number): string;
}

/** How well a request in words is answered. */
export interface Answer {
  /** How much of the request each entry of the page answers, from 0 to 1, rounded. */
  readonly matches: readonly number[];
  /** Even the best of all that match answers little of the request. */
  readonly isWeak: boolean;
  /** Words of the request that nothing stands for, so many at most as are worth saying. */
  readonly unmatched: readonly string[];
}

/** A best match below this is weak. A whole sentence has many words that no listing answers; a few words should be found. */
const WEAK_BELOW = { fewWords: 0.5, sentence: 0.2 };
const FEW_WORDS = 6;

/** Most words that are said to be unmatched. */
const UNMATCHED_MAX = 12;

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
  const asked = words?.buildPlan(query.q ?? '');
  const plan = cursor?.plan ?? asked?.plan ?? [];
  const scores = words?.score(plan);
  const { total, after, placed, best } = placeEntries(snapshot, {
    query,
    sort,
    cursor,
    find: words && scores && createFinder(words, scores),
  });
  const getCursorAfter = (count: number) => {
    const last = placed[count - 1];
    return buildCursor({ after: { key: last?.key ?? 0, slug: last?.entry.slug ?? '' }, plan }, query, sort);
  };
  return {
    total,
    entries: placed.map(({ entry }) => entry),
    answer: words &&
      scores && {
        matches: placed.map(({ entry }) => roundMatch(scores.matches[words.getNumber(entry.slug)] ?? 0)),
        isWeak: best < (plan.length <= FEW_WORDS ? WEAK_BELOW.fewWords : WEAK_BELOW.sentence),
        unmatched: asked?.unmatched.slice(0, UNMATCHED_MAX) ?? [],
      },
    next_cursor: after > placed.length ? getCursorAfter(placed.length) : undefined,
    getCursorAfter,
  };
}

/** An entry and what the order compares. */
interface Placed {
  readonly entry: ListingEntry;
  readonly key: number;
}

/** Opens a chunk to be looked through: tells of the entry at a place its relevance, 0 where it does not match, and its match. */
type Find = (chunk: Chunk) => { getRelevance(at: number): number; getMatch(at: number): number };

function roundMatch(match: number): number {
  return Math.round(100 * match) / 100;
}

/** Goes through all entries by slug: counts those that match and those after the cursor, and keeps the first of these. */
function placeEntries(
  { chunks, live_listings }: Snapshot,
  {
    query,
    sort,
    cursor,
    find,
  }: { query: ListQuery; sort: ListSort; cursor: Cursor | undefined; find: Find | undefined },
): { total: number; after: number; placed: Placed[]; best: number } {
  const isPassing = buildFilter(query);
  const top = createTop<ListingEntry>(query.limit);
  const { key: lastKey, slug: lastSlug } = cursor?.after ?? { key: Number.NEGATIVE_INFINITY, slug: '' };
  let total = 0;
  let after = 0;
  let best = 0;
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
    const found = find?.(chunk);
    for (let at = 0; at < entries.length; at += 1) {
      const relevance = found === undefined ? 0 : found.getRelevance(at);
      if (found !== undefined && relevance === 0) continue;
      if (isPassing !== undefined && !isPassing(columns, at)) continue;
      total += 1;
      if (found !== undefined) best = Math.max(best, found.getMatch(at));
      const key = getSortKey(sort, columns, at, relevance);
      const entry = entries[at] as ListingEntry;
      if (key < lastKey || (key === lastKey && (isPast || (!isAhead && entry.slug <= lastSlug)))) continue;
      after += 1;
      top.offer(key, entry);
    }
  }
  const isWhole = find === undefined && isPassing === undefined;
  return { total: isWhole ? live_listings : total, after, placed: top.list(), best };
}

/** Makes what finds entries by a plan: relevance first, then verification and reliability. */
function createFinder(words: WordIndex, { scores, matches }: Scores): Find {
  return (chunk) => {
    const numbers = words.listNumbers(chunk);
    const { bonuses } = getColumns(chunk);
    return {
      getRelevance(at) {
        const score = scores[numbers[at] as number] ?? 0;
        return score === 0 ? 0 : score + (bonuses[at] as number);
      },
      getMatch: (at) => matches[numbers[at] as number] ?? 0,
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
