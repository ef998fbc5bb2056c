import { type Caution, isMoving } from '../model/caution.ts';
import type { Listing } from '../model/listing.ts';
import type { Route } from '../model/route.ts';
import type { DerivedListing } from './listing.ts';

/** Smallest change of the score that is worth publishing by itself. */
const SCORE_STEP = 5;

/** Returns what readers see of a listing, without fields that only say how recent it is. */
function omitFreshness({
  networks,
  routes,
  cautions,
  reliability,
  latency: _latency,
  sources,
  ...rest
}: DerivedListing) {
  return {
    ...rest,
    cautions: cautions.map(omitCautionFreshness),
    networks: omitNetworkFreshness(networks),
    routes: routes.map(omitRouteFreshness),
    band: reliability.band,
    sources: sources.map(({ observed_at, ...source }) => ({ ...source, observed: observed_at !== null })),
  };
}

/** Returns network entries without the time they were last seen; `advertised` says whether they were. */
export function omitNetworkFreshness(networks: DerivedListing['networks']) {
  return networks.map(({ last_seen_at: _seen, ...entry }) => entry);
}

/** Returns a caution without the times and counts that may change with every probe. */
function omitCautionFreshness({ since, evidence, ...caution }: Caution) {
  return isMoving(caution) ? caution : { ...caution, since, evidence };
}

/**
 * Returns a route without the time its terms were last seen, the outcome of its latest probe, and its sources. The fact
 * that it was probed stays.
 */
export function omitRouteFreshness({ terms, probe, cautions, said_by: _said, set_aside: _aside, ...route }: Route) {
  return {
    ...route,
    cautions: cautions.map(omitCautionFreshness),
    probed: probe !== null,
    terms: terms.map(({ last_seen_at, ...offer }) => ({ ...offer, seen: last_seen_at !== null })),
  };
}

/**
 * Returns whether new samples of a listing can wait for the daily publication of fresher times: nothing changed except
 * times, counts and less than five points of the score. So samples alone do not raise the revision.
 */
export function canPublicationWait(before: Listing, after: DerivedListing): boolean {
  if (JSON.stringify(omitFreshness(omitDates(before))) !== JSON.stringify(omitFreshness(after))) return false;
  const [was, is] = [before.reliability, after.reliability];
  return Math.abs((was.score ?? 0) - (is.score ?? 0)) < SCORE_STEP;
}

/** Returns whether a published listing equals what now follows from the evidence, to the last time, count and point. */
export function isUpToDate(before: Listing, after: DerivedListing): boolean {
  return JSON.stringify(omitDates(before)) === JSON.stringify(after);
}

function omitDates({ listed_at: _listed, updated_at: _updated, revision: _revision, ...derived }: Listing) {
  return derived;
}
