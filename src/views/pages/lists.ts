import { CATEGORIES, type Category } from '../../model/catalogue.ts';
import { type NetworkKey, networkKey } from '../../model/network.ts';
import type { RowItem } from '../listing/page.ts';
import { formatInteger, formatMinute } from '../words/figures.ts';

/** Listings on one page of a list. */
export const PAGE_SIZE = 100;

/** One page of a list of listings: of a category, of a network, of a provider, or of all verified ones. */
export interface ListPage {
  /** Number of this page, from 1. */
  readonly page: number;
  readonly has_next: boolean;
  readonly items: readonly RowItem[];
}

/** Content of each category, in our words. */
export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  Data: 'Records, search, news, weather, places and chain data, asked for one request at a time.',
  Finance: 'Prices, markets, tokens, swaps and portfolios.',
  Intelligence: 'Language models, analysis, forecasts and signals.',
  Tools: 'Things that do a job: converting, sending, storing, computing.',
  Verification: 'Checks of identities, risks, claims and documents.',
};

/** Finds the category in an address, by its name in lower case. */
export function findCategoryByPath(name: string): Category | undefined {
  return CATEGORIES.find((category) => category.toLowerCase() === name);
}

/** Finds the network in an address, by its key. */
export function findNetworkByPath(name: string): NetworkKey | undefined {
  return networkKey.options.find((key) => key === name);
}

/**
 * Parses the page number in an address. Undefined means the first page. Any text except a number from 2 gives NaN, also `1`, so
 * that each page has one address.
 */
export function parsePageNumber(text: string | undefined): number {
  if (text === undefined) return 1;
  return /^(?:[2-9]|[1-9]\d{1,5})$/.test(text) ? Number(text) : Number.NaN;
}

/** Writes the title of a page of a list: the name of the list, and on further pages the number. */
export function formatListTitle(name: string, page: number): string {
  return page === 1 ? name : `${name}, page ${page}`;
}

/** Writes a number of listings: `1,200 listings`. */
export function formatListings(count: number): string {
  return `${formatInteger(count)} ${count === 1 ? 'listing' : 'listings'}`;
}

/** Writes the length of a list with its time: `1,200 listings, as of 2026-11-20 12:00 UTC`. */
export function formatListCount({ total, as_of }: { total: number; as_of: string }): string {
  return `${formatListings(total)}, as of ${formatMinute(as_of)}`;
}
