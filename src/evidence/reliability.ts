import { DAY_MS, HOUR_MS } from '../model/duration.ts';
import type { Reliability, SampledDay } from '../model/listing.ts';
import { isConclusive, isPayable, type ProbeSample } from '../model/probe.ts';
import { ROUND_MS } from './rounds.ts';

/** The method of the score. Any change of a number here, or of its use, is a new version. */
export const RELIABILITY_METHOD = {
  version: 3,
  /** Days of samples that a score covers. */
  window_days: 30,
  /** Fewest samples and days of a score. */
  scored: { samples: 12, days: 3 },
  /** Fewest samples and days of an established score. */
  established: { samples: 50, days: 14 },
  /** Most hours before and after a sample that it counts for: failing listings are probed once a day. */
  reach_hours: 12,
  /** Quantile of the normal distribution for a two-sided 95 % interval. */
  z: 1.959963984540054,
} as const;

/** The reliability of a listing without samples. There is no default score. */
export const UNSCORED: Reliability = Object.freeze({
  band: 'unscored',
  score: null,
  samples: 0,
  window_days: RELIABILITY_METHOD.window_days,
  method: RELIABILITY_METHOD.version,
  last_sample_at: null,
  days: [],
});

/**
 * Returns the reliability of a listing, from the samples of its routes in any order. The band says how much is known.
 * The score says how good it is: the lower end of the 95 % Wilson interval of the share of valid answers, times 100, to
 * one decimal. Each sample is weighted by the time it counts for. Inconclusive samples and those older than the window
 * do not count. `at` is ISO 8601 UTC.
 */
export function getReliability(samples: readonly Pick<ProbeSample, 'at' | 'outcome'>[], at: string): Reliability {
  const end = Date.parse(at);
  const start = end - RELIABILITY_METHOD.window_days * DAY_MS;
  const inWindow = samples.filter(({ at: time }) => {
    const taken = Date.parse(time);
    return taken > start && taken <= end;
  });
  const counted = inWindow.filter(({ outcome }) => isConclusive(outcome));
  const times = counted.map(({ at: time }) => Date.parse(time));
  const last = times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (counted.length === 0) return { ...UNSCORED, days: countByDay(inWindow) };
  const days = (last - times.reduce((a, b) => Math.min(a, b), last)) / DAY_MS;
  const band = getBand(counted.length, days);
  const { share, effective } = scoreSamples(counted);
  return {
    band,
    score: band === 'unscored' ? null : Math.round(getWilsonLowerBound(share * effective, effective) * 1000) / 10,
    samples: counted.length,
    window_days: RELIABILITY_METHOD.window_days,
    method: RELIABILITY_METHOD.version,
    last_sample_at: new Date(last).toISOString(),
    days: countByDay(inWindow),
  };
}

/**
 * Weights conclusive samples, in any order, by the time each counts for: from halfway to the previous sample to halfway
 * to the next, at most 12 hours on either side. The first and the last sample also count for half a round on their open
 * side. `share` is the share of that time with valid answers. `effective` is the effective sample size (L. Kish, 1965):
 * the square of the sum of the weights divided by the sum of their squares. It equals the number of samples if they
 * come at regular intervals.
 */
export function scoreSamples(samples: readonly Pick<ProbeSample, 'at' | 'outcome'>[]): {
  share: number;
  effective: number;
} {
  const reach = RELIABILITY_METHOD.reach_hours * HOUR_MS;
  const inOrder = samples.map(({ at, outcome }) => ({ ms: Date.parse(at), outcome })).sort((a, b) => a.ms - b.ms);
  const getReachMs = (from: number, to: number | undefined) =>
    to === undefined ? ROUND_MS / 2 : Math.min(Math.abs(to - from) / 2, reach);
  let [total, squares, valid] = [0, 0, 0];
  for (const [index, { ms, outcome }] of inOrder.entries()) {
    const weight = getReachMs(ms, inOrder[index - 1]?.ms) + getReachMs(ms, inOrder[index + 1]?.ms);
    total += weight;
    squares += weight * weight;
    if (isPayable(outcome)) valid += weight;
  }
  return { share: valid / total, effective: (total * total) / squares };
}

/** Counts samples by day, the earliest day first; days without a sample are left out. */
function countByDay(samples: readonly Pick<ProbeSample, 'at' | 'outcome'>[]): SampledDay[] {
  const days = new Map<string, SampledDay>();
  for (const { at, outcome } of samples) {
    const day = at.slice(0, 10);
    const counts = days.get(day) ?? { day, valid: 0, failed: 0, inconclusive: 0 };
    if (!isConclusive(outcome)) counts.inconclusive += 1;
    else if (isPayable(outcome)) counts.valid += 1;
    else counts.failed += 1;
    days.set(day, counts);
  }
  return [...days.values()].sort((a, b) => (a.day < b.day ? -1 : 1));
}

/**
 * Returns the lower end of the Wilson score interval of a share (E. B. Wilson, 1927), with the confidence of the
 * method. Both numbers may be fractions; `total` is above 0.
 */
export function getWilsonLowerBound(successes: number, total: number): number {
  const { z } = RELIABILITY_METHOD;
  const share = successes / total;
  const centre = share + (z * z) / (2 * total);
  const margin = z * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  return Math.max(0, (centre - margin) / (1 + (z * z) / total));
}

function getBand(samples: number, days: number): Reliability['band'] {
  const { scored, established } = RELIABILITY_METHOD;
  if (samples < scored.samples || days < scored.days) return 'unscored';
  return samples >= established.samples && days >= established.days ? 'established' : 'thin';
}
