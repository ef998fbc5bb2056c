import type { ProbeOutcome } from '../../src/model/outcome.ts';

/** What is known of a sample for the rules. */
export interface Taken {
  at: string;
  route_id: string;
  round: number;
  outcome: ProbeOutcome;
}

/** What samples come to, worked out anew from all of them and in the plainest way. */
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
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const Z = 1.959963984540054;
const NEITHER = ['input_rejected', 'rate_limited', 'blocked_address', 'internal'];

const isValid = ({ outcome }: Taken) => outcome === 'payable' || outcome === 'payable_with_changed_terms';
const isFailure = (sample: Taken) => !isValid(sample) && !NEITHER.includes(sample.outcome);

/** Works out what samples (oldest first) come to, what is no valid answer in some rounds being our own fault. */
export function workOut(all: readonly Taken[], ours: ReadonlySet<number>): Worked {
  const counted = all.filter((sample) => isValid(sample) || !ours.has(sample.round));
  const latest = counted.at(-1);
  const scored = listScored(counted, latest);
  const n = scored.length;
  const { share, effective } = weigh(scored);
  const span = n === 0 ? 0 : Date.parse(scored.at(-1)?.at ?? '') - Date.parse(scored[0]?.at ?? '');
  const band = n < 12 || span < 3 * DAY ? 'unscored' : n >= 50 && span >= 14 * DAY ? 'established' : 'thin';
  return {
    band,
    score: band === 'unscored' ? null : Math.round(getLowerEnd(share, effective) * 1000) / 10,
    samples: n,
    last_sample_at: scored.at(-1)?.at ?? null,
    failing: findFailing(counted),
    routes: workOutRoutes(counted),
    latest,
  };
}

/** The first of those within five hours of each other, conclusive ones before others; of the 30 days before the latest. */
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
 * Returns every sample the stretch of time to which it is the nearest, within 12 hours of it and from 3 hours before
 * the first to 3 hours after the last; how much of all that was valid; and one by the sum of the squares of the parts.
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

/** The lower end of Wilson's interval of a share of n, solved in another form than the code has it. */
function getLowerEnd(p: number, n: number): number {
  return Math.max(0, (2 * n * p + Z * Z - Z * Math.sqrt(Z * Z + 4 * n * p * (1 - p))) / (2 * (n + Z * Z)));
}

/** Keeps of samples within five hours of each other one: the first conclusive one, else the first. */
function keepApart(samples: readonly Taken[]): Taken[] {
  const kept: Taken[] = [];
  for (const sample of samples) {
    const before = kept.at(-1);
    if (!before || Date.parse(sample.at) >= Date.parse(before.at) + 5 * HOUR) kept.push(sample);
    else if (NEITHER.includes(before.outcome) && !NEITHER.includes(sample.outcome)) kept[kept.length - 1] = sample;
  }
  return kept;
}

/** Counts failures in a row at the end, those together as one. */
function countFailing(samples: readonly Taken[]): { first: string | undefined; count: number } {
  const failures = keepApart(samples.slice(samples.findLastIndex(isValid) + 1)).filter(isFailure);
  return { first: failures[0]?.at, count: failures.length };
}

/**
 * Begins with the last valid answer, unless nobody looked for two days after it: then six hours before the first
 * failure.
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
