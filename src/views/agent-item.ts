import { z } from 'zod';
import { category } from '../model/category.ts';
import { cautionCode, cautionSeverity } from '../model/caution.ts';
import { getHost } from '../model/ids.ts';
import {
  getVerifiedRouteCount,
  type Listing,
  type LiveListing,
  listCautionSummaries,
  reliabilityBand,
  slug,
} from '../model/listing.ts';
import { networkKey } from '../model/network.ts';
import { getUsdcNumber } from '../model/usdc.ts';
import { buildUrl, PATHS } from './links.ts';
import { matchedRoute } from './matched-route.ts';
import type { Site } from './site.ts';

/** What speaks against a listing, one entry for each code. */
export const agentCaution = z
  .object({
    code: cautionCode,
    severity: cautionSeverity.describe('danger: do not pay. notice: worth knowing before paying'),
    route: z.string().nullable().describe('The one route it is about; null for several, or the whole listing'),
    routes: z.int().nonnegative().describe('How many routes it is about'),
    since: z.iso.datetime().nullable(),
  })
  .meta({ id: 'AgentCaution' });

/** A listing as `/agent/list` and the search tool show it. */
export const agentItem = z
  .object({
    slug,
    id: z.uuid(),
    title: z.string().describe("Provider's text"),
    tagline: z.string().describe("Provider's text"),
    category,
    provider_name: z.string().describe("Provider's text"),
    base_url: z.url(),
    host: z
      .string()
      .describe('Host of base_url, other scripts in punycode: the part of its name that nobody else can take'),
    page_url: z.url(),
    price_min_usdc: z.number(),
    price_max_usdc: z.number(),
    networks: z.array(networkKey).describe('Networks on which payment is currently advertised'),
    endpoints_count: z.int().nonnegative(),
    verified_route_count: z.int().nonnegative(),
    last_verified_at: z.iso
      .datetime()
      .nullable()
      .describe('Time of the latest payment that verifies a route now; null when no route is verified'),
    payment_verified: z.boolean().describe('True when at least one route is settlement-verified'),
    reliability_band: reliabilityBand,
    reliability_score: z.number().nullable(),
    updated_at: z.iso.datetime(),
    cautions: z
      .array(agentCaution)
      .describe('What speaks against its routes, the gravest first; empty where nothing does'),
    match: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('In answers to `q`: how much of the request the listing answers, rare words counting most'),
    route: matchedRoute
      .optional()
      .describe('In answers to `q`: its route that answers most of the request, of those that pass the filters'),
    source_names: z.array(z.string()).describe('Names or addresses of the sources that its texts and claims come from'),
  })
  .meta({ id: 'AgentItem' });
export type AgentItem = z.infer<typeof agentItem>;

/** How far a listing is verified, when it was last, and as of when that is said. */
export type Verification = Pick<
  AgentItem,
  'endpoints_count' | 'verified_route_count' | 'last_verified_at' | 'updated_at'
>;

/** Gives how many routes of a listing are verified now, and the time of the latest payment among those that did it. */
export function getVerification({ routes, updated_at }: Pick<Listing, 'routes' | 'updated_at'>): Verification {
  const times = routes.flatMap(({ proof }) => proof?.verified_at ?? []).toSorted();
  return {
    endpoints_count: routes.length,
    verified_route_count: getVerifiedRouteCount({ routes }),
    last_verified_at: times.at(-1) ?? null,
    updated_at,
  };
}

/** Builds the short form of a live listing. */
export function buildAgentItem(listing: LiveListing, site: Site): AgentItem {
  const verification = getVerification(listing);
  return {
    slug: listing.slug,
    id: listing.id,
    title: listing.title,
    tagline: listing.tagline,
    category: listing.category,
    provider_name: listing.provider_name,
    base_url: listing.base_url,
    host: getHost(listing.base_url),
    page_url: buildUrl(site.baseUrl, PATHS.listing(listing.slug)),
    price_min_usdc: getUsdcNumber(listing.price_min),
    price_max_usdc: getUsdcNumber(listing.price_max),
    networks: listing.networks.filter(({ advertised }) => advertised).map(({ key }) => key),
    ...verification,
    payment_verified: verification.verified_route_count > 0,
    reliability_band: listing.reliability.band,
    reliability_score: listing.reliability.score,
    updated_at: listing.updated_at,
    cautions: listCautionSummaries(listing),
    source_names: listing.sources.map(({ name }) => name),
  };
}
