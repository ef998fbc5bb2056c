import { getPrimaryNetwork } from '../evidence/networks.ts';
import { getVerifiedRouteCount, type LiveListing } from '../model/listing.ts';
import { cutText } from '../model/text.ts';
import { formatPriceRange } from '../model/usdc.ts';

/** How much of a provider's text a document quotes (design contract, "Listings"). */
const QUOTED_CHARACTERS = 600;

/**
 * Builds the description of a listing's tag: the provider's text, cut at a character boundary, then one generated suffix
 * that is never cut (specification, "Listing").
 */
export function buildDescription(listing: LiveListing): string {
  return [cutText(listing.description, QUOTED_CHARACTERS), buildSuffix(listing)].filter(Boolean).join(' ');
}

/**
 * Splits the description of a listing's tag into what was quoted of the provider's text and the generated line. The line
 * holds no bracket of its own, so its start is the last of its kind, whatever the provider wrote.
 */
export function splitDescription(description: string): { quoted: string; line: string } {
  const at = description.lastIndexOf('[');
  return { quoted: description.slice(0, Math.max(at, 0)).trimEnd(), line: description.slice(at + 1, -1) };
}

/** Says category, price range, network, endpoint count, verification and reliability of a listing in one generated line. */
export function buildSuffix(listing: LiveListing): string {
  const network = getPrimaryNetwork(listing.networks);
  return [
    `[${listing.category}`,
    `${formatPriceRange(listing.price_min, listing.price_max)} USDC per request`,
    `${network.label}${network.advertised ? '' : ' (not currently advertised)'}`,
    formatCount(listing.routes.length, 'endpoint'),
    formatVerification(listing),
    `${formatReliability(listing)}]`,
  ].join('; ');
}

/** Says how many routes of a listing are settlement-verified: `1 of 2 routes verified`. */
export function formatVerifiedRatio(listing: Pick<LiveListing, 'routes'>): string {
  return formatRatio(getVerifiedRouteCount(listing), listing.routes.length);
}

/** Says how many of `total` routes are settlement-verified, in the specification's words ("Listing page"). */
export function formatRatio(verified: number, total: number): string {
  return `${verified} of ${total} ${total === 1 ? 'route' : 'routes'} verified`;
}

/** Says how reliable a listing is in words, with what the score rests on. */
export function formatReliability({ reliability }: Pick<LiveListing, 'reliability'>): string {
  if (reliability.score === null) return 'reliability unscored';
  return `reliability ${reliability.score} of 100 (${reliability.band}, ${reliability.samples} samples)`;
}

function formatVerification(listing: LiveListing): string {
  const verified = getVerifiedRouteCount(listing);
  if (verified === 0) return 'not settlement-verified';
  return `settlement-verified on ${formatVerifiedRatio(listing).replace(' verified', '')}, all other routes unverified`;
}

/** Writes a count with its noun: `1 endpoint`, `2 endpoints`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
