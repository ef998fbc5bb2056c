import { DAY_MS } from '../model/duration.ts';
import { isPayable, type Latency, type ProbeSample } from '../model/probe.ts';
import { RELIABILITY_METHOD } from './reliability.ts';

/** The method of latency: answers in the window of the score. */
export const LATENCY_METHOD = {
  /** Fewest valid answers for which it is stated: as many as a score needs. */
  probes: RELIABILITY_METHOD.scored.samples,
} as const;

const WINDOW_MS = RELIABILITY_METHOD.window_days * DAY_MS;

/**
 * Returns the time that valid 402 answers took, from samples in any order; null if there are fewer than 12 in the
 * window before `at` (ISO 8601 UTC). Other answers do not count: an error is often faster than the answer that is
 * waited for. Both figures are measured values (nearest rank): half of the answers, or 95 % of them, took no longer.
 */
export function findLatency(
  samples: readonly Pick<ProbeSample, 'at' | 'outcome' | 'latency_ms'>[],
  at: string,
): Latency | null {
  const end = Date.parse(at);
  const taken = samples
    .filter(({ outcome, at: time }) => isPayable(outcome) && Date.parse(time) > end - WINDOW_MS)
    .flatMap(({ latency_ms }) => latency_ms ?? [])
    .sort((a, b) => a - b);
  if (taken.length < LATENCY_METHOD.probes) return null;
  const getPercentile = (percent: number) => taken[Math.ceil((taken.length * percent) / 100) - 1] as number;
  return { median_ms: getPercentile(50), p95_ms: getPercentile(95), probes: taken.length };
}
