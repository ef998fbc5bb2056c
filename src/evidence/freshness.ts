import type { Caution } from '../model/caution.ts';
import type { Listing } from '../model/listing.ts';
import type { Route } from '../model/route.ts';
import type { DerivedListing } from './listing.ts';

/** A score that moved less says the same of a listing. */
const SCORE_STEP = 5;

/** The parts of a listing that readers see, with everything left out that merely says how recent it is. */
export function getSubstance({ networks, routes, cautions, reliability, sources, ...rest }: DerivedListing) {
  return {
    ...rest,
    cautions: cautions.map(getCautionSubstance),
    networks: getNetworkSubstance(networks),
    routes: routes.map(getRouteSubstance),
    band: reliability.band,
    sources: sources.map(({ observed_at, ...source }) => ({ ...source, observed: observed_at !== null })),
  };
}

/** A network entry without when it was last seen; whether it was is in `advertised`. */
export function getNetworkSubstance(networks: DerivedListing['networks']) {
  return networks.map(({ last_seen_at: _seen, ...entry }) => entry);
}

/** A caution without since when and how often that was seen which may move with every look. */
function getCautionSubstance({ since, evidence, ...caution }: Caution) {
  const isMoving = caution.code === 'probes_failing' || caution.code === 'never_seen';
  return isMoving ? caution : { ...caution, since, evidence };
}

/** A route without when its terms were last seen and how its latest probe came out; that it was probed at all stays. */
export function getRouteSubstance({ terms, probe, cautions, ...route }: Route) {
  return {
    ...route,
    cautions: cautions.map(getCautionSubstance),
    probed: probe !== null,
    terms: terms.map(({ last_seen_at, ...offer }) => ({ ...offer, seen: last_seen_at !== null })),
  };
}

/**
 * Says whether what samples taught of a listing can wait for the daily publication of all that became fresher: nothing
 * moved but times, counts and less than five points of the score. So samples alone do not move the revision.
 */
export function canPublicationWait(before: Listing, after: DerivedListing): boolean {
  const { listed_at: _listed, updated_at: _updated, revision: _revision, ...published } = before;
  if (JSON.stringify(getSubstance(published)) !== JSON.stringify(getSubstance(after))) return false;
  const [was, is] = [before.reliability, after.reliability];
  return Math.abs((was.score ?? 0) - (is.score ?? 0)) < SCORE_STEP;
}
