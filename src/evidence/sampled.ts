import type { Reliability } from '../model/listing.ts';
import { isConclusive, isPayable } from '../model/outcome.ts';
import type { RouteProbe } from '../model/route.ts';
import type { ProbeSample } from '../model/sample.ts';
import { type FailingRun, findFailingRun } from './delisting.ts';
import { getReliability, UNSCORED } from './reliability.ts';

/** What is kept of a sample for the rules: which route, when, what it came to. */
export interface KeptSample extends Pick<ProbeSample, 'at' | 'outcome' | 'cause' | 'status'> {
  route_id: string;
  round: number;
}

/** What the samples of one listing come to. */
export interface Sampled {
  reliability: Reliability;
  /** How each route that was probed stands, by route id. */
  routes: ReadonlyMap<string, RouteProbe>;
  /** Undefined while the latest conclusive sample is a valid 402, or there is none. */
  failing: FailingRun | undefined;
  /** The latest sample that counts, of whichever route; undefined where there is none. */
  latest: KeptSample | undefined;
  /** The latest valid 402, and the latest conclusive failure, of whichever route. */
  latest_valid: KeptSample | undefined;
  latest_failed: KeptSample | undefined;
}

export const UNSAMPLED: Sampled = Object.freeze({
  reliability: UNSCORED,
  routes: new Map(),
  failing: undefined,
  latest: undefined,
  latest_valid: undefined,
  latest_failed: undefined,
});

/**
 * Gives what the samples of a listing come to, as of the latest of them. Of a round in which the fault was ours
 * (`ourRounds`) only valid answers tell anything: the others are left out as if they had never been taken.
 */
export function getSampled(samples: readonly KeptSample[], ourRounds: ReadonlySet<number>): Sampled {
  const counted = samples
    .filter(({ outcome, round }) => isPayable(outcome) || !ourRounds.has(round))
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const latest = counted.at(-1);
  if (!latest) return UNSAMPLED;
  const byRoute = Map.groupBy(counted, ({ route_id }) => route_id);
  return {
    reliability: getReliability(listSpaced(counted), latest.at),
    routes: new Map([...byRoute].map(([id, taken]) => [id, getRouteProbe(taken)])),
    failing: findFailingRun(listLooks(counted)),
    latest,
    latest_valid: counted.findLast(({ outcome }) => isPayable(outcome)),
    latest_failed: counted.findLast(({ outcome }) => isConclusive(outcome) && !isPayable(outcome)),
  };
}

/** Samples closer together are one to the score, which is made of one every six hours or so: in milliseconds. */
const SPACING_MS = 5 * 60 * 60 * 1000;

/**
 * Lists the samples that a score is made of: a pass over all routes of a listing, or an operator who looks again and
 * again, weighs no more than one look. Of those together the first that is conclusive counts. `samples` are in order.
 */
function listSpaced(samples: readonly KeptSample[]): KeptSample[] {
  const spaced: KeptSample[] = [];
  let nextMs = Number.NEGATIVE_INFINITY;
  for (const sample of samples) {
    const last = spaced.at(-1);
    const takenMs = Date.parse(sample.at);
    if (!last || takenMs >= nextMs) spaced.push(sample);
    else if (!isConclusive(last.outcome) && isConclusive(sample.outcome)) spaced[spaced.length - 1] = sample;
    else continue;
    nextMs = takenMs + SPACING_MS;
  }
  return spaced;
}

/** Lists the samples that a failing run is made of: every valid answer, and of failures together only the first. */
function listLooks(samples: readonly KeptSample[]): KeptSample[] {
  const lastValid = samples.findLastIndex(({ outcome }) => isPayable(outcome));
  return [...samples.slice(0, lastValid + 1), ...listSpaced(samples.slice(lastValid + 1))];
}

/** `taken` are the samples of one route, oldest first; there is at least one. */
function getRouteProbe(taken: readonly KeptSample[]): RouteProbe {
  const { at, outcome, cause, status } = taken.at(-1) as KeptSample;
  const valid = taken.findLastIndex((sample) => isPayable(sample.outcome));
  const failing = listSpaced(taken.slice(valid + 1)).filter((sample) => isConclusive(sample.outcome));
  const valid_at = taken[valid]?.at ?? null;
  return { at, outcome, cause, status, valid_at, failures: failing.length, failing_since: failing[0]?.at ?? null };
}

/** Conclusive failures in a row after which a route is no longer taken to be offered. */
const SILENT_AFTER = 3;

/**
 * Says whether a route that was last seen on offer is to be taken for still on offer: until it failed three times in a
 * row, or its whole listing so often that each of its routes had its turn.
 */
export function isStillOffered(
  probe: Pick<RouteProbe, 'failures'> | null,
  { failing, routes }: { failing: FailingRun | undefined; routes: number },
): boolean {
  if (failing && failing.failures >= Math.max(SILENT_AFTER, routes)) return false;
  return probe === null || probe.failures < SILENT_AFTER;
}
