import { CATEGORIES, type Category } from '../model/catalogue.ts';
import { type NetworkKey, networkKey } from '../model/network.ts';
import { PAGE_SIZE } from '../views/pages/category-page.ts';
import type { Counts } from '../views/words/figures.ts';
import { isOfCategory, isOnNetwork, isVerified } from './columns.ts';
import type { Snapshot } from './snapshot.ts';

/** Which listings the pages of lists show, by their places, at one snapshot. */
export interface Selections {
  /** Verified listings first, then by slug. */
  readonly byCategory: ReadonlyMap<Category, readonly number[]>;
  readonly countByCategory: ReadonlyMap<Category, number>;
  /** By network on which payment is advertised, in the same order. */
  readonly byNetwork: ReadonlyMap<NetworkKey, readonly number[]>;
  /** By slug. */
  readonly verified: readonly number[];
}

const selectionsOf = new WeakMap<Snapshot, Selections>();

/** Gives the selections of a snapshot, made once for each. */
export function getSelections(snapshot: Snapshot): Selections {
  let selections = selectionsOf.get(snapshot);
  if (!selections) {
    selections = buildSelections(snapshot);
    selectionsOf.set(snapshot, selections);
  }
  return selections;
}

/** Gives the counts of a snapshot with the time they are as of. */
export function getCounts({ live_listings, settlement_verified, revised_at }: Snapshot): Counts {
  return { live_listings, settlement_verified, as_of: revised_at };
}

/** One page of a list: the places of its listings, and whether another page follows. */
export interface PlacesOnPage {
  readonly places: readonly number[];
  readonly page: number;
  readonly has_next: boolean;
  readonly total: number;
}

/** Finds a page of a list by its number from 1; the first exists even where the list is empty. */
export function findPlacesOnPage(list: readonly number[], page: number): PlacesOnPage | undefined {
  const start = (page - 1) * PAGE_SIZE;
  if (!Number.isInteger(page) || page < 1 || (page > 1 && start >= list.length)) return undefined;
  return {
    places: list.slice(start, start + PAGE_SIZE),
    page,
    has_next: start + PAGE_SIZE < list.length,
    total: list.length,
  };
}

function buildSelections({ columns }: Snapshot): Selections {
  const places = Array.from(columns.slugs.keys());
  const verified = places.filter((place) => isVerified(columns, place));
  const sortVerifiedFirst = (members: number[]) =>
    members.sort((a, b) => Number(isVerified(columns, b)) - Number(isVerified(columns, a)));
  const byCategory = new Map(
    CATEGORIES.map((category) => [
      category,
      sortVerifiedFirst(places.filter((place) => isOfCategory(columns, place, category))),
    ]),
  );
  const byNetwork = new Map(
    networkKey.options.map((network) => [
      network,
      sortVerifiedFirst(places.filter((place) => isOnNetwork(columns, place, network))),
    ]),
  );
  return {
    byCategory,
    byNetwork,
    countByCategory: new Map([...byCategory].map(([category, members]) => [category, members.length])),
    verified,
  };
}
