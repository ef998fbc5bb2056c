import { HOUR_MS } from '../model/duration.ts';
import type { Reliability } from '../model/listing.ts';
import { isConclusive, isPayable, type Latency, type ProbeSample, READS_DIFFERENTLY } from '../model/probe.ts';
import type { RouteProbe } from '../model/route.ts';
import { compareTexts } from '../model/text.ts';
import { type FailingRun, findFailingRun } from './delisting.ts';
import { findLatency } from './latency.ts';
import { getReliability, UNSCORED } from './reliability.ts';

/** The part of a sample that the rules use: its route, time and outcome, and how long the answer took. */
export interface KeptSample extends Pick<ProbeSample, 'at' | 'outcome' | 'cause' | 'status' | 'latency_ms'> {
  route_id: string;
  /** True if it was taken in a round whose failures are judged to be the fault of the machine that probed. */
  is_ours: boolean;
}

/** The summary of the samples of one listing. */
export interface SampleSummary {
  reliability: Reliability;
  /** Latency; null while there are too few valid answers. */
  latency: Latency | null;
  /** The state of each probed route, by route id. */
  routes: ReadonlyMap<string, RouteProbe>;
  /** The failing run; undefined if the latest conclusive sample is a valid 402, or without conclusive samples. */
  failing: FailingRun | undefined;
  /** The latest sample that counts, of any route; undefined if there is none. */
  latest: KeptSample | undefined;
  /** The latest valid 402, of any route. */
  latest_valid: KeptSample | undefined;
  /** The latest conclusive failure that counts. */
  latest_failed: KeptSample | undefined;
  /**
   * Number of routes that the score and the failing run are about, if those are only the routes that ever gave a valid
   * 402; else 0.
   */
  proven: number;
}

export const NO_SAMPLES: SampleSummary = Object.freeze({
  reliability: UNSCORED,
  latency: null,
  routes: new Map(),
  failing: undefined,
  latest: undefined,
  latest_valid: undefined,
  latest_failed: undefined,
  proven: 0,
});

/**
 * Returns the summary of a listing's samples, as of the latest of them. Only valid answers count in rounds with a fault
 * of our own: the other samples are ignored. The score and the failing run are about the routes that ever gave a valid
 * 402, once one did: anybody can name a route that does not exist. Before that, they are about all but those set aside.
 */
export function getSampleSummary(
  samples: readonly KeptSample[],
  setAside: ReadonlySet<string> = new Set(),
): SampleSummary {
  const counted = samples
    .filter(({ outcome, is_ours }) => isPayable(outcome) || !is_ours)
    .toSorted((a, b) => compareTexts(a.at, b.at));
  const latest = counted.at(-1);
  if (!latest) return NO_SAMPLES;
  const byRoute = Map.groupBy(counted, ({ route_id }) => route_id);
  const proven = new Set(counted.filter(({ outcome }) => isPayable(outcome)).map(({ route_id }) => route_id));
  const standing = counted.filter(({ route_id }) => (proven.size > 0 ? proven.has(route_id) : !setAside.has(route_id)));
  // An answer that came in a round with a fault of our own may have come late by the same fault.
  const getTypicalLatency = (taken: readonly KeptSample[]) =>
    findLatency(listSpacedSamples(taken.filter(({ is_ours }) => !is_ours)), latest.at);
  return {
    reliability: getReliability(listSpacedSamples(standing), latest.at),
    latency: getTypicalLatency(counted),
    routes: new Map(
      [...byRoute].map(([id, taken]) => [id, { ...getRouteProbe(taken), latency: getTypicalLatency(taken) }]),
    ),
    failing: findFailingRun(listRunSamples(standing)),
    latest,
    latest_valid: counted.findLast(({ outcome }) => isPayable(outcome)),
    latest_failed: standing.findLast(({ outcome }) => isConclusive(outcome) && !isPayable(outcome)),
    proven: proven.size,
  };
}

/**
 * Shortest time between two samples that both count for the score, in milliseconds. The score expects about one every
 * six hours.
 */
const SPACING_MS = 5 * HOUR_MS;

/**
 * Lists the samples that a score is made of. Samples that are close together count once, so a pass over all routes or
 * repeated manual probes weigh no more than one probe. The first conclusive one of them counts. `samples` are in order
 * of time.
 */
function listSpacedSamples(samples: readonly KeptSample[]): KeptSample[] {
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

/**
 * Lists the samples that a failing run is made of: every valid answer, and only the first of failures that are close
 * together.
 */
function listRunSamples(samples: readonly KeptSample[]): KeptSample[] {
  const lastValid = samples.findLastIndex(({ outcome }) => isPayable(outcome));
  return [...samples.slice(0, lastValid + 1), ...listSpacedSamples(samples.slice(lastValid + 1))];
}

/** Builds the state of one route but its latency from its samples, oldest first; there is at least one. */
function getRouteProbe(taken: readonly KeptSample[]): Omit<RouteProbe, 'latency'> {
  const { at, outcome, cause, status } = taken.at(-1) as KeptSample;
  const valid = taken.findLastIndex((sample) => isPayable(sample.outcome));
  const failing = listSpacedSamples(taken.slice(valid + 1)).filter((sample) => isConclusive(sample.outcome));
  const valid_at = taken[valid]?.at ?? null;
  const answers = taken.filter((sample) => isPayable(sample.outcome));
  const ambiguous = answers[answers.findLastIndex((sample) => sample.cause !== READS_DIFFERENTLY) + 1];
  return {
    at,
    outcome,
    cause,
    status,
    valid_at,
    failures: failing.length,
    failing_since: failing[0]?.at ?? null,
    ...(ambiguous && { reads_differently_since: ambiguous.at }),
  };
}

/** Number of conclusive failures in a row after which a route no longer counts as offered. */
const SILENT_AFTER = 3;

/**
 * Returns whether a route that was offered still counts as offered: until it failed three times in a row, or its whole
 * listing failed so often that each of its routes had its turn.
 */
export function isStillOffered(
  probe: Pick<RouteProbe, 'failures'> | null,
  { failing, routes }: { failing: FailingRun | undefined; routes: number },
): boolean {
  if (failing && failing.failures >= Math.max(SILENT_AFTER, routes)) return false;
  return probe === null || probe.failures < SILENT_AFTER;
}
