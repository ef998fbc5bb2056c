import { z } from 'zod';
import { CATEGORIES, type Category } from '../../model/catalogue.ts';
import { reliabilityBand } from '../../model/listing.ts';
import { findNetwork, NETWORKS } from '../../model/network.ts';
import { PATHS } from '../links.ts';
import type { AgentItem } from '../listing/item.ts';
import type { RowItem } from '../listing/page.ts';
import {
  type AnswerFacts,
  buildAnswerNotes,
  FACET_NAMES,
  type Facets,
  type ListSort,
  listQuery,
  type Suggestion,
} from '../listing/query.ts';
import { type Counts, formatInteger, formatMinute } from '../words/figures.ts';

/** Listings on one page of results. */
export const RESULTS_SIZE = 25;

/** Query of the search page: the filters and orders of the list, and a page number. */
export const searchQuery = listQuery
  .omit({ limit: true, cursor: true, facets: true })
  .extend({ page: z.int().min(1).max(99_999).optional() });
export type SearchQuery = z.infer<typeof searchQuery>;

/** The filters in the address, without those that are not set. */
export type SearchValues = Readonly<Record<string, string>>;

/** One thing to choose from. */
export interface SearchChoice {
  readonly value: string;
  readonly text: string;
}

/** A value of a filter that narrows the results, with their number and its address. */
export interface NarrowingLink {
  readonly text: string;
  readonly count: string;
  readonly href: string;
}

/** A filter that is on, and the address without it. */
export interface AppliedFilter {
  readonly text: string;
  /** The search without it, and its address. */
  readonly rest: SearchValues;
  readonly without: string;
}

/** A search result: its listing, and the route that answers the words if there are any. */
export interface SearchResult {
  readonly item: RowItem;
  /** Number of its listing's product, if that is at several addresses. */
  readonly product: number | null;
}

/** The page of search results, and its form. */
export interface SearchPage {
  readonly title: string;
  /** The form as it was sent. A reader's words are only shown. */
  readonly values: SearchValues;
  readonly applied: readonly AppliedFilter[];
  /** Values of the form's filters, each with its number of matches. */
  readonly choices: FormChoices;
  /** The orders, each with its address, by the column that it sorts by. */
  readonly orders: readonly OrderLink[];
  /** Links to the search with a filter or an order that its words seem to name. */
  readonly suggested: readonly { readonly text: string; readonly href: string }[];
  /** Links that narrow the results. */
  readonly narrowing: readonly NarrowingLink[];
  /** Number of listings that match, with its time; null for a refused search. */
  readonly count: string | null;
  readonly results: readonly SearchResult[];
  /** If nothing matches: filters without which something does. */
  readonly nearest: readonly NarrowingLink[];
  /** Sentences above the results if nothing fits well, or if words of the search were not found. */
  readonly doubts: readonly string[];
  /** If nothing fits: the category pages of the nearest results, which are then folded. */
  readonly nearestCategories: readonly { readonly text: string; readonly href: string }[];
  /** Result outside the filters that is clearly better than any within them. */
  readonly outside: AgentItem | null;
  readonly pages: ResultPages;
  /** Error in the search, with a hint to correct it. */
  readonly fault: { readonly message: string; readonly hint: string } | null;
}

/** Addresses of the pages of results; empty if there is only one page. */
export interface ResultPages {
  readonly previous: string | null;
  readonly next: string | null;
  /** First, last and neighbouring pages in order; null stands for a gap. */
  readonly numbers: readonly ({ readonly number: number; readonly href: string; readonly isCurrent: boolean } | null)[];
}

/** The filters that the form offers as lists of values. */
type ChoiceName = 'category' | 'network' | 'seen' | 'verified' | 'band';
type FormChoices = Readonly<Record<ChoiceName, readonly SearchChoice[]>>;

/** Values of the filters of the form, in their order. */
const SEARCH_CHOICES = {
  category: CATEGORIES.map((name): SearchChoice => ({ value: name, text: name })),
  network: Object.values(NETWORKS).map(({ key, label }): SearchChoice => ({ value: key, text: label })),
  seen: [
    { value: 'true', text: 'Dated evidence' },
    { value: 'false', text: 'Only declared' },
  ],
  verified: [
    { value: 'true', text: 'Settlement-verified' },
    { value: 'false', text: 'Unverified' },
  ],
  band: reliabilityBand.options.map((band): SearchChoice => ({ value: band, text: band })),
} as const satisfies FormChoices;

/** The orders of results by the column of a row that they sort by. */
const ORDERS: readonly { readonly value: ListSort; readonly text: string; readonly column: OrderLink['column'] }[] = [
  { value: 'relevance', text: 'Best match', column: 'words' },
  { value: 'name', text: 'Name', column: 'words' },
  { value: 'updated', text: 'Latest change', column: 'words' },
  { value: 'proof', text: 'Latest verification', column: 'standing' },
  { value: 'reliability', text: 'Reliability', column: 'days' },
  { value: 'latency', text: 'Latency', column: 'days' },
  { value: 'price', text: 'Lowest price', column: 'price' },
];

