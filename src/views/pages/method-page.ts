import { DELISTING_METHOD } from '../../evidence/delisting.ts';
import { LATENCY_METHOD } from '../../evidence/latency.ts';
import { getReliability, RELIABILITY_METHOD, scoreSamples } from '../../evidence/reliability.ts';
import { ROUND_MS } from '../../evidence/rounds.ts';
import { getNextProbeAt } from '../../evidence/schedule.ts';
import { PROOF_METHOD } from '../../evidence/verification.ts';
import { CAUTION_CODES, CAUTIONS, type CautionCode, type CautionSeverity } from '../../model/caution.ts';
import type { Reliability } from '../../model/listing.ts';
import { isPayable, PROBE_OUTCOMES, type ProbeOutcome, ROBOT_NAME } from '../../model/probe.ts';
import { getUserAgent, type Site } from '../site.ts';
import { getOutcomeWeight, OUTCOME_WORDS, type OutcomeWeight } from '../words/outcome.ts';

/** An outcome of a probe: its code in documents, and its meaning. */
export interface OutcomeRow {
  readonly code: ProbeOutcome;
  readonly phrase: string;
  readonly meaning: string;
  readonly weight: OutcomeWeight;
}

/** A history of samples and its score. */
export interface ScoreExample {
  readonly samples: number;
  readonly valid: number;
  /** Days between its first and its last sample: `14`, `2.5`. */
  readonly days: string;
  readonly band: Reliability['band'];
  /** `92.9`; null while unscored. */
  readonly score: string | null;
}

/** A listing that answered and then failed, and was asked less and less often from then on. */
export interface FailingExample {
  /** Days on which it answered, and then days on which it failed. */
  readonly days: { readonly valid: number; readonly failing: number };
  readonly valid: number;
  readonly failed: number;
  /** Share of valid answers in percent, by number and by the time they count for: `83.3`, `66.9`. */
  readonly share_by_number: string;
  readonly share_by_time: string;
  /** Samples of equal weight with the same information: `58.2`. */
  readonly effective: string;
  readonly score: string;
}

/** The page that says how listings are checked. Every number is taken from the code that checks. */
export interface MethodPage {
  readonly robot: string;
  readonly user_agent: string;
  /** A probe on the wire, for a made-up route. */
  readonly request: string;
  readonly outcomes: readonly OutcomeRow[];
  readonly version: number;
  readonly hours_between_samples: number;
  readonly window_days: number;
  /** Fewest valid answers for which latency is stated. */
  readonly latency_probes: number;
  readonly scored: { readonly samples: number; readonly days: number };
  readonly established: { readonly samples: number; readonly days: number };
  /** Formula of the score, with its symbols. */
  readonly formula: string;
  /** One history worked out in words. */
  readonly worked: ScoreExample & { readonly share: string };
  readonly failing: FailingExample;
  readonly reach_hours: number;
  readonly examples: readonly ScoreExample[];
  readonly delisting: { readonly days: number; readonly failures: number; readonly turns: number };
  /** Times until proofs are renewed and sellers under danger paid again, and the budget's share for drawn routes. */
  readonly proof: typeof PROOF_METHOD;
  readonly cautions: readonly CautionRow[];
}

/** A caution: its code in documents, its severity, its meaning, and its end. */
export interface CautionRow {
  readonly code: CautionCode;
  readonly severity: CautionSeverity;
  readonly label: string;
  readonly sentence: string;
  readonly ends: string;
}

const DAY_MS = 86_400_000;

/** Histories of the table: samples, and the valid ones of them. */
const EXAMPLES = [
  [12, 12],
  [13, 13],
  [57, 57],
  [57, 54],
  [120, 120],
  [120, 114],
  [120, 60],
  [120, 0],
] as const;

/** Builds the page that says how listings are checked. */
export function buildMethodPage(site: Site): MethodPage {
  const { version, window_days, scored, established, reach_hours, z } = RELIABILITY_METHOD;
  const userAgent = getUserAgent(site);
  return {
    robot: ROBOT_NAME,
    user_agent: userAgent,
    request: [
      'GET /v1/forecast?city=Oslo HTTP/1.1',
      'Host: api.example.com',
      'Accept: application/json, */*',
      `User-Agent: ${userAgent}`,
    ].join('\n'),
    outcomes: PROBE_OUTCOMES.map((code) => ({ code, ...OUTCOME_WORDS[code], weight: getOutcomeWeight(code) })),
    version,
    hours_between_samples: ROUND_MS / 3_600_000,
    window_days,
    latency_probes: LATENCY_METHOD.probes,
    scored,
    established,
    formula: [
      'p     = sum of the weights of valid samples / sum of all weights',
      'n     = (sum of all weights)² / sum of their squares',
      `z     = ${z.toFixed(2)}`,
      'score = 100 × (p + z²/2n − z × √(p(1−p)/n + z²/4n²)) / (1 + z²/n)',
    ].join('\n'),
    worked: { ...buildScoreExample(118, 112), share: ((112 / 118) * 100).toFixed(1) },
    failing: buildFailingExample({ valid: 20, failing: 9 }),
    reach_hours,
    examples: EXAMPLES.map(([samples, valid]) => buildScoreExample(samples, valid)),
    delisting: {
      days: DELISTING_METHOD.days_without_valid_402,
      failures: DELISTING_METHOD.conclusive_failures,
      turns: DELISTING_METHOD.turns,
    },
    proof: PROOF_METHOD,
    cautions: CAUTION_CODES.map((code) => ({ code, ...CAUTIONS[code] })),
  };
}

/** Scores samples, one a round, of which the first `valid` are valid, with the code that scores listings. */
export function buildScoreExample(samples: number, valid: number): ScoreExample {
  const history = Array.from({ length: samples }, (_, index) => ({
    at: new Date((index + 1) * ROUND_MS).toISOString(),
    outcome: index < valid ? ('payable' as const) : ('timeout' as const),
  }));
  const { band, score } = getReliability(history, new Date(samples * ROUND_MS).toISOString());
  return {
    samples,
    valid,
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
    ms = Date.parse(getNextProbeAt({ at, failing_since, out_since: null, wait_until: null }, () => 0.5));
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
