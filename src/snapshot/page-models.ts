import { findListing } from '../catalogue/listings.ts';
import type { Category } from '../model/category.ts';
import { isLive } from '../model/listing.ts';
import { buildGuide } from '../views/guide.ts';
import { buildHomePage, type HomePage } from '../views/pages/home-page.ts';
import { buildCategoryPage, buildVerifiedPage, type ListPage } from '../views/pages/list-page.ts';
import { buildListingPage, type ListingPage } from '../views/pages/listing-page.ts';
import { buildTombstonePage, type TombstonePage } from '../views/pages/tombstone-page.ts';
import { findTombstone } from '../views/tombstone.ts';
import { parseItem } from './entry.ts';
import { type EntryPage, findEntryPage, getCounts, getSelections } from './entry-lists.ts';
import { findDelisting, listHistory } from './history.ts';
import type { Reading } from './reading.ts';
import { findEntry, type Snapshot } from './snapshot.ts';

/** Gives the home page as the catalogue stands now. */
export function getHomePage({ getSnapshot, site }: Reading): HomePage {
  const snapshot = getSnapshot();
  const { countByCategory, newest, newlyVerified } = getSelections(snapshot);
  return buildHomePage(
    {
      counts: getCounts(snapshot),
      by_category: countByCategory,
      newest: newest.map((entry) => ({ item: parseItem(entry), at: entry.listed_at })),
      newly_verified: newlyVerified.map(parseItem),
    },
    site,
  );
}

/** Gives `llms.txt` as the catalogue stands now. */
export function getGuide({ getSnapshot, site }: Reading): string {
  const snapshot = getSnapshot();
  return buildGuide(getCounts(snapshot), getSelections(snapshot).countByCategory, site);
}

/** Finds a page of a category by its number from 1; undefined where there is none. */
export function findCategoryPage({ getSnapshot }: Reading, category: Category, page: number): ListPage | undefined {
  const snapshot = getSnapshot();
  const part = findEntryPage(getSelections(snapshot).byCategory.get(category) ?? [], page);
  return part && buildCategoryPage(category, buildListPart(part, snapshot));
}

/** Finds a page of the verified listings by its number from 1; undefined where there is none. */
export function findVerifiedPage({ getSnapshot }: Reading, page: number): ListPage | undefined {
  const snapshot = getSnapshot();
  const part = findEntryPage(getSelections(snapshot).verified, page);
  return part && buildVerifiedPage(buildListPart(part, snapshot));
}

/** Finds what the address of a listing shows: its page, its tombstone, or nothing for one that is unknown or held. */
export function findListingPage(reading: Reading, slug: string): ListingPage | TombstonePage | undefined {
  const snapshot = reading.getSnapshot();
  const listing = findListing(reading.catalogue, { slug });
  if (!listing) return undefined;
  const tombstone = findTombstone(listing);
  if (tombstone) return buildTombstonePage(tombstone, findDelisting(reading, slug));
  if (!isLive(listing)) return undefined;
  const related = reading.listRelated(snapshot, slug).map(parseItem);
  const receipts = new Set(findEntry(snapshot, slug)?.receipts);
  const surroundings = { related, receipts, ...listHistory(reading, listing) };
  return buildListingPage(listing, surroundings, reading.site);
}

function buildListPart({ entries, page, has_next, total }: EntryPage, snapshot: Snapshot) {
  return { items: entries.map(parseItem), page, has_next, total, counts: getCounts(snapshot) };
}
