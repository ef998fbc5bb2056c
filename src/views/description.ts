import { getPrimaryNetwork, getVerifiedRouteCount, type Listing, type LiveListing } from '../model/listing.ts';
import type { NetworkEntry } from '../model/network.ts';
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
  return [
    `[${listing.category}`,
    `${formatPriceRange(listing.price_min, listing.price_max)} USDC per request`,
    formatPrimaryNetwork(listing),
    formatCount(listing.routes.length, 'endpoint'),
    formatVerification(listing),
    `${formatReliability(listing)}]`,
  ].join('; ');
}

/** Names the network a listing is shown under, and says so where payment on it is not advertised. */
export function formatPrimaryNetwork(listing: Listing): string {
  const entry = getPrimaryNetwork(listing);
  return entry.advertised ? entry.label : `${entry.label} (${describeOffer(listing, entry)})`;
}

/**
 * Says whether payment on a network is on offer, and whether that was ever seen: a source can name a network that no probe
 * and no dated source has found yet.
 */
export function describeOffer(listing: Listing, { key, advertised, last_verified_at }: NetworkEntry): string {
  if (advertised) return 'advertised';
  const { routes, sources, primary_network } = listing;
  const terms = routes.flatMap((route) => route.terms).filter(({ network }) => network === key);
  const isDeclared = routes.length === 0 ? key === primary_network : terms.some(({ current }) => current);
  const seen = routes.length === 0 ? sources.map(({ observed_at }) => observed_at) : terms.map((t) => t.last_seen_at);
  const wasSeen = last_verified_at !== null || seen.some((at) => at !== null);
  return isDeclared && !wasSeen ? 'declared, not seen' : 'not currently advertised';
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
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
