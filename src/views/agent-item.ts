import { z } from 'zod';
import { category } from '../model/category.ts';
import { cautionCode, cautionSeverity } from '../model/caution.ts';
import {
  getVerifiedRouteCount,
  type LiveListing,
  listCautionSummaries,
  reliabilityBand,
  slug,
} from '../model/listing.ts';
import { networkKey } from '../model/network.ts';
import { getUsdcNumber } from '../model/usdc.ts';
import { buildUrl, PATHS } from './links.ts';
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
    page_url: z.url(),
    price_min_usdc: z.number(),
    price_max_usdc: z.number(),
    networks: z.array(networkKey).describe('Networks on which payment is currently advertised'),
    endpoints_count: z.int().nonnegative(),
    verified_route_count: z.int().nonnegative(),
    payment_verified: z.boolean().describe('True when at least one route is settlement-verified'),
    reliability_band: reliabilityBand,
    reliability_score: z.number().nullable(),
    updated_at: z.iso.datetime(),
    cautions: z
      .array(agentCaution)
      .describe('What speaks against its routes, the gravest first; empty where nothing does'),
  })
  .meta({ id: 'AgentItem' });
export type AgentItem = z.infer<typeof agentItem>;

/** Builds the short form of a live listing. */
export function buildAgentItem(listing: LiveListing, site: Site): AgentItem {
  const verifiedRoutes = getVerifiedRouteCount(listing);
  return {
    slug: listing.slug,
    id: listing.id,
    title: listing.title,
    tagline: listing.tagline,
    category: listing.category,
    provider_name: listing.provider_name,
    base_url: listing.base_url,
    page_url: buildUrl(site.baseUrl, PATHS.listing(listing.slug)),
    price_min_usdc: getUsdcNumber(listing.price_min),
    price_max_usdc: getUsdcNumber(listing.price_max),
    networks: listing.networks.filter(({ advertised }) => advertised).map(({ key }) => key),
    endpoints_count: listing.routes.length,
    verified_route_count: verifiedRoutes,
    payment_verified: verifiedRoutes > 0,
    reliability_band: listing.reliability.band,
    reliability_score: listing.reliability.score,
    updated_at: listing.updated_at,
    cautions: listCautionSummaries(listing),
  };
}
