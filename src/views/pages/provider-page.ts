import { PATHS } from '../links.ts';
import type { AgentItem } from '../listing/item.ts';
import { buildListingCard } from '../listing/item.ts';
import type { MatchedRoute } from '../listing/matched-route.ts';
import { buildSearchResult, type SearchResult } from '../listing/result.ts';
import { formatCount, formatMinute } from '../words/figures.ts';
import type { CardListPage } from './category-page.ts';
import type { NewsRow } from './changes-page.ts';

/** Routes of a listing that the page names, and pieces of news. */
export const ROUTES_SHOWN = 10;
export const PROVIDER_NEWS = 20;

/** Names that a provider goes by, at most. */
const NAMES_SHOWN = 5;

/** The listings at one registered domain, with what is known of all of them. */
export interface ProviderPage extends Omit<CardListPage, 'search'> {
  /** What the provider calls itself, in its own words; empty on further pages. */
  readonly names: readonly string[];
  /** The first routes of each listing of the page that has any. */
  readonly routes: readonly {
    readonly slug: string;
    readonly title: string;
    readonly href: string;
    readonly rows: readonly NonNullable<SearchResult['route']>[];
    /** How many more its page has. */
    readonly more: number;
  }[];
  /** The newest changes; empty on further pages. */
  readonly news: readonly NewsRow[];
}

/** What a page of a provider is made of. */
interface ProviderPart {
  readonly page: number;
  readonly has_next: boolean;
  readonly items: readonly AgentItem[];
  /** The first routes of each of them. */
  readonly routes: readonly (readonly MatchedRoute[])[];
  /** Every live listing, for the first page. */
  readonly all: readonly AgentItem[];
  readonly removed: number;
  /** When any of its listings changed last, ISO 8601 UTC. */
  readonly as_of: string;
  readonly news: readonly NewsRow[];
}

/** Says whether a registered domain, or a host without one, has a page: an address in brackets has none. */
export function hasProviderPath(domain: string): boolean {
  return /^[a-z0-9][a-z0-9.-]*$/.test(domain) && !domain.endsWith('.html');
}

/** Builds one page of the listings at a registered domain. */
export function buildProviderPage(domain: string, part: ProviderPart): ProviderPage {
  const { page, has_next, items, all, removed, as_of } = part;
  const isFirst = page === 1;
  const title = `APIs at ${domain}`;
  const sum = (get: (item: AgentItem) => number) => all.reduce((total, item) => total + get(item), 0);
  const routes = sum(({ endpoints_count }) => endpoints_count);
  const verified = sum(({ verified_route_count }) => verified_route_count);
  const counts = [
    formatCount(all.length, 'listing'),
    `${verified} of ${formatCount(routes, 'route')} verified`,
    ...(removed === 0 ? [] : [`${formatCount(removed, 'listing')} removed`]),
  ];
  return {
    title: isFirst ? title : `${title}, page ${page}`,
    description: `Every listing whose host belongs to ${domain}: what is verified, what speaks against it, and what changed.`,
    path: PATHS.provider(domain, page),
    page,
    count: isFirst ? `${counts.join(', ')}, as of ${formatMinute(as_of)}` : null,
    names: [...new Set(all.map(({ provider_name }) => provider_name))].slice(0, NAMES_SHOWN),
    cards: items.map(buildListingCard),
    routes: items.flatMap((item, at) => listRoutes(item, part.routes[at] ?? [])),
    news: part.news,
    previous: page > 1 ? PATHS.provider(domain, page - 1) : null,
    next: has_next ? PATHS.provider(domain, page + 1) : null,
    empty: 'No listing of this provider is live.',
  };
}

function listRoutes(item: AgentItem, matched: readonly MatchedRoute[]): ProviderPage['routes'] {
  const { slug, title, endpoints_count } = item;
  const rows = matched.flatMap((route) => buildSearchResult({ ...item, route }).route ?? []);
  if (rows.length === 0) return [];
  return [{ slug, title, href: `${PATHS.listing(slug)}#routes`, rows, more: endpoints_count - rows.length }];
}
