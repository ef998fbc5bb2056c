import { CATEGORIES, type Category } from '../../model/catalogue.ts';
import { NETWORKS, type NetworkKey, networkKey } from '../../model/network.ts';
import { PATHS } from '../links.ts';
import type { RowItem } from '../listing/page.ts';
import { type Counts, formatInteger, formatMinute } from '../words/figures.ts';
import { buildSearchPath } from './search-page.ts';

/** Listings on one page of a list. */
export const PAGE_SIZE = 100;

/** One page of a list of listings: a category, or all verified ones. */
export interface CardListPage {
  /** Name of the list; a further page adds its number. */
  readonly title: string;
  /** Content of the list in a sentence of ours. */
  readonly description: string;
  /** Path of this page. */
  readonly path: string;
  /** Address of the same list as a search, which can be filtered and sorted. */
  readonly search: string;
  /** Number of this page, from 1. */
  readonly page: number;
  /** Number of listings and its time. It is only on the first page, so that a change elsewhere does not change further pages. */
  readonly count: string | null;
  readonly items: readonly RowItem[];
  /** Paths of the neighbouring pages. */
  readonly previous: string | null;
  readonly next: string | null;
  /** Text instead of an empty list. */
  readonly empty: string;
}

/** Content of each category, in our words. */
export const CATEGORY_WORDS: Readonly<Record<Category, string>> = {
  Data: 'Records, search, news, weather, places and chain data, asked for one request at a time.',
  Finance: 'Prices, markets, tokens, swaps and portfolios.',
  Intelligence: 'Language models, analysis, forecasts and signals.',
  Tools: 'Things that do a job: converting, sending, storing, computing.',
  Verification: 'Checks of identities, risks, claims and documents.',
};

/** Listings of a page of a list, with counts of the whole list. */
export interface CardListPart {
  readonly items: readonly RowItem[];
  readonly page: number;
  readonly has_next: boolean;
  /** Length of the whole list. */
  readonly total: number;
  readonly counts: Counts;
}

/** Finds the category in an address, by its name in lower case. */
export function findCategoryByPath(name: string): Category | undefined {
  return CATEGORIES.find((category) => category.toLowerCase() === name);
}

/**
 * Parses the page number in an address. Undefined means the first page. Any text except a number from 2 gives NaN, also `1`, so
 * that each page has one address.
 */
export function parsePageNumber(text: string | undefined): number {
  if (text === undefined) return 1;
  return /^(?:[2-9]|[1-9]\d{1,5})$/.test(text) ? Number(text) : Number.NaN;
}

/** Builds one page of a category. */
export function buildCategoryPage(category: Category, part: CardListPart): CardListPage {
  return {
    ...buildPart(part, `${category} APIs`, (page) => PATHS.category(category, page)),
    description: CATEGORY_WORDS[category],
    search: buildSearchPath({ category }),
    empty: 'No live listing is in this category.',
  };
}

/** Finds the network in an address, by its key. */
export function findNetworkByPath(name: string): NetworkKey | undefined {
  return networkKey.options.find((key) => key === name);
}

/** Builds one page of the listings that are paid on a network. */
export function buildNetworkPage(network: NetworkKey, part: CardListPart): CardListPage {
  const { label, id } = NETWORKS[network];
  return {
    ...buildPart(part, `APIs paid on ${label}`, (page) => PATHS.network(network, page)),
    description: `Listings paid in USDC on ${label} (${id}), seen there or declared by their sources, those with verified routes first.`,
    search: buildSearchPath({ network }),
    empty: `No live listing takes payment on ${label}.`,
  };
}

/** Builds one page of all listings with verified routes. */
export function buildVerifiedPage(part: CardListPart): CardListPage {
  return {
    ...buildPart(part, 'Listings with verified routes', PATHS.verifiedPage),
    search: buildSearchPath({ verified: 'true' }),
    description: 'Listings with routes we paid for, and that delivered.',
    empty: 'No listing has a settlement-verified route yet: nothing here has been paid for by this service so far.',
  };
}

function buildPart(part: CardListPart, title: string, getPath: (page: number) => string) {
  const { items, page, has_next, total, counts } = part;
  const noun = total === 1 ? 'listing' : 'listings';
  return {
    title: page === 1 ? title : `${title}, page ${page}`,
    path: getPath(page),
    page,
    count: page === 1 ? `${formatInteger(total)} ${noun}, as of ${formatMinute(counts.as_of)}` : null,
    items,
    previous: page > 1 ? getPath(page - 1) : null,
    next: has_next ? getPath(page + 1) : null,
  };
}
