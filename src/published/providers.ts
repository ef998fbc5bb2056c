import type { ChangeNews } from '../views/changes.ts';
import type { MatchedRoute } from '../views/listing/matched-route.ts';
import { type ListPage, PAGE_SIZE } from '../views/pages/lists.ts';
import type { FirstRoutes, ProviderFigures } from '../views/pages/provider.ts';
import type { Published } from './file.ts';
import { findMatchedRoute, getRow, type ListingRef } from './listings.ts';
import { listChangeNews } from './news.ts';
import type { Reading } from './reading.ts';
import { findRevisionTime } from './state.ts';

/** A listing of a provider, with the revision of its latest change. */
interface ProviderListing {
  readonly slug: string;
  readonly revision: number;
}

/** The listings at one registered domain, by slug, removed ones included. */
export interface Provider {
  readonly domain: string;
  readonly listings: readonly ProviderListing[];
  /** Number of its live listings. */
  readonly live: number;
}

/** Returns true if a registered domain has, or ever had, a live listing. */
export function hasProvider(published: Published, domain: string): boolean {
  const sql = "SELECT 1 FROM listings WHERE domain = ? AND state IN ('live', 'delisted') LIMIT 1";
  return published.prepare(sql).get(domain) !== undefined;
}

/** Goes through the domains with more than one live listing. A single listing is shown in full on its own page. */
export function* iterateProviders(published: Published): Generator<Provider> {
  const rows = published
    .prepare<ProviderListing & { domain: string; state: 'live' | 'delisted' }>(
      `SELECT domain, slug, state, revision FROM listings
       WHERE state IN ('live', 'delisted') AND domain IS NOT NULL ORDER BY domain, slug`,
    )
    .iterate();
  let current: { domain: string; listings: ProviderListing[]; live: number } | undefined;
  for (const { domain, state, ...listing } of rows) {
    if (current?.domain !== domain) {
      if (current && current.live > 1) yield current;
      current = { domain, listings: [], live: 0 };
    }
    current.listings.push(listing);
    if (state === 'live') current.live += 1;
  }
  if (current && current.live > 1) yield current;
}

/** Most routes of a listing that the page of a provider names, most pieces of news, and most names of the provider. */
const ROUTES_SHOWN = 10;
const PROVIDER_NEWS = 20;
const NAMES_SHOWN = 5;

/** One page of the listings at a registered domain. */
export interface ProviderPage extends ListPage {
  /** The first routes of each listing of the page that has any. */
  readonly routes: readonly FirstRoutes[];
  /** Figures, names of the provider in its own words, and the newest changes; undefined on further pages. */
  readonly first:
    | (ProviderFigures & { readonly names: readonly string[]; readonly news: readonly ChangeNews[] })
    | undefined;
}

/**
 * Finds a page of the listings at a registered domain by its number, from 1; undefined if there is no such page. Only page 1
 * reads all of them, since one domain may have any number of hosts.
 */
export function findProviderPage(reading: Reading, domain: string, page: number): ProviderPage | undefined {
  const { published, readAtOnce } = reading;
  return readAtOnce((snapshot) => {
    if (!Number.isInteger(page) || page < 1 || !hasProvider(published, domain)) return undefined;
    const found = listLivePart(published, domain, (page - 1) * PAGE_SIZE);
    if (found.length === 0 && page > 1) return undefined;
    const shown = found.slice(0, PAGE_SIZE).map((listing) => {
      return { item: getRow(published, listing), routes: listFirstRoutes(published, listing) };
    });
    return {
      page,
      has_next: found.length > PAGE_SIZE,
      items: shown.map(({ item }) => item),
      routes: shown.filter(({ routes }) => routes.length > 0),
      first:
        page > 1
          ? undefined
          : {
              ...readFigures(published, domain, snapshot.revised_at),
              names: listNames(published, domain),
              news: listChangeNews(published, snapshot, PROVIDER_NEWS, { domain }),
            },
    };
  });
}

/** Lists live listings of a domain by slug, one more than a page shows. */
function listLivePart(published: Published, domain: string, from: number): ListingRef[] {
  const sql = "SELECT number, slug FROM listings WHERE domain = ? AND state = 'live' ORDER BY slug LIMIT +? OFFSET +?";
  return published.prepare<ListingRef>(sql).all(domain, PAGE_SIZE + 1, from);
}

function readFigures(published: Published, domain: string, revisedAt: string): ProviderFigures {
  const row = published
    .prepare<Omit<ProviderFigures, 'as_of'> & { latest: number }>(
      `SELECT count(*) FILTER (WHERE state = 'live') AS live, count(*) FILTER (WHERE state = 'delisted') AS removed,
         coalesce(sum(routes), 0) AS routes, coalesce(sum(verified_routes), 0) AS verified_routes,
         max(revision) AS latest
       FROM listings WHERE domain = ? AND state IN ('live', 'delisted')`,
    )
    .get(domain);
  if (!row) throw new Error(`the published catalogue counts nothing at ${domain}`);
  const { latest, ...figures } = row;
  return { ...figures, as_of: findRevisionTime(published, latest) ?? revisedAt };
}

/** Lists the names of a provider, in the order of the first listing with each. */
function listNames(published: Published, domain: string): string[] {
  const sql = `SELECT provider_name FROM listings WHERE domain = ? AND state = 'live'
    GROUP BY provider_name ORDER BY min(slug) LIMIT +?`;
  return published
    .prepare<{ provider_name: string }>(sql)
    .all(domain, NAMES_SHOWN)
    .map((row) => row.provider_name);
}

function listFirstRoutes(published: Published, listing: ListingRef): MatchedRoute[] {
  return Array.from({ length: ROUTES_SHOWN }, (_, position) => findMatchedRoute(published, listing, position)).flatMap(
    (route) => (route === undefined ? [] : [JSON.parse(route)]),
  );
}
