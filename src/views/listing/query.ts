import { z } from 'zod';
import { abilityList } from '../../model/ability.ts';
import { CATEGORIES, catalogueSummary, category } from '../../model/catalogue.ts';
import { reliabilityBand, slug } from '../../model/listing.ts';
import { networkKey } from '../../model/network.ts';
import { type Suggestion, suggestion } from '../../model/suggestion.ts';
import { parseUsdc, readTypedPrice } from '../../model/usdc.ts';
import { agentItem } from './item.ts';

/** Listings on a page by default: best answers to words, or all that pass the filters. */
export const LIST_LIMIT_DEFAULT = { words: 10, filters: 100 };
export const LIST_LIMIT_MAX = 1000;

/** Longest request in words, in UTF-16 units: people and agents ask in whole sentences. */
export const REQUEST_MAX_LENGTH = 2000;

/**
 * Orders of a list: by relevance (with `q`), by slug, by lowest price, by latest change, by reliability score, by
 * median latency, by the latest payment that verifies a route. Unknown values come last.
 */
export const listSort = z.enum(['relevance', 'name', 'price', 'updated', 'reliability', 'latency', 'proof']);
export type ListSort = z.infer<typeof listSort>;

/** The filters of the catalogue, once for the HTTP list, its documentation and the search tool. All given must hold. */
export const listFilters = z.strictObject({
  q: z
    .string()
    .trim()
    .min(1)
    .max(REQUEST_MAX_LENGTH)
    .optional()
    .describe('What you look for, in your own words or by name'),
  category: category.optional().describe('Category of the listing'),
  network: networkKey.optional().describe('Paid on this network'),
  seen: z
    .boolean()
    .optional()
    .describe(
      'Payment (on that network) is shown by dated evidence, of a 402 or a feed (true), or only declared (false)',
    ),
  verified: z.boolean().optional().describe('Settlement-verified (true), or no route is (false)'),
  band: reliabilityBand.optional().describe('Reliability band'),
  max_price_usdc: z
    .string()
    .overwrite(readTypedPrice)
    .refine(
      (text) => parseUsdc(text) !== undefined,
      'a decimal amount of USDC, at most 9007199254.740991, with at most six decimals, such as 0.01',
    )
    .optional()
    .describe('Most USDC that a call may cost, e.g. 0.01'),
  can: abilityList.optional().describe('What your client can do, e.g. evm,exact,eip3009'),
  host: z.string().trim().toLowerCase().min(1).max(260).optional().describe('Host, with its port'),
  path: z.string().startsWith('/').max(2000).optional().describe('Path of a route; with host, templates fit'),
  provider: z.string().trim().min(1).max(200).optional().describe("Provider's name, whole, without regard to case"),
  updated_since: z
    .union(
      [z.iso.datetime({ offset: true }), z.iso.date()],
      'a date, or a time with its zone, in ISO 8601, such as 2026-11-20 or 2026-11-20T12:00:00Z',
    )
    .optional()
    .describe('Changed since (ISO 8601)'),
});

/** Longest cursor, in characters. It contains the weights of a request's words. */
export const CURSOR_MAX_LENGTH = 3000;

/** Query of the list: filters, order and page. */
export const listQuery = listFilters.extend({
  sort: listSort
    .optional()
    .describe(
      'Order; relevance when q is given, else name. latency: fastest first; proof: latest paid verification first',
    ),
  limit: z
    .int()
    .min(1)
    .max(LIST_LIMIT_MAX)
    .optional()
    .describe(`Listings a page: ${LIST_LIMIT_DEFAULT.words} with q, else ${LIST_LIMIT_DEFAULT.filters}`),
  cursor: z.string().max(CURSOR_MAX_LENGTH).optional().describe('next_cursor of the page before'),
  facets: z.boolean().optional().describe('Also count what matches by the values of each filter'),
});
export type ListQuery = z.infer<typeof listQuery>;

/** Most routes of one listing on a page of its document, of its Markdown, and on the page for people. */
export const ROUTES_MAX = 500;

/** Routes on a page of the document by default, if it is asked for in words. */
const FITTING_ROUTES = 10;

/** Parameters of the document of one listing. */
export const routesQuery = z.strictObject({
  q: listFilters.shape.q.describe('What you need: routes that fit it best come first'),
  limit: z
    .int()
    .min(1)
    .max(ROUTES_MAX)
    .optional()
    .describe(`Routes a page: ${FITTING_ROUTES} with q, else ${ROUTES_MAX}`),
  cursor: z.string().max(CURSOR_MAX_LENGTH).optional().describe('next_cursor of the page before'),
});
export type RoutesQuery = z.infer<typeof routesQuery>;

/** Returns the number of routes on a page. */
export function getRoutesLimit({ limit, q }: Pick<RoutesQuery, 'limit' | 'q'>): number {
  return limit ?? (q === undefined ? ROUTES_MAX : FITTING_ROUTES);
}

