import { getRouteId } from '../../model/ids.ts';
import { NETWORKS } from '../../model/network.ts';
import { formatPriceRange } from '../../model/usdc.ts';
import { PATHS } from '../links.ts';
import { formatStanding, listStandings, type Standing } from '../words/standing.ts';
import { type AgentItem, formatProof, formatVerifiedPrice, getAtomic } from './item.ts';
import type { MatchedRoute } from './matched-route.ts';
import { getRouteAnchor } from './routes.ts';

/** Returns the path of a listing's page, at a route of it. */
export function getFoundPath({ id, slug }: Pick<AgentItem, 'id' | 'slug'>, { method, path }: MatchedRoute): string {
  return `${PATHS.listing(slug)}#${getRouteAnchor({ id: getRouteId(id, method, path), method, path })}`;
}

/** Lists the standings of a found route, the gravest first, followed by the dangers of the listing's other routes. */
export function listFoundStandings(
  item: Pick<AgentItem, 'cautions' | 'updated_at'>,
  route: MatchedRoute,
): readonly Standing[] {
  const { verified, verified_at, cautions } = route;
  const proof = verified && verified_at !== null && formatProof(verified_at, item.updated_at, 'verified ');
  return [
    ...listStandings(cautions, proof ? { tone: 'proved', text: `${proof}${formatVerifiedPrice(route)}` } : null),
    ...listOtherDangers(item, route).map((other) => ({
      tone: 'danger' as const,
      text: `${formatStanding(other)}, another route`,
    })),
  ];
}

/** Lists the dangers of a listing that a found route does not have itself: the seller is the same. */
export function listOtherDangers(
  { cautions }: Pick<AgentItem, 'cautions'>,
  route: Pick<MatchedRoute, 'cautions'>,
): AgentItem['cautions'] {
  return cautions.filter(
    ({ code, severity }) => severity === 'danger' && !route.cautions.some((own) => own.code === code),
  );
}

/** Writes the prices of a found route in USDC: `0.001`, or `0.001-0.002` if networks differ; empty if it has no current offer. */
export function formatFoundPrice({ offers }: Pick<MatchedRoute, 'offers'>): string {
  const [low, high] = [offers[0], offers.at(-1)];
  if (!low || !high) return '';
  const ceilings = { min: low.is_ceiling === true, max: high.is_ceiling === true };
  return formatPriceRange(getAtomic(low.price_usdc), getAtomic(high.price_usdc), ceilings);
}

/** Names the networks of a found route's offers, cheapest first: `Base, Solana`; empty if it has no current offer. */
export function formatFoundNetworks({ offers }: Pick<MatchedRoute, 'offers'>): string {
  return offers.map(({ network }) => NETWORKS[network].label).join(', ');
}
