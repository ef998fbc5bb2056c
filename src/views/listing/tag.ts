import { z } from 'zod';
import { category } from '../../model/catalogue.ts';
import { reliabilityBand } from '../../model/listing.ts';
import { isPaidOn, type NetworkEntry, networkEntry, networkKey } from '../../model/network.ts';
import { cutText } from '../../model/text.ts';
import { buildUrl, PATHS } from '../links.ts';
import type { Site } from '../site.ts';
import { formatCautionLine } from '../words/caution.ts';
import { formatCount } from '../words/figures.ts';
import { formatItemPrice, formatOtherRoutes, formatVerification } from './item.ts';
import type { PublicHead } from './record.ts';

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
export function buildListingTag(listing: PublicHead, site: Site): ListingTag {
  const primary = getPrimaryNetwork(listing);
  return {
    name: listing.slug,
    description: buildDescription(listing),
    externalDocs: { description: `${listing.title} base URL`, url: listing.base_url },
    'x-payment-verified': listing.payment_verified,
    'x-verified-route-count': listing.verified_route_count,
    'x-reliability-score': listing.reliability.score,
    'x-reliability-band': listing.reliability.band,
    'x-price-min-usdc': listing.price_min_usdc,
    'x-price-max-usdc': listing.price_max_usdc,
    'x-network': primary.key,
    'x-endpoints-count': listing.endpoints_count,
    'x-category': listing.category,
    'x-provider-name': listing.provider_name,
    'x-base-url': listing.base_url,
    'x-mcp-endpoint': listing.mcp_endpoint,
    'x-marketplace-url': buildUrl(site.baseUrl, PATHS.listing(listing.slug)),
    'x-listing-id': listing.id,
    'x-network-id': primary.id,
    'x-networks': listing.network_entries,
  };
}

/** Longest part of a provider's text that a document quotes, in characters. */
const QUOTED_CHARACTERS = 600;

/**
 * Builds the description of a listing's tag: the provider's text, cut at a character boundary, then one generated suffix
 * that is never cut (specification, "Listing").
 */
export function buildDescription(listing: PublicHead): string {
  return [cutText(listing.description, QUOTED_CHARACTERS), buildSuffix(listing)].filter(Boolean).join(' ');
}

/**
 * Splits the description of a listing's tag into the quoted text of the provider and the generated line. The line has
 * no bracket inside, so the last opening bracket is its start, also where the provider's text has brackets.
 */
export function splitDescription(description: string): { quoted: string; line: string } {
  const at = description.lastIndexOf('[');
  return { quoted: description.slice(0, Math.max(at, 0)).trimEnd(), line: description.slice(at + 1, -1) };
}

/** Writes category, price range, network, endpoint count, verification and reliability of a listing in one line. */
export function buildSuffix(listing: PublicHead): string {
  const others = formatOtherRoutes(listing);
  return [
    `[${listing.category}`,
    `${formatItemPrice(listing)} USDC per request`,
    formatNetworks(listing),
    formatCount(listing.endpoints_count, 'endpoint'),
    formatVerification(listing),
    ...(others ? [others.toLowerCase().replace(/\.$/, '')] : []),
    formatReliability(listing),
    ...listing.cautions.map(formatCautionLine),
  ]
    .join('; ')
    .concat(']');
}

/** The networks of a listing, and the one that it is shown under. */
type ShownNetworks = Pick<PublicHead, 'primary_network' | 'network_entries'>;

/** Returns the entry of the network that a listing is shown under. Throws if the listing has no entry. */
function getPrimaryNetwork({ primary_network, network_entries }: ShownNetworks): NetworkEntry {
  const entry = network_entries.find(({ key }) => key === primary_network) ?? network_entries[0];
  if (!entry) throw new Error('a listing carries an entry for base');
  return entry;
}

/** Names the networks of a listing, the one that it is shown under first, and marks those without advertised payment. */
export function formatNetworks(listing: ShownNetworks): string {
  const primary = getPrimaryNetwork(listing);
  const others = listing.network_entries.filter((entry) => entry.key !== primary.key && isPaidOn(entry));
  return [primary, ...others]
    .map((entry) => (entry.advertised ? entry.label : `${entry.label} (${describeOffer(entry)})`))
    .join(', ');
}

/** Describes whether a network is advertised, or only named by the sources. */
export function describeOffer({ advertised, declared }: NetworkEntry): string {
  if (advertised) return 'advertised';
  return declared ? 'declared, not seen' : 'not currently advertised';
}

/** Writes the reliability of a listing in words, with the samples behind the score. */
function formatReliability({ reliability }: Pick<PublicHead, 'reliability'>): string {
  if (reliability.score === null) return 'reliability unscored';
  return `reliability ${reliability.score} of 100 (${reliability.band}, ${reliability.samples} samples)`;
}
