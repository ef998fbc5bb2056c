import { z } from 'zod';
import { category } from '../model/catalogue.ts';
import { getPrimaryNetwork, getVerifiedRouteCount, type LiveListing, reliabilityBand } from '../model/listing.ts';
import { networkEntry, networkKey } from '../model/network.ts';
import { getUsdcNumber } from '../model/usdc.ts';
import { buildDescription } from './description.ts';
import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';

/** A listing as a tag of the OpenAPI document, field by field of the specification's table. */
export const listingTag = z
  .object({
    name: z.string(),
    description: z.string(),
    externalDocs: z.object({ description: z.string(), url: z.url() }),
    'x-payment-verified': z.boolean(),
    'x-verified-route-count': z.int().nonnegative(),
    'x-reliability-score': z.number().nullable(),
    'x-reliability-band': reliabilityBand,
    'x-price-min-usdc': z.number(),
    'x-price-max-usdc': z.number(),
    'x-network': networkKey,
    'x-endpoints-count': z.int().nonnegative(),
    'x-category': category,
    'x-provider-name': z.string(),
    'x-base-url': z.url(),
    'x-mcp-endpoint': z.url().nullable(),
    'x-marketplace-url': z.url(),
    'x-listing-id': z.uuid(),
    'x-network-id': z.string(),
    'x-networks': z.array(networkEntry),
  })
  .meta({ id: 'ListingTag' });
export type ListingTag = z.infer<typeof listingTag>;

/** Builds the tag of a live listing. */
export function buildListingTag(listing: LiveListing, site: Site): ListingTag {
  const verifiedRoutes = getVerifiedRouteCount(listing);
  const primary = getPrimaryNetwork(listing);
  return {
    name: listing.slug,
    description: buildDescription(listing),
    externalDocs: { description: `${listing.title} base URL`, url: listing.base_url },
    'x-payment-verified': verifiedRoutes > 0,
    'x-verified-route-count': verifiedRoutes,
    'x-reliability-score': listing.reliability.score,
    'x-reliability-band': listing.reliability.band,
    'x-price-min-usdc': getUsdcNumber(listing.price_min),
    'x-price-max-usdc': getUsdcNumber(listing.price_max),
    'x-network': primary.key,
    'x-endpoints-count': listing.routes.length,
    'x-category': listing.category,
    'x-provider-name': listing.provider_name,
    'x-base-url': listing.base_url,
    'x-mcp-endpoint': listing.mcp_endpoint,
    'x-marketplace-url': buildUrl(site.baseUrl, PATHS.listing(listing.slug)),
    'x-listing-id': listing.id,
    'x-network-id': primary.id,
    'x-networks': listing.networks,
  };
}
