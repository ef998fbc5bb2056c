import type { MatchedRoute } from '../listing/matched-route.ts';
import type { RowItem } from '../listing/page.ts';
import { formatCount, formatMinute } from '../words/figures.ts';

/** The first routes of a listing, as many as a page of its provider names. */
export interface FirstRoutes {
  readonly item: RowItem;
  readonly routes: readonly MatchedRoute[];
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

/** Writes `3 listings, 2 of 9 routes verified, 1 listing removed, as of …`. */
export function formatFigures({ live, removed, routes, verified_routes, as_of }: ProviderFigures): string {
  const counts = [
    formatCount(live, 'listing'),
    `${verified_routes} of ${formatCount(routes, 'route')} verified`,
    ...(removed === 0 ? [] : [`${formatCount(removed, 'listing')} removed`]),
  ];
  return `${counts.join(', ')}, as of ${formatMinute(as_of)}`;
}
