import { isProofOld } from '../../evidence/verification.ts';
import { getRouteId } from '../../model/ids.ts';
import { NETWORKS } from '../../model/network.ts';
import { formatPriceRange } from '../../model/usdc.ts';
import { PATHS } from '../links.ts';
import { formatDay } from '../words/figures.ts';
import { formatStanding, listStandings, type Standing } from '../words/standing.ts';
import {
  type AgentItem,
  buildListingCard,
  formatLastProved,
  formatVerifiedPrice,
  getAtomic,
  type ListingCard,
} from './item.ts';
import type { MatchedRoute } from './matched-route.ts';
import { getRouteAnchor } from './routes.ts';

/** A result of a search: the route that answers it, and its listing. */
export interface SearchResult {
  readonly card: ListingCard;
  /** Null where the search asks for no route, or the listing has none. */
  readonly route: ResultRoute | null;
  /** Number of the product that its listing is, where that is at several addresses. */
  readonly product: number | null;
}

/** A route as the results of a search show it. */
interface ResultRoute {
  /** Its name in comparisons: `example-prices GET /v1/weather`. */
  readonly reference: string;
  /** Path of the listing's page, at this route. */
  readonly href: string;
  readonly method: string;
  readonly path: string;
  /** Provider's text on the route, or else the tagline of its listing; may be empty. */
  readonly description: string;
  /** True if it is a tagline that this service made. */
  readonly is_description_ours: boolean;
  /** USDC per request: `0.001`, or `0.001-0.002` where networks differ; empty where nothing is offered now. */
  readonly price: string;
  /** Networks of its offers: `Base, Solana`; empty where nothing is offered now. */
  readonly networks: string;
  /** Standings of the route, the gravest first, and then the dangers of other routes of the listing. */
  readonly standing: readonly Standing[];
}

/** Builds a result of a search from the short form of its listing. */
export function buildSearchResult(item: AgentItem, product: number | null = null): SearchResult {
  return {
    card: buildListingCard(item),
    route: item.route ? buildResultRoute(item, item.route) : null,
    product,
  };
}

function buildResultRoute(item: AgentItem, route: MatchedRoute): ResultRoute {
  const { method, path, description, offers, verified, verified_at, cautions } = route;
  const proof = verified && verified_at !== null ? buildProof(route, verified_at, item.updated_at) : null;
  return {
    reference: `${item.slug} ${method} ${path}`,
    href: `${PATHS.listing(item.slug)}#${getRouteAnchor({ id: getRouteId(item.id, method, path), method, path })}`,
    method,
    path,
    description: description || item.tagline,
    is_description_ours: description === '' && item.tagline_is_ours === true,
    price: formatOffers(offers),
    networks: offers.map(({ network }) => NETWORKS[network].label).join(', '),
    standing: [
      ...listStandings(cautions, proof),
      ...item.cautions
        .filter(({ code, severity }) => severity === 'danger' && !cautions.some((own) => own.code === code))
        .map((other) => ({ tone: 'danger' as const, text: `${formatStanding(other)}, another route` })),
    ],
  };
}

/** Builds the mark of a proof: `verified 2026-11-20` or `last proved 2026-08-01`, with ` at 0.01 USDC` if it asks another price. */
function buildProof(route: MatchedRoute, verifiedAt: string, asOf: string): Standing {
  const isOld = isProofOld(verifiedAt, asOf);
  const words = isOld ? formatLastProved(verifiedAt) : `verified ${formatDay(verifiedAt)}`;
  return { tone: 'proved', text: `${words}${formatVerifiedPrice(route)}` };
}

/** Writes the prices of a route's offers, which come the cheapest first. */
function formatOffers(offers: MatchedRoute['offers']): string {
  const [low, high] = [offers[0], offers.at(-1)];
  if (!low || !high) return '';
  const ceilings = { min: low.is_ceiling === true, max: high.is_ceiling === true };
  return formatPriceRange(getAtomic(low.price_usdc), getAtomic(high.price_usdc), ceilings);
}
