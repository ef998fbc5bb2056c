import { CATEGORIES, type Category } from '../model/category.ts';
import type { Counts } from '../views/counts.ts';
import { PAGE_SIZE } from '../views/pages/list-page.ts';
import type { ListingEntry } from './entry.ts';
import { listEntries, type Snapshot } from './snapshot.ts';

/** How many listings the home page names as new, and as newly verified. */
const NEWEST_COUNT = 8;

/** What the pages that show many listings are made of, at one snapshot. */
export interface Selections {
  /** Verified listings first, then by slug. */
  readonly byCategory: ReadonlyMap<Category, readonly ListingEntry[]>;
  readonly countByCategory: ReadonlyMap<Category, number>;
  /** By slug. */
  readonly verified: readonly ListingEntry[];
  /** The latest listed first. */
  readonly newest: readonly ListingEntry[];
  /** The latest verified first. */
  readonly newlyVerified: readonly ListingEntry[];
}

const selectionsOf = new WeakMap<Snapshot, Selections>();

/** Gives the selections of a snapshot, made once for each. */
export function getSelections(snapshot: Snapshot): Selections {
  let selections = selectionsOf.get(snapshot);
  if (!selections) {
    selections = buildSelections([...listEntries(snapshot)]);
    selectionsOf.set(snapshot, selections);
  }
  return selections;
}

/** Gives the counts of a snapshot with the time they are as of. */
export function getCounts({ live_listings, settlement_verified, revised_at }: Snapshot): Counts {
  return { live_listings, settlement_verified, as_of: revised_at };
}

/** One page of a list: its entries, and whether another page follows. */
export interface EntryPage {
  readonly entries: readonly ListingEntry[];
  readonly page: number;
  readonly has_next: boolean;
  readonly total: number;
}

/** Finds a page of a list by its number from 1; the first exists even where the list is empty. */
export function findEntryPage(list: readonly ListingEntry[], page: number): EntryPage | undefined {
  const start = (page - 1) * PAGE_SIZE;
  if (!Number.isInteger(page) || page < 1 || (page > 1 && start >= list.length)) return undefined;
  return {
    entries: list.slice(start, start + PAGE_SIZE),
    page,
    has_next: start + PAGE_SIZE < list.length,
    total: list.length,
  };
}

function buildSelections(entries: readonly ListingEntry[]): Selections {
  const verified = entries.filter(({ verified_at }) => verified_at !== null);
  const byCategory = new Map(
    CATEGORIES.map((category) => {
      const members = entries.filter((entry) => entry.category === category);
      return [category, members.sort((a, b) => Number(b.payment_verified) - Number(a.payment_verified))];
    }),
  );
  return {
    byCategory,
    countByCategory: new Map([...byCategory].map(([category, members]) => [category, members.length])),
    verified,
    newest: entries.toSorted(compareBy(({ listed_at }) => listed_at)).slice(0, NEWEST_COUNT),
    newlyVerified: verified.toSorted(compareBy(({ verified_at }) => verified_at ?? '')).slice(0, NEWEST_COUNT),
  };
}

/** Orders by a time, the latest first; a stable sort keeps equal ones by slug. */
function compareBy(getTime: (entry: ListingEntry) => string): (a: ListingEntry, b: ListingEntry) => number {
  return (a, b) => {
    const [timeA, timeB] = [getTime(a), getTime(b)];
    return timeA === timeB ? 0 : timeA < timeB ? 1 : -1;
  };
}
