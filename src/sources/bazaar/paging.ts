import type { ServedPage } from './page.ts';

/** Why a pull ended. `complete` says whether everything that the feed held from the first offset on was seen. */
export interface FeedEnd {
  reason: 'whole_file' | 'total_reached' | 'no_more_items' | 'offset_ignored' | 'page_limit';
  complete: boolean;
}

/** Where a pull stands between two pages. */
export interface PullState {
  /** The page size asked for. */
  readonly requested: number;
  readonly maxPages: number;
  pages: number;
  offset: number;
  /** The most items that any page held. */
  largest: number;
  /** Pages in a row that brought nothing new. */
  idle: number;
  /** Keys of the page before, sorted, and the first offset at which this very page came. */
  previous: string;
  previousFrom: number;
  /** Keys of every item that came. */
  readonly seen: Set<string>;
}

/** Pages in a row without news after which a feed of unknown length is over, and one of known length is given up. */
const MAX_IDLE_PAGES = { unknownTotal: 3, knownTotal: 50 };

/** Rows asked for twice at the seam of two pages, since rows move up when earlier ones vanish during the pull. */
const MAX_OVERLAP = 10;

export function startPull(from: number, requested: number, maxPages: number): PullState {
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

/** What to do after a page: the offset to go on at, and the end where there is one. */
export interface PageDecision {
  fresh: number;
  nextOffset: number;
  end: FeedEnd | null;
}

/**
 * Takes a page into the state and decides how to go on. A page that comes short is no sign of the end: servers filter
 * rows after counting them, and cap the page size without saying so. So the offset moves on by what one page is known
 * to cover, the seams overlap, and the end is where the stated total is reached, or where nothing new comes any more.
 */
export function advancePull(state: PullState, page: ServedPage, keys: readonly string[]): PageDecision {
  const fresh = new Set(keys.filter((key) => !state.seen.has(key))).size;
  for (const key of keys) state.seen.add(key);
  const sorted = [...keys].sort().join('\n');
  if (fresh > 0 || sorted !== state.previous) state.previousFrom = state.offset;
  // The same page for windows that share no row: the offset has no effect.
  const isRepeated = keys.length > 0 && state.offset - state.previousFrom >= state.requested;
  state.previous = sorted;
  state.pages += 1;
  state.largest = Math.max(state.largest, keys.length);
  state.idle = fresh === 0 ? state.idle + 1 : 0;
  state.offset += getStride(state, page, keys.length);
  return { fresh, nextOffset: state.offset, end: findEnd(state, page, { fresh, count: keys.length, isRepeated }) };
}

function getStride({ requested, largest, idle }: PullState, { limit }: ServedPage, count: number): number {
  // Nothing in the window: the server's word on how far it looked is all there is.
  if (count === 0) return limit ?? requested;
  // A server that states a smaller limit than was asked for has capped it; one that echoes ours may have as well.
  const covered = Math.max(largest, limit !== null && limit < requested ? limit : 0);
  // Nothing new in it: further and further, up to what was asked for.
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
