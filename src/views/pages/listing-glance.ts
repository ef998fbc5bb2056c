import { getCurrentTerms } from '../../evidence/terms.ts';
import type { LiveListing } from '../../model/listing.ts';
import { formatPriceRange } from '../../model/usdc.ts';
import { formatCount, formatVerifiedRatio } from '../description.ts';
import { formatDay } from '../times.ts';

/** A thing to decide by: what it is, and what that rests on. */
export interface GlanceFact {
  readonly value: string;
  readonly note: string;
}

/** What somebody decides by before reading on: is it verified, what does it cost, does it answer. */
export interface Glance {
  readonly verification: GlanceFact;
  /** Value in USDC per request. */
  readonly price: GlanceFact;
  readonly reliability: GlanceFact;
}

/** Builds what the first screen of a listing's page says of it. */
export function buildGlance(listing: LiveListing): Glance {
  return {
    verification: buildVerification(listing),
    price: {
      value: formatPriceRange(listing.price_min, listing.price_max),
      note: formatPriceEvidence(listing),
    },
    reliability: buildReliability(listing),
  };
}

function buildVerification(listing: LiveListing): GlanceFact {
  const days = listing.routes.flatMap(({ proof }) => (proof ? [formatDay(proof.verified_at)] : []));
  const latest = days.sort().at(-1);
  if (latest === undefined) return { value: 'Unverified', note: 'no route was paid for by this service' };
  return { value: 'Settlement-verified', note: `${formatVerifiedRatio(listing)}, ${latest}` };
}

function formatPriceEvidence({ routes }: LiveListing): string {
  const current = routes.flatMap(({ terms }) => getCurrentTerms(terms));
  const seen = current.flatMap(({ evidence, last_seen_at }) =>
    evidence === 'observed' && last_seen_at !== null ? [last_seen_at] : [],
  );
  const latest = seen.sort().at(-1);
  return latest === undefined ? 'as declared' : `402 seen ${formatDay(latest)}`;
}

function buildReliability({ reliability }: LiveListing): GlanceFact {
  const { band, score, samples, window_days, last_sample_at, days } = reliability;
  if (last_sample_at === null)
    return { value: 'Unscored', note: days.length === 0 ? 'not yet sampled' : 'no telling sample' };
  const basis = `${formatCount(samples, 'sample')} in ${window_days} days`;
  return score === null
    ? { value: 'Unscored', note: `too little is known, ${basis}` }
    : { value: `${score} of 100`, note: `${band}, ${basis}` };
}
