import { getCurrentTerms } from '../../evidence/terms.ts';
import { isProofOld } from '../../evidence/verification.ts';
import type { LiveListing } from '../../model/listing.ts';
import { formatPriceRange } from '../../model/usdc.ts';
import { getVerification } from '../agent-item.ts';
import { formatCount, formatLastProved, formatOtherRoutes, formatRouteRatio } from '../description.ts';
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
  const verification = getVerification(listing);
  const { last_verified_at: at } = verification;
  if (at === null) return { value: 'Unverified', note: formatLackOfProof(listing) };
  const isOld = isProofOld(at, listing.updated_at);
  return {
    value: `${formatRouteRatio(verification)} ${isOld ? formatLastProved(at) : 'settlement-verified'}`,
    note: `${formatDay(at)}. ${formatOtherRoutes(verification)}`,
  };
}

/** A payment that brought nothing, and one that proves nothing any more, are payments all the same. */
function formatLackOfProof(listing: LiveListing): string {
  const undelivered = listing.routes.flatMap((route) => route.undelivered?.at ?? []).sort();
  const latest = undelivered.at(-1);
  if (latest !== undefined) return `paid ${formatDay(latest)}; nothing was delivered`;
  const lapsed = findLapsedProof(listing);
  return lapsed === undefined ? 'no route was paid for by this service' : `no longer: was verified ${lapsed}`;
}

/** Finds the day of the last verified call of a listing none of whose routes is verified now. */
export function findLapsedProof({ routes, networks }: LiveListing): string | undefined {
  if (routes.some(({ proof }) => proof !== null)) return undefined;
  const latest = networks.flatMap(({ last_verified_at }) => last_verified_at ?? []).sort();
  const day = latest.at(-1);
  return day === undefined ? undefined : formatDay(day);
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
    return { value: 'Unscored', note: days.length === 0 ? 'not yet sampled' : 'no conclusive answer so far' };
  const basis = `${formatCount(samples, 'sample')} in ${window_days} days`;
  return score === null
    ? { value: 'Unscored', note: `too little is known, ${basis}` }
    : { value: `${score} of 100`, note: `${band}, ${basis}` };
}
