import { z } from 'zod';

/** What one probe of one route came to. */
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

/** Finer than an outcome: a stable word. Null where the outcome says all. */
export const probeCause = z
  .string()
  .regex(/^[a-z0-9_]+$/)
  .nullable();

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
