import type { ProbeOutcome } from '../model/outcome.ts';
import type { ProbeSample } from '../model/sample.ts';

/** What an answer, or its absence, means: the part of a sample that needs no clock. */
export type Verdict = Pick<
  ProbeSample,
  'outcome' | 'cause' | 'status' | 'x402_version' | 'terms' | 'differences' | 'retry_after_seconds' | 'detail'
>;

/** Builds a verdict from what there is to say; the rest says nothing. */
export function buildVerdict(outcome: ProbeOutcome, cause: string | null, rest: Partial<Verdict> = {}): Verdict {
  return {
    outcome,
    cause,
    status: null,
    x402_version: null,
    terms: [],
    differences: [],
    retry_after_seconds: null,
    detail: {},
    ...rest,
  };
}
