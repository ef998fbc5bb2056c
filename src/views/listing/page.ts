import type { Change } from '../../model/change.ts';
import type { SampledDay } from '../../model/listing.ts';
import { formatRoute, listCounted } from '../../model/route.ts';
import { findTellingRoute } from '../call/guide.ts';
import { formatCount } from '../words/figures.ts';
import type { PaidAnswers } from './fields.ts';
import type { AgentItem } from './item.ts';
import { ROUTES_MAX } from './query.ts';
import type { PublicListing, Tombstone } from './record.ts';
import type { PublicRoute } from './route-record.ts';
import { isRoutePage } from './routes.ts';

/** A listing as a row on a page: its short form, and its daily samples, oldest first. */
export type RowItem = AgentItem & { readonly days?: readonly SampledDay[] };

/** The parts of a live listing's page and of its Markdown twin. */
export interface ListingPage {
  readonly kind: 'live';
  readonly listing: PublicListing;
  /** Related listings, nearest first. */
  readonly related: readonly RowItem[];
  /** Slugs of listings of the same product at other addresses. */
  readonly same_product: readonly string[];
  /** Its receipts that have a page. */
  readonly receipts: PaidAnswers;
  /** Number of the page of routes, from 1. */
  readonly number: number;
  /** Its latest `priced` changes, oldest first. */
  readonly priced: readonly Change[];
  /** Its latest changes of other kinds. */
  readonly decisions: readonly Change[];
}

/** The parts of a delisted listing's page. */
export interface TombstonePage {
  readonly kind: 'gone';
  readonly tombstone: Tombstone;
  /** The change that removed it. */
  readonly decision: Change | undefined;
}

/** The parts of a route's page. */
export interface RoutePage {
  readonly listing: PublicListing;
  readonly route: PublicRoute;
  readonly receipts: PaidAnswers;
}

/** Finds the parts of a route's page by its name, which is its anchor; undefined if no route has it. */
export function findRoutePage(listing: PublicListing, name: string, receipts: PaidAnswers): RoutePage | undefined {
  const route = listing.routes.find((one) => isRoutePage(name, one));
  return route && { listing, route, receipts };
}

/** Most routes of a listing whose input, output and call are on its page. Other routes have them on pages of their own. */
const DETAILED_ROUTES = 12;

/** A route of a listing, as its page shows it. */
export interface ShownRoute {
  readonly route: PublicRoute;
  /** Provider's text; empty if the listing, or the route that this one is folded behind, has the same. */
  readonly description: string;
  /** True if its input, output and call are on the page. */
  readonly isDetailed: boolean;
}

/**
 * Returns the route of a listing with the most complete example call; undefined if none of its routes counts. Others may have
 * invented a route that is set aside, with its price.
 */
export function getBestRoute({ routes }: PublicListing): PublicRoute | undefined {
  const counted = listCounted(routes);
  return findTellingRoute(counted.filter(({ folded_under }) => !folded_under)) ?? counted[0];
}

/** Lists the routes on one page of a listing's routes, the one with the most complete example call first. */
export function listShownRoutes({ listing, number }: Pick<ListingPage, 'listing' | 'number'>): ShownRoute[] {
  const { routes, tagline } = listing;
  const best = getBestRoute(listing);
  const ordered = best ? [best, ...routes.filter((route) => route !== best)] : routes;
  const before = (number - 1) * ROUTES_MAX;
  const said = new Map(routes.map((route) => [formatRoute(route), route.description]));
  let detailed = 0;
  return ordered.slice(before, before + ROUTES_MAX).map((route) => {
    const isDetailed = detailed < DETAILED_ROUTES && (!route.folded_under || route === best);
    if (isDetailed) detailed += 1;
    const above = routes.length === 1 ? tagline : said.get(route.folded_under?.route ?? '');
    return { route, description: route.description === above ? '' : route.description, isDetailed };
  });
}

/** Lists the routes with the routes folded behind them, each group with its label: `79 more routes of this template`. */
export function listRouteFolds(shown: readonly ShownRoute[]) {
  const folded = shown.flatMap((one) => (one.route.folded_under ? { one, ...one.route.folded_under } : []));
  return Array.from(
    Map.groupBy(folded, ({ route }) => route),
    ([route, members]) => ({
      route,
      label: `${formatCount(members.length, 'more route')} of this ${members[0]?.because === 'template' ? 'template' : 'text'}`,
      routes: members.map(({ one }) => one),
    }),
  );
}
