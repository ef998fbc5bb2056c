import { z } from 'zod';
import { jsonObject } from './route.ts';
import { terms } from './terms.ts';

/** What one probe of one route came to (design contract, "States"). */
export const PROBE_OUTCOMES = [
  'payable',
  'payable_with_changed_terms',
  'no_402',
  'wrong_method',
  'input_rejected',
  'auth_required',
  'rate_limited',
  'server_error',
  'malformed',
  'unsupported_network',
  'not_usdc',
  'wildcard_402',
  'name_not_resolved',
  'refused',
  'tls',
  'timeout',
  'too_large',
  'blocked_address',
  'internal',
] as const;
export const probeOutcome = z.enum(PROBE_OUTCOMES);
export type ProbeOutcome = z.infer<typeof probeOutcome>;

const INCONCLUSIVE: readonly ProbeOutcome[] = ['input_rejected', 'rate_limited', 'blocked_address', 'internal'];
const PAYABLE: readonly ProbeOutcome[] = ['payable', 'payable_with_changed_terms'];

/** Says whether an outcome tells anything of the route: inconclusive ones count for nobody and against nobody. */
export function isConclusive(outcome: ProbeOutcome): boolean {
  return !INCONCLUSIVE.includes(outcome);
}

/** Says whether an outcome is a valid 402, by which the route can be paid. */
export function isPayable(outcome: ProbeOutcome): boolean {
  return PAYABLE.includes(outcome);
}

export const termsField = z.enum(['network', 'scheme', 'asset', 'amount', 'pay_to']);
export type TermsField = z.infer<typeof termsField>;

/**
 * How one known offer stands in what was seen. `changed`: offered still, with other values in `fields`. `removed`: no
 * longer offered. `added`: offered besides, which takes nothing away from what is known.
 */
export const termsDifference = z.object({
  kind: z.enum(['changed', 'removed', 'added']),
  fields: z.array(termsField),
  before: terms.nullable(),
  after: terms.nullable(),
});
export type TermsDifference = z.infer<typeof termsDifference>;

/** What one probe of one route saw. Times are ISO 8601 UTC, amounts atomic USDC. */
export const probeSample = z.object({
  at: z.iso.datetime().describe('When the probe began'),
  duration_ms: z.int().nonnegative(),
  url: z.string().describe('The address that was asked, templates filled'),
  method: z.string(),
  outcome: probeOutcome,
  cause: z
    .string()
    .regex(/^[a-z0-9_]+$/)
    .nullable()
    .describe('Finer than the outcome: a stable word; null where the outcome says all'),
  status: z.int().nullable().describe('HTTP status of the answer; null where none came'),
  x402_version: z.union([z.literal(1), z.literal(2)]).nullable(),
  terms: z.array(terms).describe('Every offer seen that is USDC on Base or Solana'),
  differences: z.array(termsDifference).describe('Against the terms that were known; empty where none were'),
  retry_after_seconds: z.int().nonnegative().nullable().describe('What the host asks to be waited'),
  detail: jsonObject.describe('Further evidence for the cause: bounded, and partly in the words of the provider'),
});
export type ProbeSample = z.infer<typeof probeSample>;
