import { z } from 'zod';
import { listNeeds } from '../../evidence/abilities.ts';
import { needs } from '../../model/ability.ts';
import { NETWORKS } from '../../model/network.ts';
import { getRouteUrl, isToolPath, type Route, route } from '../../model/route.ts';
import { recordedTerms } from '../../model/terms.ts';
import { formatUsdc } from '../../model/usdc.ts';

const agentTerms = recordedTerms
  .omit({ extra_needs: true })
  .extend({
    network_id: z.string().describe('CAIP-2 identifier, as x402 version 2 writes it'),
    amount: z.string().describe('Price of one request in atomic USDC (6 decimals), as x402 writes it'),
    amount_usdc: z.string().describe('The same as a decimal amount'),
    needs,
  })
  .meta({ id: 'AgentTerms' });

export const agentRoute = route
  .extend({
    url: z.string().describe('Where the route is called; fill in templates first'),
    terms: z.array(agentTerms),
  })
  .meta({ id: 'AgentRoute' });

/** Terms of a route in the code of the public side: the amount is an integer in atomic USDC. */
export type PublicTerms = Omit<z.infer<typeof agentTerms>, 'amount'> & { readonly amount: number };

/** A route in the code of the public side. */
export type PublicRoute = Omit<z.infer<typeof agentRoute>, 'terms'> & { readonly terms: PublicTerms[] };

/** Builds the public form of a route of the listing at a base address. */
export function buildPublicRoute(base_url: string, entry: Route): PublicRoute {
  return {
    ...entry,
    url: getRouteUrl(base_url, entry.path),
    terms: entry.terms.map(({ extra_needs, ...offer }) => ({
      ...offer,
      network_id: NETWORKS[offer.network].id,
      amount_usdc: formatUsdc(offer.amount),
      needs: listNeeds({ ...offer, ...(extra_needs && { extra_needs }) }, { isTool: isToolPath(entry.path) }),
    })),
  };
}

/** Builds a route for documents, in which amounts are text. */
export function buildAgentRoute({ terms, ...route }: PublicRoute): z.infer<typeof agentRoute> {
  return { ...route, terms: terms.map(({ amount, ...offer }) => ({ ...offer, amount: String(amount) })) };
}

/** Parses a route from JSON of `AgentRoute`. */
export function parseRoute(json: string): PublicRoute {
  const route: z.infer<typeof agentRoute> = JSON.parse(json);
  return { ...route, terms: route.terms.map((offer) => ({ ...offer, amount: Number(offer.amount) })) };
}