/** Parameters of its Markdown. The page number is limited, so that the number of different pages that can be rendered is, too. */
export const markdownQuery = z.strictObject({ page: z.int().min(1).max(10_000).default(1) });

/** Returns the number of listings on a page. */
export function getListLimit({ limit, q }: Pick<ListQuery, 'limit' | 'q'>): number {
  return limit ?? LIST_LIMIT_DEFAULT[q === undefined ? 'filters' : 'words'];
}

/** Returns the order of a query: by default relevance with `q`, else name. */
export function getListSort({ sort, q }: Pick<ListQuery, 'sort' | 'q'>): ListSort {
  if (sort !== undefined && (sort !== 'relevance' || q !== undefined)) return sort;
  return q === undefined ? 'name' : 'relevance';
}

/** Price limits for which matches are counted, as `max_price_usdc` takes them: decimal USDC, rising. */
const PRICE_STEPS = ['0.001', '0.01', '0.1', '1'] as const;

/** Values of each filter for which matches are counted, as the filter takes them. */
export const FACET_VALUES = {
  category: CATEGORIES,
  network: networkKey.options,
  verified: ['true', 'false'],
  band: reliabilityBand.options,
  max_price_usdc: PRICE_STEPS,
} as const;
export type FacetName = keyof typeof FACET_VALUES;
export const FACET_NAMES = Object.keys(FACET_VALUES) as FacetName[];

const facetCounts = z.array(z.object({ value: z.string(), count: z.int().nonnegative() }));

/** Number of matches for each value of each filter. */
export const facets = z
  .object({
    category: facetCounts,
    network: facetCounts,
    verified: facetCounts,
    band: facetCounts,
    max_price_usdc: facetCounts.describe(
      'With a route of at most this price, so that each counts those before it, too',
    ),
  })
  .describe(
    'For each filter its values, and what `total` would be with that value in place of the one that is set. Like `total`, ' +
      'of a weak answer they count the nearest listings, which do not fit.',
  );
export type Facets = z.infer<typeof facets>;

/** Listings of an answer that are folded behind others of their provider or product. */
export const foldedListings = z.object({
  provider: z.string().describe('Registered domain of the row that they come behind; its page is /provider/{domain}'),
  slugs: z.array(slug).describe('In their order'),
});

/** The answer of `GET /agent/list`. */
export const agentList = z
  .object({
    catalogue: catalogueSummary,
    revision: z.int().nonnegative().describe('Catalogue revision that this answer and its counts are of'),
    filters: listFilters
      .extend({ sort: listSort, limit: z.int() })
      .describe('What was applied; counts in `catalogue` are of the whole catalogue all the same'),
    total: z.int().nonnegative().describe('Number of listings that match'),
    next_cursor: z.string().optional().describe('Absent on the last page'),
    facets: facets.optional().describe('With `facets=true`'),
    suggested: z
      .array(suggestion)
      .optional()
      .describe('With `q`, parameters to add that its words seem to name; none is applied by itself'),
    notice: z.string().optional().describe('What to know of the answer as a whole, such as that nothing fits well'),
    weak: z.boolean().optional().describe('With `q`, true where even the best match answers little of the request'),
    unmatched: z.array(z.string()).optional().describe('With `q`, words of the request that nothing was found for'),
    listings: z.array(agentItem),
    folded: z
      .array(foldedListings)
      .optional()
      .describe(
        'With `q`, what else of a provider, or of a product at several addresses, comes behind the first three rows on this page; `total` counts it, and no other page has it',
      ),
  })
  .meta({ id: 'AgentList' });
export type AgentList = z.infer<typeof agentList>;

/** Facts about the answer to a request in words. */
export interface AnswerFacts {
  readonly total: number;
  readonly suggested: readonly Suggestion[];
  /** A remark about the request itself. */
  readonly notice: string | undefined;
  readonly answer: { readonly isWeak: boolean; readonly unmatched: readonly string[] } | undefined;
}

/** Describes which words no listing has: "No listing mentions “sms” or “fax”." */
function describeUnmatched(words: readonly string[]): string {
  const quoted = words.map((word) => `“${word}”`);
  return `No listing mentions ${[quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter(Boolean).join(' or ')}.`;
}

/** Builds the fields of an answer besides its listings; empty ones are left out. */
export function buildAnswerNotes({ total, suggested, notice, answer }: AnswerFacts) {
  const unknown = answer && answer.unmatched.length > 0 ? describeUnmatched(answer.unmatched) : undefined;
  const nearest =
    total === 0 && answer && !unknown
      ? 'Nothing fits this.'
      : answer?.isWeak && total > 0
        ? 'Nothing fits all of this; the nearest are listed.'
        : undefined;
  const notices = [nearest, unknown, notice].filter((text) => text !== undefined);
  return {
    ...(suggested.length > 0 && { suggested: [...suggested] }),
    ...(notices.length > 0 && { notice: notices.join(' ') }),
    ...(answer?.isWeak && { weak: true }),
    ...(answer && answer.unmatched.length > 0 && { unmatched: [...answer.unmatched] }),
  };
}
