import { isProofOld } from '../evidence/verification.ts';
import { getPrimaryNetwork, type Listing, type LiveListing, listCautionSummaries } from '../model/listing.ts';
import type { NetworkEntry } from '../model/network.ts';
import { cutText } from '../model/text.ts';
import { formatPriceRange } from '../model/usdc.ts';
import { getVerification, type Verification } from './agent-item.ts';
import { formatCautionLine } from './caution-words.ts';
import { formatDay } from './times.ts';

/** How much of a provider's text a document quotes. */
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
  const verification = getVerification(listing);
  const others = formatOtherRoutes(verification);
  return [
    `[${listing.category}`,
    `${formatPriceRange(listing.price_min, listing.price_max)} USDC per request`,
    formatPrimaryNetwork(listing),
    formatCount(listing.routes.length, 'endpoint'),
    formatVerification(verification),
    ...(others ? [others.toLowerCase().replace(/\.$/, '')] : []),
    formatReliability(listing),
    ...listCautionSummaries(listing).map(formatCautionLine),
  ]
    .join('; ')
    .concat(']');
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

/** How far a listing is verified: in all of its routes on record, in some, or in none. */
export type VerifiedExtent = 'all' | 'some' | 'none';

/** Gives how far a listing is verified. */
export function getVerifiedExtent({ verified_route_count, endpoints_count }: Verification): VerifiedExtent {
  if (verified_route_count === 0) return 'none';
  return verified_route_count === endpoints_count ? 'all' : 'some';
}

/** Says in a mark how much of a listing is verified, and the day of the latest payment: `1 of 2 routes verified, 2026-11-20`. */
export function formatVerifiedRatio(verification: Verification): string {
  return formatRatio(verification, 'verified');
}

/** Says the same in the specification's word: `1 of 2 routes settlement-verified, 2026-11-20`. */
export function formatVerification(verification: Verification): string {
  return formatRatio(verification, 'settlement-verified');
}

/** Counts the verified routes of all: `1 of 2 routes`. */
export function formatRouteRatio({ verified_route_count: verified, endpoints_count: total }: Verification): string {
  return `${verified} of ${formatCount(total, 'route')}`;
}

/** Says what holds of every route that is not verified; empty where no route is. */
export function formatOtherRoutes(verification: Verification): string {
  const extent = getVerifiedExtent(verification);
  if (extent === 'none') return '';
  return extent === 'all' ? 'Any other route is unverified.' : 'All other routes are unverified.';
}

function formatRatio(verification: Verification, state: string): string {
  const { last_verified_at: at, updated_at } = verification;
  if (getVerifiedExtent(verification) === 'none') return 'unverified';
  if (at !== null && isProofOld(at, updated_at)) return `${formatRouteRatio(verification)} ${formatLastProved(at)}`;
  return `${formatRouteRatio(verification)} ${state}${at === null ? '' : `, ${formatDay(at)}`}`;
}

/** Says of an old proof what it is: `last proved 2026-08-01`. It is not said as if it were of today. */
export function formatLastProved(verifiedAt: string): string {
  return `last proved ${formatDay(verifiedAt)}`;
}

/** Says how reliable a listing is in words, with what the score rests on. */
export function formatReliability({ reliability }: Pick<LiveListing, 'reliability'>): string {
  if (reliability.score === null) return 'reliability unscored';
  return `reliability ${reliability.score} of 100 (${reliability.band}, ${reliability.samples} samples)`;
}

/** Writes a count with its noun: `1 endpoint`, `2 endpoints`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
