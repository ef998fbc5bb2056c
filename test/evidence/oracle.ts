import type { ProbeOutcome } from '../../src/model/probe.ts';

/** The part of a sample that the rules use. */
export interface Taken {
  at: string;
  route_id: string;
  round: number;
  outcome: ProbeOutcome;
}

/** The summary of samples, computed from all of them in the simplest way. */
export interface Worked {
  band: 'established' | 'thin' | 'unscored';
  score: number | null;
  samples: number;
  last_sample_at: string | null;
  failing: { since: string; failures: number } | undefined;
  routes: Map<
    string,
    { at: string; outcome: ProbeOutcome; valid_at: string | null; failures: number; failing_since: string | null }
  >;
  /** Time and round of the latest sample that counts. */
  latest: Taken | undefined;
  /** How many routes ever gave a valid 402. */
  proven: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const Z = 1.959963984540054;
const NEITHER = ['input_rejected', 'rate_limited', 'blocked_address', 'internal'];

const isValid = ({ outcome }: Taken) => outcome === 'payable' || outcome === 'payable_with_changed_terms';
const isFailure = (sample: Taken) => !isValid(sample) && !NEITHER.includes(sample.outcome);

/** Computes the summary of samples (oldest first). In some rounds everything but valid answers is our own fault. */
export function workOut(all: readonly Taken[], ours: ReadonlySet<number>): Worked {
  const counted = all.filter((sample) => isValid(sample) || !ours.has(sample.round));
  const latest = counted.at(-1);
  const proven = new Set(counted.filter(isValid).map(({ route_id }) => route_id));
  // Once a route gave a valid 402, the others speak for and against nobody.
  const standing = counted.filter(({ route_id }) => proven.size === 0 || proven.has(route_id));
  const scored = listScored(standing, latest);
  const n = scored.length;
  const { share, effective } = weigh(scored);
  const span = n === 0 ? 0 : Date.parse(scored.at(-1)?.at ?? '') - Date.parse(scored[0]?.at ?? '');
  const band = n < 12 || span < 3 * DAY ? 'unscored' : n >= 50 && span >= 14 * DAY ? 'established' : 'thin';
  return {
    band,
    score: band === 'unscored' ? null : Math.round(getLowerEnd(share, effective) * 1000) / 10,
    samples: n,
    last_sample_at: scored.at(-1)?.at ?? null,
    failing: findFailing(standing),
    routes: workOutRoutes(counted),
    latest,
    proven: proven.size,
  };
}

/** Lists one of the samples within five hours of each other, preferably a conclusive one, from the last 30 days. */
function listScored(counted: readonly Taken[], latest: Taken | undefined): Taken[] {
  let kept: Taken[] = [];
  for (const sample of counted) {
    const before = kept.at(-1);
    const isClose = before !== undefined && Date.parse(sample.at) < Date.parse(before.at) + 5 * HOUR;
    if (!isClose) kept = [...kept.slice(-500), sample];
    else if (NEITHER.includes(before.outcome) && !NEITHER.includes(sample.outcome)) kept[kept.length - 1] = sample;
  }
  const begin = Date.parse(latest?.at ?? '1970-01-01') - 30 * DAY;
  return kept.filter(({ at, outcome }) => Date.parse(at) > begin && !NEITHER.includes(outcome));
}

/**
 * Gives every sample the time to which it is the nearest one, at most 12 hours away, from 3 hours before the first to 3
 * hours after the last. Returns the valid share, and one divided by the sum of the squared shares.
 */
function weigh(scored: readonly Taken[]): { share: number; effective: number } {
  const times = scored.map(({ at }) => Date.parse(at));
  const stretches = times.map((time, index) => {
    const [before, after] = [times[index - 1], times[index + 1]];
    const begin = before === undefined ? time - 3 * HOUR : Math.max((before + time) / 2, time - 12 * HOUR);
    const end = after === undefined ? time + 3 * HOUR : Math.min((time + after) / 2, time + 12 * HOUR);
    return end - begin;
  });
  const whole = stretches.reduce((sum, stretch) => sum + stretch, 0);
  const parts = stretches.map((stretch) => stretch / whole);
  const share = scored.reduce((sum, sample, index) => sum + (isValid(sample) ? (parts[index] ?? 0) : 0), 0);
  return { share, effective: 1 / parts.reduce((sum, part) => sum + part * part, 0) };
}

/** Computes the lower end of Wilson's interval with another formula than the code. */
function getLowerEnd(p: number, n: number): number {
  return Math.max(0, (2 * n * p + Z * Z - Z * Math.sqrt(Z * Z + 4 * n * p * (1 - p))) / (2 * (n + Z * Z)));
}

/** Keeps one of the samples within five hours of each other: the first conclusive one, else the first. */
function keepApart(samples: readonly Taken[]): Taken[] {
  const kept: Taken[] = [];
  for (const sample of samples) {
    const before = kept.at(-1);
    if (!before || Date.parse(sample.at) >= Date.parse(before.at) + 5 * HOUR) kept.push(sample);
    else if (NEITHER.includes(before.outcome) && !NEITHER.includes(sample.outcome)) kept[kept.length - 1] = sample;
  }
  return kept;
}

/** Counts failures in a row at the end; those close together count once. */
function countFailing(samples: readonly Taken[]): { first: string | undefined; count: number } {
  const failures = keepApart(samples.slice(samples.findLastIndex(isValid) + 1)).filter(isFailure);
  return { first: failures[0]?.at, count: failures.length };
}

/**
 * Finds the failing run. It begins with the last valid answer, or six hours before the first failure if there was no
 * probe for two days.
 */
function findFailing(counted: readonly Taken[]): Worked['failing'] {
  const { first, count } = countFailing(counted);
  if (first === undefined) return undefined;
  const valid = counted.findLast(isValid)?.at;
  if (valid === undefined) return { since: first, failures: count };
  const wasWatched = Date.parse(first) - Date.parse(valid) <= 2 * DAY;
  return { since: wasWatched ? valid : new Date(Date.parse(first) - 6 * HOUR).toISOString(), failures: count };
}

function workOutRoutes(counted: readonly Taken[]): Worked['routes'] {
  const routes: Worked['routes'] = new Map();
  for (const [id, samples] of Map.groupBy(counted, ({ route_id }) => route_id)) {
    const { at, outcome } = samples.at(-1) as Taken;
    const valid_at = samples.findLast(isValid)?.at ?? null;
    const { first = null, count } = countFailing(samples);
    routes.set(id, { at, outcome, valid_at, failures: count, failing_since: first });
  }
  return routes;
}