/** An order of the results, in the head of a column. */
interface OrderLink {
  readonly column: 'words' | 'standing' | 'days' | 'price';
  readonly text: string;
  readonly href: string;
  readonly isCurrent: boolean;
}

/** Lists the orders for the results of a search. Only a search with words can be sorted by relevance. */
function listOrders(values: SearchValues): OrderLink[] {
  const { page: _page, sort, ...rest } = values;
  const usual = values.q ? 'relevance' : 'name';
  return ORDERS.filter(({ value }) => value !== 'relevance' || values.q).map(({ value, text, column }) => ({
    ...{ column, text, isCurrent: (sort ?? usual) === value },
    href: buildSearchPath(value === usual ? rest : { ...rest, sort: value }),
  }));
}

/** Builds the address of a search from the given values, always in the same order and without empty ones. */
export function buildSearchPath(values: SearchValues): string {
  const given = Object.keys(searchQuery.shape).flatMap((name) => (values[name] ? [[name, values[name]]] : []));
  return given.length === 0 ? PATHS.search : `${PATHS.search}?${new URLSearchParams(given)}`;
}

/** A search without one of its filters, with its number of matches. */
export interface Nearby {
  readonly filter: AppliedFilter;
  readonly total: number;
}

/** Builds the page of the results of a search. */
export function buildSearchPage(
  values: SearchValues,
  found: AnswerFacts & {
    readonly facets: Facets | undefined;
    readonly items: readonly RowItem[];
    /** Number of the product of each item, if that is at several addresses. */
    readonly products?: readonly (number | null)[];
    readonly counts: Counts;
    readonly nearby?: readonly Nearby[];
    /** Listing outside the filters that is clearly better than any within them. */
    readonly outside?: AgentItem | undefined;
  },
): SearchPage {
  const { items, products = [], total, counts, nearby = [], outside } = found;
  const page = getPageNumber(values);
  const first = (page - 1) * RESULTS_SIZE + 1;
  const range = total > RESULTS_SIZE ? `${formatInteger(first)}–${formatInteger(first + items.length - 1)} of ` : '';
  return {
    ...buildFrame(values),
    suggested: listSuggested(values, found.suggested),
    ...buildNarrowing(values, found),
    count: `${range}${formatListings(total)}, as of ${formatMinute(counts.as_of)}`,
    results: items.map((item, at) => ({ item, product: products[at] ?? null })),
    nearest: nearby
      .filter((near) => near.total > 0)
      .map((near) => ({
        text: `if you drop ${near.filter.text}`,
        count: formatListings(near.total),
        href: near.filter.without,
      })),
    doubts: listDoubts(found),
    nearestCategories: found.answer?.isWeak ? listCategories(items) : [],
    outside: outside ?? null,
    pages: buildPages(values, total),
    fault: null,
  };
}

function formatListings(count: number): string {
  return `${formatInteger(count)} ${count === 1 ? 'listing' : 'listings'}`;
}

/** Returns the number of the page that a search asks for. */
function getPageNumber({ page = '1' }: SearchValues): number {
  return Number(page);
}

/** Pages with a link on each side of the current one. */
const NEIGHBOURS = 2;

function buildPages(values: SearchValues, total: number): ResultPages {
  const current = getPageNumber(values);
  const last = Math.ceil(total / RESULTS_SIZE);
  if (last < 2) return NO_PAGES;
  const { page: _page, ...search } = values;
  const getHref = (number: number) => buildSearchPath(number === 1 ? search : { ...search, page: String(number) });
  const shown = Array.from({ length: 2 * NEIGHBOURS + 1 }, (_, at) => current - NEIGHBOURS + at);
  const numbers = [1, ...shown.filter((number) => number > 1 && number < last), last];
  return {
    previous: current > 1 ? getHref(current - 1) : null,
    next: current < last ? getHref(current + 1) : null,
    numbers: numbers.flatMap((number, at) => {
      const link = { number, href: getHref(number), isCurrent: number === current };
      const isAfterGap = at > 0 && number > (numbers[at - 1] as number) + 1;
      return isAfterGap ? [null, link] : [link];
    }),
  };
}

const NO_PAGES: ResultPages = { previous: null, next: null, numbers: [] };

/** Builds the page that explains an error in a search. */
export function buildRefusedSearchPage(values: SearchValues, fault: NonNullable<SearchPage['fault']>): SearchPage {
  return {
    ...buildFrame(values),
    count: null,
    results: [],
    nearest: [],
    doubts: [],
    nearestCategories: [],
    outside: null,
    pages: NO_PAGES,
    fault,
  };
}

/**
 * Builds the choices of the form with their counts, and the links that narrow the results, without those that the words suggest.
 * A weak answer has no counts, since nothing fits.
 */
