import { DELISTING_METHOD } from '../../evidence/delisting.ts';
import { ROUND_MS } from '../../evidence/pace.ts';
import { getReliability, RELIABILITY_METHOD } from '../../evidence/reliability.ts';
import { PROOF_METHOD } from '../../evidence/verification.ts';
import { CAUTION_CODES, CAUTIONS, type CautionCode, type CautionSeverity } from '../../model/caution.ts';
import type { Reliability } from '../../model/listing.ts';
import { PROBE_OUTCOMES, type ProbeOutcome } from '../../model/outcome.ts';
import { ROBOT_NAME } from '../../model/robot.ts';
import { getOutcomeWeight, OUTCOME_WORDS, type OutcomeWeight } from '../outcome-words.ts';
import type { Site } from '../site.ts';
import { getUserAgent } from '../user-agent.ts';

/** An outcome of a probe: its code in documents, and what it means. */
export interface OutcomeRow {
  readonly code: ProbeOutcome;
  readonly phrase: string;
  readonly meaning: string;
  readonly weight: OutcomeWeight;
}

/** A history of samples and what it scores. */
export interface ScoreExample {
  readonly samples: number;
  readonly valid: number;
  /** Days between its first and its last sample: `14`, `2.5`. */
  readonly days: string;
  readonly band: Reliability['band'];
  /** `92.9`; null while unscored. */
  readonly score: string | null;
}

/** How listings are checked: every number is that of the code which does it. */
export interface MethodPage {
  readonly robot: string;
  readonly user_agent: string;
  /** A probe as it goes over the wire, for a made-up route. */
  readonly request: string;
  readonly outcomes: readonly OutcomeRow[];
  readonly version: number;
  readonly hours_between_samples: number;
  readonly window_days: number;
  readonly scored: { readonly samples: number; readonly days: number };
  readonly established: { readonly samples: number; readonly days: number };
  readonly z: string;
  /** One history worked out in words. */
  readonly worked: ScoreExample & { readonly share: string };
  readonly examples: readonly ScoreExample[];
  readonly delisting: { readonly days: number; readonly failures: number };
  /** Days that a proof counts as current, after which it is renewed, and before which a seller under danger is not paid again. */
  readonly proof: typeof PROOF_METHOD;
  readonly cautions: readonly CautionRow[];
}

/** A caution: its code in documents, how grave it is, what it means, and what ends it. */
export interface CautionRow {
  readonly code: CautionCode;
  readonly severity: CautionSeverity;
  readonly label: string;
  readonly sentence: string;
  readonly ends: string;
}

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
  const { version, window_days, scored, established, z } = RELIABILITY_METHOD;
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
    scored,
    established,
    z: z.toFixed(2),
    worked: { ...buildScoreExample(118, 112), share: ((112 / 118) * 100).toFixed(1) },
    examples: EXAMPLES.map(([samples, valid]) => buildScoreExample(samples, valid)),
    delisting: { days: DELISTING_METHOD.days_without_valid_402, failures: DELISTING_METHOD.conclusive_failures },
    proof: PROOF_METHOD,
    cautions: CAUTION_CODES.map((code) => ({ code, ...CAUTIONS[code] })),
  };
}

/** Works out the score of samples taken one a round, the first `valid` of them valid, by the very code that scores. */
export function buildScoreExample(samples: number, valid: number): ScoreExample {
  const history = Array.from({ length: samples }, (_, index) => ({
    at: new Date((index + 1) * ROUND_MS).toISOString(),
    outcome: index < valid ? ('payable' as const) : ('timeout' as const),
  }));
  const { band, score } = getReliability(history, new Date(samples * ROUND_MS).toISOString());
  return {
    samples,
    valid,
    days: String(((samples - 1) * ROUND_MS) / 86_400_000),
    band,
    score: score === null ? null : score.toFixed(1),
  };
}
