import { z } from 'zod';
import { CATEGORIES, type Category } from '../../model/catalogue.ts';
import { reliabilityBand } from '../../model/listing.ts';
import { findNetwork, NETWORKS } from '../../model/network.ts';
import type { Suggestion } from '../../model/suggestion.ts';
import { PATHS } from '../links.ts';
import type { AgentItem } from '../listing/item.ts';
import type { RowItem } from '../listing/page.ts';
import {
  type AnswerFacts,
  FACET_NAMES,
  type FacetName,
  type Facets,
  type ListSort,
  listQuery,
} from '../listing/query.ts';
import { formatInteger } from '../words/figures.ts';
import { formatListCount } from './lists.ts';

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

/** A link to another search, and its text. */
interface SearchLink {
  readonly text: string;
  readonly href: string;
}

/** A filter that is on, and the search without it. */
export interface AppliedFilter {
  readonly text: string;
  readonly rest: SearchValues;
}

/** A search without one of its filters, with its number of matches. */
export interface Nearby {
  readonly filter: AppliedFilter;
  readonly total: number;
}

/** A search result: its listing, and the route that answers the words if there are any. */
export interface SearchResult {
  readonly item: RowItem;
  /** Number of its listing's product, if that is at several addresses. */
  readonly product: number | null;
}

/** The results of a search: one page of them, and the facts about all. */
export interface FoundSearch extends AnswerFacts {
  readonly facets: Facets | undefined;
  readonly results: readonly SearchResult[];
  /** If nothing matches: searches without one of the filters. */
  readonly nearby: readonly Nearby[];
  /** Listing outside the filters that is clearly better than any within them. */
  readonly outside: AgentItem | undefined;
  /** Time of the catalogue, ISO 8601 UTC. */
  readonly as_of: string;
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
interface OrderLink extends SearchLink {
  readonly column: 'words' | 'standing' | 'days' | 'price';
  readonly isCurrent: boolean;
}

/** Lists the orders for the results of a search. Only a search with words can be sorted by relevance. */
export function listOrders(values: SearchValues): OrderLink[] {
  const { page: _page, sort, ...rest } = values;
  const usual = values.q ? 'relevance' : 'name';
  return ORDERS.filter(({ value }) => value !== 'relevance' || values.q).map(({ value, text, column }) => ({
    column,
    text,
    isCurrent: (sort ?? usual) === value,
    href: buildSearchPath(value === usual ? rest : { ...rest, sort: value }),
  }));
}

/** Builds the address of a search from the given values, always in the same order and without empty ones. */
export function buildSearchPath(values: SearchValues): string {
  const given = Object.keys(searchQuery.shape).flatMap((name) => (values[name] ? [[name, values[name]]] : []));
  return given.length === 0 ? PATHS.search : `${PATHS.search}?${new URLSearchParams(given)}`;
}

/** Writes which of all results are shown, and when: `26–50 of 60 listings, as of 2026-11-20 12:00 UTC`. */
export function formatShown(values: SearchValues, { results, total, as_of }: FoundSearch): string {
  const first = (getPageNumber(values) - 1) * RESULTS_SIZE + 1;
  const last = first + results.length - 1;
  const range = total > RESULTS_SIZE ? `${formatInteger(first)}–${formatInteger(last)} of ` : '';
  return `${range}${formatListCount({ total, as_of })}`;
}

/** Returns the number of the page that a search asks for. */
function getPageNumber({ page = '1' }: SearchValues): number {
  return Number(page);
}

/** Pages with a link on each side of the current one. */
const NEIGHBOURS = 2;

/**
 * Lists the links to pages of results: the first, the last and the neighbours of the current one, in order; null stands for a gap.
 * Empty if there is only one page.
 */
export function listPageLinks(values: SearchValues, total: number) {
  const current = getPageNumber(values);
  const last = Math.ceil(total / RESULTS_SIZE);
  const shown = Array.from({ length: 2 * NEIGHBOURS + 1 }, (_, at) => current - NEIGHBOURS + at);
  const { page: _page, ...search } = values;
  const numbers = last < 2 ? [] : [1, ...shown.filter((number) => number > 1 && number < last), last];
  return numbers.flatMap((number, at) => {
    const href = buildSearchPath(number === 1 ? search : { ...search, page: String(number) });
    const link = { number, href, isCurrent: number === current };
    const isAfterGap = at > 0 && number > (numbers[at - 1] as number) + 1;
    return isAfterGap ? [null, link] : [link];
  });
}

/** Returns the counts of each filter's values; none if nothing fits, or if nothing was counted. */
function getCounts({ facets, answer }: FoundSearch, name: FacetName) {
  return (answer?.isWeak ? undefined : facets?.[name]) ?? [];
}

/** Lists the choices of a filter of the form, each with its number of results if they were counted. */
export function listChoices(name: ChoiceName, found: FoundSearch | undefined): readonly SearchChoice[] {
  const counts = found && name !== 'seen' ? getCounts(found, name) : [];
  if (counts.length === 0) return SEARCH_CHOICES[name];
  const countOf = new Map(counts.map(({ value, count }) => [value, count]));
  return SEARCH_CHOICES[name].map(({ value, text }) => {
    return { value, text: `${text} (${formatInteger(countOf.get(value) ?? 0)})` };
  });
}

/** Lists the values of filters that narrow the results, each with its number of them, without those that the words suggest. */
export function listNarrowing(values: SearchValues, found: FoundSearch): (SearchLink & { readonly count: string })[] {
  const { total, suggested } = found;
  const { page: _page, ...rest } = values;
  const isSuggested = (name: string, value: string) =>
    suggested.some((suggestion) => suggestion.parameter === name && suggestion.value === value);
  return FACET_NAMES.filter((name) => values[name] === undefined).flatMap((name) =>
    getCounts(found, name).flatMap(({ value, count }, at, counts) => {
      // A higher price limit with the same results is left out.
      const isRepeated = name === 'max_price_usdc' && count === counts[at - 1]?.count;
      if (count === 0 || count >= total || isRepeated || isSuggested(name, value)) return [];
      const href = buildSearchPath({ ...rest, [name]: value });
      return [{ text: formatFilter(name, value), count: formatInteger(count), href }];
    }),
  );
}

/** Lists the categories of results, the most frequent one first. */
export function listCategories(results: readonly SearchResult[]): Category[] {
  const count = (category: Category) => results.filter(({ item }) => item.category === category).length;
  return CATEGORIES.filter((category) => count(category) > 0).sort((a, b) => count(b) - count(a));
}

/** Lists the filters that can be removed so that something matches: each one, and all of the form. */
export function listFilterRemovals(values: SearchValues): AppliedFilter[] {
  const filters = listApplied(values);
  if (filters.length < 2) return filters;
  const rest: SearchValues = Object.fromEntries(
    Object.entries(values).filter(([name]) => name === 'q' || name === 'sort'),
  );
  return [...filters, { text: 'all filters', rest }];
}

/** Lists the filters that are set, without the words, which are in the search box. */
export function listApplied(values: SearchValues): AppliedFilter[] {
  const { page: _page, q: _words, sort: _sort, ...filters } = values;
  return Object.entries(filters).map(([name, value]) => {
    const { [name]: _out, page: _place, ...rest } = values;
    return { text: formatFilter(name, value), rest };
  });
}

/** Lists the links to the search with what its words suggest, from its first page. */
export function listSuggested(values: SearchValues, suggested: readonly Suggestion[]): SearchLink[] {
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
