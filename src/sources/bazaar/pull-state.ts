import type { ServedPage } from './page.ts';

/** Reason for the end of a pull. `complete` says whether all items from the first offset on were seen. */
export interface FeedEnd {
  reason: 'whole_file' | 'total_reached' | 'no_more_items' | 'offset_ignored' | 'page_limit';
  complete: boolean;
}

/** The state of a pull between two pages. */
export interface PullState {
  /** The requested page size. */
  readonly requested: number;
  readonly maxPages: number;
  pages: number;
  offset: number;
  /** The most items on any page so far. */
  largest: number;
  /** Pages in a row without new items. */
  idle: number;
  /** Sorted keys of the previous page. */
  previous: string;
  /** The first offset of the run of pages that equal the previous one. */
  previousFrom: number;
  /** Keys of all items so far. */
  readonly seen: Set<string>;
}

/**
 * Number of pages in a row without new items after which a feed of unknown length counts as complete, and one of known
 * length is given up.
 */
const MAX_IDLE_PAGES = { unknownTotal: 3, knownTotal: 50 };

/** Rows that two consecutive pages share, because rows move up when earlier ones disappear during the pull. */
const MAX_OVERLAP = 10;

export function openPullState(from: number, requested: number, maxPages: number): PullState {
  return {
    requested,
    maxPages,
    pages: 0,
    offset: from,
    largest: 0,
    idle: 0,
    previous: '',
    previousFrom: from,
    seen: new Set(),
  };
}

/** The decision after a page: the next offset, and the reason for the end of the pull, if it ends. */
export interface PageDecision {
  fresh: number;
  nextOffset: number;
  end: FeedEnd | null;
}

/**
 * Adds a page to the state and decides what to do next. A short page does not mean the end: servers filter rows after
 * counting them, and limit the page size without saying so. So the offset advances by the number of rows that one page
 * is known to cover, pages overlap, and the end is reached with the stated total, or when no new items come.
 */
export function advancePull(state: PullState, page: ServedPage, keys: readonly string[]): PageDecision {
  const fresh = new Set(keys.filter((key) => !state.seen.has(key))).size;
  for (const key of keys) state.seen.add(key);
  const sorted = [...keys].sort().join('\n');
  if (fresh > 0 || sorted !== state.previous) state.previousFrom = state.offset;
  // The server ignores the offset if two ranges that share no row have the same page.
  const isRepeated = keys.length > 0 && state.offset - state.previousFrom >= state.requested;
  state.previous = sorted;
  state.pages += 1;
  state.largest = Math.max(state.largest, keys.length);
  state.idle = fresh === 0 ? state.idle + 1 : 0;
  state.offset += getStride(state, page, keys.length);
  return { fresh, nextOffset: state.offset, end: findEnd(state, page, { fresh, count: keys.length, isRepeated }) };
}

function getStride({ requested, largest, idle }: PullState, { limit }: ServedPage, count: number): number {
  // A page without rows: only the server's `limit` says how far it looked.
  if (count === 0) return limit ?? requested;
  // A server that states a smaller limit than requested has capped it. One that repeats ours may have capped it too.
  const covered = Math.max(largest, limit !== null && limit < requested ? limit : 0);
  // Each page without news advances further, up to the requested size.
  if (idle > 0) return Math.max(covered, limit ?? Math.min(requested, covered * 2 ** idle));
  return covered - Math.min(MAX_OVERLAP, Math.floor(covered / 4));
}

function findEnd(
  state: PullState,
  { total }: ServedPage,
  { fresh, count, isRepeated }: { fresh: number; count: number; isRepeated: boolean },
): FeedEnd | null {
  if (total !== null && state.offset >= total && (fresh === 0 || count < state.requested)) {
    return { reason: 'total_reached', complete: true };
  }
  if (isRepeated) return { reason: 'offset_ignored', complete: total === null || state.seen.size >= total };
  if (total === null && state.idle >= MAX_IDLE_PAGES.unknownTotal) return { reason: 'no_more_items', complete: true };
  if (state.idle >= MAX_IDLE_PAGES.knownTotal) return { reason: 'no_more_items', complete: false };
  if (state.pages >= state.maxPages) return { reason: 'page_limit', complete: false };
  return null;
}
