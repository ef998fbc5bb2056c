import { getReliability, RELIABILITY_METHOD, scoreSamples } from '../evidence/reliability.ts';
import { ROUND_MS } from '../evidence/rounds.ts';
import { getNextProbeAt } from '../evidence/schedule.ts';
import { DAY_MS } from '../model/duration.ts';
import type { Reliability } from '../model/listing.ts';
import { isPayable, type ProbeOutcome } from '../model/probe.ts';
import { getUserAgent, type Site } from './site.ts';

/** A history of samples and its score. */
export interface ScoreExample {
  readonly samples: number;
  readonly valid: number;
  /** Share of valid samples in percent: `94.9`. */
  readonly share: string;
  /** Days between its first and its last sample: `14`, `2.5`. */
  readonly days: string;
  readonly band: Reliability['band'];
  /** `92.9`; null while unscored. */
  readonly score: string | null;
}

/** A listing that answered and then failed, and was probed less and less often from then on. */
export interface FailingExample {
  /** Number of days on which it answered, and then of days on which it failed. */
  readonly days: { readonly valid: number; readonly failing: number };
  readonly valid: number;
  readonly failed: number;
  /** Share of valid answers in percent, by number and by weight in time: `83.3`, `66.9`. */
  readonly share_by_number: string;
  readonly share_by_time: string;
  /** Samples of equal weight with the same information: `58.2`. */
  readonly effective: string;
  readonly score: string;
}

/** Histories that the page on the method scores: samples, and the valid ones of them. */
export const SCORE_HISTORIES = [
  [12, 12],
  [13, 13],
  [57, 57],
  [57, 54],
  [120, 120],
  [120, 114],
  [120, 60],
  [120, 0],
] as const;

/** The formula of the score, with its symbols. */
export const SCORE_FORMULA = [
  'p     = sum of the weights of valid samples / sum of all weights',
  'n     = (sum of all weights)² / sum of their squares',
  `z     = ${RELIABILITY_METHOD.z.toFixed(2)}`,
  'score = 100 × (p + z²/2n − z × √(p(1−p)/n + z²/4n²)) / (1 + z²/n)',
].join('\n');

/** Writes the request of a probe for a made-up route. */
export function buildProbeSample(site: Site): string {
  return [
    'GET /v1/forecast?city=Oslo HTTP/1.1',
    'Host: api.example.com',
    'Accept: application/json, */*',
    `User-Agent: ${getUserAgent(site)}`,
  ].join('\n');
}

/** Scores samples, one for each round, of which the first `valid` are valid, with the code that scores listings. */
export function buildScoreExample(samples: number, valid: number): ScoreExample {
  const history = Array.from({ length: samples }, (_, index) => ({
    at: new Date((index + 1) * ROUND_MS).toISOString(),
    outcome: index < valid ? ('payable' as const) : ('timeout' as const),
  }));
  const { band, score } = getReliability(history, new Date(samples * ROUND_MS).toISOString());
  return {
    samples,
    valid,
    share: ((valid / samples) * 100).toFixed(1),
    days: String(((samples - 1) * ROUND_MS) / DAY_MS),
    band,
    score: score === null ? null : score.toFixed(),
  };
}

/** Builds the example of a listing that answers and then fails, with the code that schedules probes and scores. */
export function buildFailingExample(days: FailingExample['days']): FailingExample {
  const failsFrom = days.valid * DAY_MS;
  const end = failsFrom + days.failing * DAY_MS;
  const samples: { at: string; outcome: ProbeOutcome }[] = [];
  let failing_since: string | null = null;
  for (let ms = 0; ms <= end; ) {
    const at = new Date(ms).toISOString();
    const isFailing = ms > failsFrom;
    if (isFailing) failing_since ??= at;
    samples.push({ at, outcome: isFailing ? 'timeout' : 'payable' });
    ms = Date.parse(getNextProbeAt({ at, failing_since, delisted_at: null, wait_until: null }, () => 0.5));
  }
  const valid = samples.filter(({ outcome }) => isPayable(outcome)).length;
  const { share, effective } = scoreSamples(samples);
  return {
    days,
    valid,
    failed: samples.length - valid,
    share_by_number: ((valid / samples.length) * 100).toFixed(1),
    share_by_time: (share * 100).toFixed(1),
    effective: effective.toFixed(1),
    score: (getReliability(samples, new Date(end).toISOString()).score ?? 0).toFixed(),
  };
}
