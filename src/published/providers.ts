import type { MatchedRoute } from '../views/listing/matched-route.ts';
import { buildNewsRow } from '../views/pages/changes-page.ts';
import { buildProviderPage, PROVIDER_NEWS, type ProviderPage, ROUTES_SHOWN } from '../views/pages/provider-page.ts';
import type { Published } from './file.ts';
import { getItem, type ListingRef } from './listings.ts';
import { listChangeNews } from './news.ts';
import { findPlacesOnPage } from './page-lists.ts';
import type { Reading } from './reading.ts';
import { findRevisionTime } from './state.ts';

/** A listing at a provider's domain. */
export interface ProviderListing extends ListingRef {
  readonly state: 'live' | 'delisted';
  readonly revision: number;
}

/** The listings at one registered domain, by slug, removed ones included. */
export interface Provider {
  readonly domain: string;
  readonly listings: readonly ProviderListing[];
}

const COLUMNS = "SELECT domain, number, slug, state, revision FROM listings WHERE state IN ('live', 'delisted')";

/** Finds the listings at a registered domain; undefined where there never was one. */
export function findProvider(published: Published, domain: string): Provider | undefined {
  const listings = published.prepare<ProviderListing>(`${COLUMNS} AND domain = ? ORDER BY slug`).all(domain);
  return listings.length === 0 ? undefined : { domain, listings };
}

/** Goes through the domains with more than one live listing. One alone says all there is on its own page. */
export function* iterateProviders(published: Published): Generator<Provider> {
  const rows = published
    .prepare<ProviderListing & { domain: string }>(`${COLUMNS} AND domain IS NOT NULL ORDER BY domain, slug`)
    .iterate();
  let current: { domain: string; listings: ProviderListing[] } | undefined;
  const isShown = ({ listings }: Provider) => listings.filter(({ state }) => state === 'live').length > 1;
  for (const { domain, ...listing } of rows) {
    if (current?.domain !== domain) {
      if (current && isShown(current)) yield current;
      current = { domain, listings: [] };
    }
    current.listings.push(listing);
  }
  if (current && isShown(current)) yield current;
}

/** Lists the live listings of a provider. */
export function listLiveOf({ listings }: Provider): ProviderListing[] {
  return listings.filter(({ state }) => state === 'live');
}

/** Finds a page of the listings at a registered domain by its number from 1; undefined if there is no such page. */
export function findProviderPage(reading: Reading, domain: string, page: number): ProviderPage | undefined {
  const { published, readAtOnce } = reading;
  return readAtOnce((snapshot) => {
    const provider = findProvider(published, domain);
    if (!provider) return undefined;
    const live = listLiveOf(provider);
    const part = findPlacesOnPage([...live.keys()], page);
    if (!part) return undefined;
    const shown = part.places.map((place) => live[place] as ProviderListing);
    const latest = Math.max(...provider.listings.map(({ revision }) => revision));
    return buildProviderPage(domain, {
      page,
      has_next: part.has_next,
      items: shown.map((listing) => getItem(published, listing)),
      routes: shown.map((listing) => listFirstRoutes(published, listing)),
      all: page === 1 ? live.map((listing) => getItem(published, listing)) : [],
      removed: provider.listings.length - live.length,
      as_of: findRevisionTime(published, latest) ?? snapshot.revised_at,
      news: page === 1 ? listChangeNews(published, snapshot, PROVIDER_NEWS, { domain }).map(buildNewsRow) : [],
    });
  });
}

function listFirstRoutes(published: Published, { number }: ListingRef): MatchedRoute[] {
  return published
    .prepare<{ route: string }>('SELECT route FROM rendered_routes WHERE listing = ? ORDER BY position LIMIT ?')
    .all(number, ROUTES_SHOWN)
    .map(({ route }) => JSON.parse(route));
}
