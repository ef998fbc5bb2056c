import { PATHS } from '../links.ts';
import type { MatchedRoute } from '../listing/matched-route.ts';
import type { RowItem } from '../listing/page.ts';
import { formatCount, formatMinute } from '../words/figures.ts';
import type { CardListPage } from './category-page.ts';
import type { NewsRow } from './changes-page.ts';

/** Most routes of a listing that the page names, and most pieces of news. */
export const ROUTES_SHOWN = 10;
export const PROVIDER_NEWS = 20;

/** Most names of a provider on the page. */
export const NAMES_SHOWN = 5;

/** The listings at one registered domain, with the facts on all of them. */
export interface ProviderPage extends Omit<CardListPage, 'search'> {
  /** Names of the provider in its own words; empty on further pages. */
  readonly names: readonly string[];
  /** The first routes of each listing of the page that has any. */
  readonly routes: readonly { readonly item: RowItem; readonly shown: readonly MatchedRoute[] }[];
  /** The newest changes; empty on further pages. */
  readonly news: readonly NewsRow[];
  /** Title and path of the feed of its changes. */
  readonly feed: { readonly title: string; readonly path: string };
}

/** Input of a page of a provider. */
interface ProviderPart {
  readonly page: number;
  readonly has_next: boolean;
  readonly items: readonly RowItem[];
  /** The first routes of each item. */
  readonly routes: readonly (readonly MatchedRoute[])[];
  /** Facts for the first page only. */
  readonly first:
    | (ProviderFigures & { readonly names: readonly string[]; readonly news: readonly NewsRow[] })
    | undefined;
}

/** Figures of all listings of a domain. */
export interface ProviderFigures {
  readonly live: number;
  readonly removed: number;
  /** Routes of the live listings. */
  readonly routes: number;
  readonly verified_routes: number;
  /** Time of the latest change of any of the listings, ISO 8601 UTC. */
  readonly as_of: string;
}

/** Returns true if a registered domain, or a host without one, has a page. An address in brackets has none. */
export function hasProviderPath(domain: string): boolean {
  return /^[a-z0-9][a-z0-9.-]*$/.test(domain) && !domain.endsWith('.html');
}

/** Builds one page of the listings at a registered domain. */
export function buildProviderPage(domain: string, part: ProviderPart): ProviderPage {
  const { page, has_next, items, first } = part;
  const title = `APIs at ${domain}`;
  return {
    title: first ? title : `${title}, page ${page}`,
    description: `Every listing whose host belongs to ${domain}: what is verified, what speaks against it, and what changed.`,
    path: PATHS.provider(domain, page),
    page,
    count: first ? formatFigures(first) : null,
    names: first?.names ?? [],
    items,
    routes: items.flatMap((item, at) => {
      const shown = part.routes[at] ?? [];
      return shown.length > 0 ? [{ item, shown }] : [];
    }),
    news: first?.news ?? [],
    feed: { title: `Changes at ${domain}`, path: PATHS.providerFeed(domain) },
    previous: page > 1 ? PATHS.provider(domain, page - 1) : null,
    next: has_next ? PATHS.provider(domain, page + 1) : null,
    empty: 'No listing of this provider is live.',
  };
}

/** Writes `3 listings, 2 of 9 routes verified, 1 listing removed, as of …`. */
function formatFigures({ live, removed, routes, verified_routes, as_of }: ProviderFigures): string {
  const counts = [
    formatCount(live, 'listing'),
    `${verified_routes} of ${formatCount(routes, 'route')} verified`,
    ...(removed === 0 ? [] : [`${formatCount(removed, 'listing')} removed`]),
  ];
  return `${counts.join(', ')}, as of ${formatMinute(as_of)}`;
}
