import { CATEGORIES } from '../../model/catalogue.ts';
import { reliabilityBand } from '../../model/listing.ts';
import { NETWORKS } from '../../model/network.ts';
import { PATHS } from '../links.ts';
import { type AgentItem, buildListingCard, type ListingCard } from '../listing/item.ts';
import {
  type AnswerFacts,
  buildAnswerNotes,
  FACET_NAMES,
  type Facets,
  type ListSort,
  listQuery,
  type Understood,
} from '../listing/query.ts';
import { type Counts, formatInteger, formatMinute } from '../words/figures.ts';

/** Listings on one page of results. */
export const RESULTS_SIZE = 25;

/** What a reader can ask of the search page: the list's own filters, orders and places, a page being of one size. */
export const searchQuery = listQuery.omit({ limit: true, facets: true });

/** The filters as the address has them; one that is not set is left out. */
export type SearchValues = Readonly<Record<string, string>>;

/** One thing to choose from. */
export interface SearchChoice {
  readonly value: string;
  readonly text: string;
}

/** A value of a filter that leaves some of what was found, how many these are, and the address of them. */
export interface NarrowingLink {
  readonly text: string;
  readonly count: string;
  readonly href: string;
}

/** A filter that is on, and the address without it. */
export interface AppliedFilter {
  readonly text: string;
  readonly without: string;
}

/** The page of search results, and its form. */
export interface SearchPage {
  readonly title: string;
  /** The form as it was sent. What a reader wrote is shown as it is, and nothing but shown. */
  readonly values: SearchValues;
  readonly applied: readonly AppliedFilter[];
  /** What the filters of the form offer, each value with how many match by it. */
  readonly choices: FormChoices;
  /** What leaves fewer, one click away. */
  readonly narrowing: readonly NarrowingLink[];
  /** How many listings match, and as of when; null where the search was refused. */
  readonly count: string | null;
  readonly cards: readonly ListingCard[];
  /** Said above the cards where nothing fits well, or words of the search were found nowhere. */
  readonly doubts: readonly string[];
  /** Address of the next page; null on the last. */
  readonly next: string | null;
  /** Address of the first page; null on the first. */
  readonly first: string | null;
  /** What was wrong with the search, and how to mend it. */
  readonly fault: { readonly message: string; readonly hint: string } | null;
}

/** The filters that the form offers as lists of values. */
type ChoiceName = 'category' | 'network' | 'verified' | 'band';
type FormChoices = Readonly<Record<ChoiceName | 'sort', readonly SearchChoice[]>>;

/** What the filters of the form offer, in their order. */
const SEARCH_CHOICES = {
  category: CATEGORIES.map((name): SearchChoice => ({ value: name, text: name })),
  network: Object.values(NETWORKS).map(({ key, label }): SearchChoice => ({ value: key, text: label })),
  verified: [
    { value: 'true', text: 'Settlement-verified' },
    { value: 'false', text: 'Unverified' },
  ],
  band: reliabilityBand.options.map((band): SearchChoice => ({ value: band, text: band })),
  sort: [
    { value: 'name', text: 'Name' },
    { value: 'price', text: 'Lowest price' },
    { value: 'reliability', text: 'Reliability' },
    { value: 'latency', text: 'Latency' },
    { value: 'proof', text: 'Latest verification' },
    { value: 'updated', text: 'Latest change' },
  ] satisfies { value: ListSort; text: string }[],
} as const satisfies FormChoices;

/** Builds the address of a search: what is given, in one order, without what is empty. */
export function buildSearchPath(values: SearchValues): string {
  const given = Object.keys(searchQuery.shape).flatMap((name) => (values[name] ? [[name, values[name]]] : []));
  return given.length === 0 ? PATHS.search : `${PATHS.search}?${new URLSearchParams(given)}`;
}

/** Builds the page of what matches a search. */
export function buildSearchPage(
  values: SearchValues,
  found: AnswerFacts & {
    readonly facets: Facets | undefined;
    readonly items: readonly AgentItem[];
    readonly next_cursor: string | undefined;
    readonly counts: Counts;
  },
): SearchPage {
  const { items, total, next_cursor, counts } = found;
  const { cursor, ...filters } = values;
  const noun = total === 1 ? 'listing' : 'listings';
  return {
    ...buildFrame(values, found.understood),
    ...buildNarrowing(values, found),
    count: `${formatInteger(total)} ${noun}, as of ${formatMinute(counts.as_of)}`,
    cards: items.map(buildListingCard),
    doubts: listDoubts(found),
    next: next_cursor === undefined ? null : buildSearchPath({ ...filters, cursor: next_cursor }),
    first: cursor === undefined ? null : buildSearchPath(filters),
    fault: null,
  };
}

/** Builds the page that says what is wrong with a search. */
export function buildRefusedSearchPage(values: SearchValues, fault: NonNullable<SearchPage['fault']>): SearchPage {
  return { ...buildFrame(values), count: null, cards: [], doubts: [], next: null, first: null, fault };
}

/** Of a weak answer nothing is counted, since nothing fits; nor what the words say, since a click would change the words. */
function buildNarrowing(
  values: SearchValues,
  { facets, total, answer, understood }: AnswerFacts & { readonly facets: Facets | undefined },
): Pick<SearchPage, 'choices' | 'narrowing'> {
  const said = new Set(understood.map(({ filter }) => filter));
  const counted = FACET_NAMES.filter((name) => facets !== undefined && !answer?.isWeak && !said.has(name));
  const choices: Record<ChoiceName | 'sort', readonly SearchChoice[]> = { ...SEARCH_CHOICES };
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
    const { cursor: _place, ...rest } = values;
    for (const [at, { value, count }] of counts.entries()) {
      // A higher price that brings nothing more is no choice.
      const isRepeated = name === 'max_price_usdc' && count === counts[at - 1]?.count;
      if (count === 0 || count >= total || isRepeated) continue;
      const href = buildSearchPath({ ...rest, [name]: value });
      narrowing.push({ text: formatFilter(name, value), count: formatInteger(count), href });
    }
  }
  return { choices, narrowing };
}

function listDoubts(found: AnswerFacts): string[] {
  const { notice, unmatched = [] } = buildAnswerNotes(found);
  return [
    ...(notice === undefined ? [] : [notice]),
    ...(unmatched.length > 0 ? [`Nothing was found for: ${unmatched.join(', ')}.`] : []),
  ];
}

function buildFrame(values: SearchValues, understood: readonly Understood[] = []) {
  return {
    title: values.q ? `Search: ${values.q}` : 'All listings',
    values,
    applied: [...listApplied(values), ...listUnderstood(values, understood)],
    choices: SEARCH_CHOICES,
    narrowing: [],
  };
}

/** Lists the filters that are on, without the words searched for: those are in the box. */
function listApplied(values: SearchValues): AppliedFilter[] {
  const { cursor: _cursor, q: _words, sort: _sort, ...filters } = values;
  return Object.entries(filters).map(([name, value]) => {
    const { [name]: _out, cursor: _place, ...rest } = values;
    return { text: formatFilter(name, value), without: buildSearchPath(rest) };
  });
}

/** Lists the filters that the words say. Without one, its words are searched for: between double quotes they say nothing else. */
function listUnderstood(values: SearchValues, understood: readonly Understood[]): AppliedFilter[] {
  const { cursor: _place, q = '', ...rest } = values;
  return understood.map(({ filter, value, words }) => {
    const quoted = words.reduce((text, piece) => text.replace(piece, () => `"${piece}"`), q);
    return { text: formatFilter(filter, value), without: buildSearchPath({ ...rest, q: quoted }) };
  });
}

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
