import { z } from 'zod';
import { getPriceCeilings } from '../evidence/terms.ts';
import { category } from '../model/catalogue.ts';
import { getHost, type LiveListing, listCautionSummaries, reliabilityBand } from '../model/listing.ts';
import { networkKey } from '../model/network.ts';
import { formatPriceRange } from '../model/usdc.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import { getVerification } from '../views/listing/item.ts';
import type { Site } from '../views/site.ts';
import { formatCompactRatio, shortenText } from './compact.ts';
import { formatCautions } from './compact-item.ts';

const TITLE_LENGTH = 80;
const DESCRIPTION_LENGTH = 240;
const PROVIDER_LENGTH = 60;
/** Longest optional address that is quoted. */
const ADDRESS_LENGTH = 200;

const compactNetwork = z.object({
  key: networkKey,
  advertised: z.boolean(),
  settlement_verified: z.boolean(),
  last_seen_at: z.string().optional(),
  last_verified_at: z.string().optional(),
});

/** What `get_listing` says of a listing besides its routes. */
export const compactListing = z.object({
  caution: z.string().optional(),
  title: z.string(),
  host: z.string(),
  description: z.string(),
  provider_name: z.string(),
  category,
  price_usdc: z.string(),
  networks: z.array(compactNetwork),
  verified_routes: z.string(),
  reliability: z.object({
    band: reliabilityBand,
    score: z.number().optional(),
    samples: z.int().nonnegative(),
    last_sample_at: z.string().optional(),
  }),
  mcp_endpoint: z.string().optional(),
  docs_url: z.string().optional(),
  page_url: z.string(),
  updated_at: z.string(),
});
export type CompactListing = z.infer<typeof compactListing>;

/** Builds what `get_listing` says of a live listing besides its routes. */
export function buildCompactListing(listing: LiveListing, { baseUrl }: Site): CompactListing {
  const { band, score, samples, last_sample_at } = listing.reliability;
  const cautions = listCautionSummaries(listing);
  return {
    ...(cautions.length > 0 && { caution: formatCautions(cautions) }),
    title: shortenText(listing.title, TITLE_LENGTH),
    host: getHost(listing.base_url),
    description: shortenText(listing.description, DESCRIPTION_LENGTH),
    provider_name: shortenText(listing.provider_name, PROVIDER_LENGTH),
    category: listing.category,
    price_usdc: formatPriceRange(listing.price_min, listing.price_max, getPriceCeilings(listing)),
    networks: listing.networks.map(buildCompactNetwork),
    verified_routes: formatCompactRatio(getVerification(listing)),
    reliability: {
      band,
      ...(score !== null && { score }),
      samples,
      ...(last_sample_at !== null && { last_sample_at }),
    },
    ...(isShort(listing.mcp_endpoint) && { mcp_endpoint: listing.mcp_endpoint }),
    ...(isShort(listing.docs_url) && { docs_url: listing.docs_url }),
    page_url: buildUrl(baseUrl, PATHS.listing(listing.slug)),
    updated_at: listing.updated_at,
  };
}

function buildCompactNetwork(entry: LiveListing['networks'][number]): z.infer<typeof compactNetwork> {
  const { key, advertised, settlement_verified, last_seen_at, last_verified_at } = entry;
  return {
    key,
    advertised,
    settlement_verified,
    ...(last_seen_at !== null && { last_seen_at }),
    ...(last_verified_at !== null && { last_verified_at }),
  };
}

function isShort(address: string | null): address is string {
  return address !== null && address.length <= ADDRESS_LENGTH;
}