function buildNarrowing(
  values: SearchValues,
  { facets, total, answer, suggested }: AnswerFacts & { readonly facets: Facets | undefined },
): Pick<SearchPage, 'choices' | 'narrowing'> {
  const isSuggested = (name: string, value: string) =>
    suggested.some((suggestion) => suggestion.parameter === name && suggestion.value === value);
  const counted = FACET_NAMES.filter(() => facets !== undefined && !answer?.isWeak);
  const choices: Record<ChoiceName, readonly SearchChoice[]> = { ...SEARCH_CHOICES };
  const narrowing: NarrowingLink[] = [];
  for (const name of counted) {
    const counts = facets?.[name] ?? [];
    if (name !== 'max_price_usdc') {
      const countOf = new Map(counts.map(({ value, count }) => [value, count]));
      choices[name] = SEARCH_CHOICES[name].map(({ value, text }) => {
        return { value, text: `${text} (${formatInteger(countOf.get(value) ?? 0)})` };
      });
    }
    if (values[name] !== undefined) continue;
    const { page: _page, ...rest } = values;
    for (const [at, { value, count }] of counts.entries()) {
      // A higher price limit with the same results is left out.
      const isRepeated = name === 'max_price_usdc' && count === counts[at - 1]?.count;
      if (count === 0 || count >= total || isRepeated || isSuggested(name, value)) continue;
      const href = buildSearchPath({ ...rest, [name]: value });
      narrowing.push({ text: formatFilter(name, value), count: formatInteger(count), href });
    }
  }
  return { choices, narrowing };
}

function listDoubts(found: AnswerFacts): string[] {
  const { notice } = buildAnswerNotes(found);
  return notice === undefined ? [] : [notice];
}

/** Lists the category pages of results, the most frequent category first. */
function listCategories(items: readonly AgentItem[]): SearchPage['nearestCategories'] {
  const count = (category: Category) => items.filter((item) => item.category === category).length;
  return CATEGORIES.filter((category) => count(category) > 0)
    .sort((a, b) => count(b) - count(a))
    .map((category) => ({ text: category, href: PATHS.category(category) }));
}

function buildFrame(values: SearchValues) {
  return {
    title: values.q ? `Search: ${values.q}` : 'All listings',
    values,
    applied: listApplied(values),
    choices: SEARCH_CHOICES,
    orders: listOrders(values),
    suggested: [],
    narrowing: [],
  };
}

/** Lists the filters that can be removed so that something matches: each one, and all of the form. */
export function listFilterRemovals(values: SearchValues): AppliedFilter[] {
  const filters = listApplied(values);
  if (filters.length < 2) return filters;
  const rest: SearchValues = Object.fromEntries(
    Object.entries(values).filter(([name]) => name === 'q' || name === 'sort'),
  );
  return [...filters, { text: 'all filters', rest, without: buildSearchPath(rest) }];
}

/** Lists the filters that are set, without the words, which are in the search box. */
function listApplied(values: SearchValues): AppliedFilter[] {
  const { page: _page, q: _words, sort: _sort, ...filters } = values;
  return Object.entries(filters).map(([name, value]) => {
    const { [name]: _out, page: _place, ...rest } = values;
    return { text: formatFilter(name, value), rest, without: buildSearchPath(rest) };
  });
}

/** Lists the links to the search with what its words suggest, from its first page. */
function listSuggested(values: SearchValues, suggested: readonly Suggestion[]): SearchPage['suggested'] {
  const { page: _page, ...rest } = values;
  return suggested.map((suggestion) => ({
    text: formatSuggestion(suggestion),
    href: buildSearchPath({ ...rest, [suggestion.parameter]: suggestion.value }),
  }));
}

function formatSuggestion({ parameter, value }: Suggestion): string {
  if (parameter === 'max_price_usdc') return value === '0' ? 'Only free' : `Only up to ${value} USDC`;
  if (parameter === 'network') return `Only on ${findNetwork(value)?.label ?? value}`;
  if (parameter === 'verified') return 'Only verified';
  return parameter === 'sort' ? (SORTED_FIRST[value] ?? value) : `Only ${value}`;
}

const SORTED_FIRST: Readonly<Record<string, string>> = {
  price: 'Cheapest first',
  reliability: 'Most reliable first',
  latency: 'Fastest first',
  updated: 'Latest changes first',
};

function formatFilter(name: string, value: string): string {
  const choices: readonly SearchChoice[] = Object.entries(SEARCH_CHOICES).find(([key]) => key === name)?.[1] ?? [];
  const text = choices.find((choice) => choice.value === value)?.text ?? value;
  if (name === 'max_price_usdc') return `at most ${text} USDC`;
  if (name === 'updated_since') return `changed since ${text}`;
  if (name === 'host') return `on ${text}`;
  if (name === 'path') return `at ${text}`;
  if (name === 'provider') return `by ${text}`;
  return name === 'band' ? `reliability ${text}` : text;
}
