import { z } from 'zod';
import { jsonObject } from './json-object.ts';
import { nameNetworks } from './network.ts';
import { paymentIdentifier } from './payment-identifier.ts';
import { terms, termsDifference } from './terms.ts';

/** The name under which the service sends requests, to which rules of a robots.txt may be addressed. */
export const ROBOT_NAME = 'agent-payable-apis';

/** Outcomes of one probe of one route. */
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

/** A finer reason than the outcome, as a stable word; null if the outcome says everything. */
export const probeCause = z
  .string()
  .regex(/^[a-z0-9_]+$/)
  .nullable();

/** Cause of a valid 402 that two honest readers may read differently. */
export const READS_DIFFERENTLY = 'reads_differently';

const INCONCLUSIVE: readonly ProbeOutcome[] = ['input_rejected', 'rate_limited', 'blocked_address', 'internal'];
const PAYABLE: readonly ProbeOutcome[] = ['payable', 'payable_with_changed_terms'];

/** Returns true if an outcome says anything about the route. Inconclusive ones count neither for nor against anybody. */
export function isConclusive(outcome: ProbeOutcome): boolean {
  return !INCONCLUSIVE.includes(outcome);
}

/** Returns true if an outcome is a valid 402, which can be paid. */
export function isPayable(outcome: ProbeOutcome): boolean {
  return PAYABLE.includes(outcome);
}

/** Result of one probe of one route. Times are ISO 8601 UTC, amounts atomic USDC. */
export const probeSample = z.object({
  at: z.iso.datetime().describe('When the probe began'),
  duration_ms: z.int().nonnegative(),
  url: z.string().describe('The address that was asked, templates filled'),
  method: z.string(),
  outcome: probeOutcome,
  cause: probeCause,
  status: z.int().nullable().describe('HTTP status of the answer; null where none came'),
  latency_ms: z
    .int()
    .nonnegative()
    .nullable()
    .describe('From sending the request to the whole answer; null where none came, or it was not yet measured'),
  x402_version: z.union([z.literal(1), z.literal(2)]).nullable(),
  payment_identifier: paymentIdentifier
    .optional()
    .describe('Whether the 402 takes an id of the payment; absent where not'),
  terms: z.array(terms).describe(`Every offer seen that is USDC on ${nameNetworks()}`),
  differences: z.array(termsDifference).describe('Against the terms that were known; empty where none were'),
  payee_rotates: z
    .boolean()
    .nullable()
    .describe('Whether a second challenge named another payee; null where no second one was asked for'),
  retry_after_seconds: z.int().nonnegative().nullable().describe('What the host asks to be waited'),
  detail: jsonObject.describe('Further evidence for the cause: bounded, and partly in the words of the provider'),
});
export type ProbeSample = z.infer<typeof probeSample>;

/** Time that valid 402 answers to probes took, as seen from the one place where this service runs. */
export const latency = z
  .object({
    median_ms: z.int().nonnegative().describe('Half of them took no longer'),
    p95_ms: z.int().nonnegative().describe('95 % of them took no longer; of fewer than 20, the longest'),
    probes: z.int().positive().describe('Valid answers measured in the last 30 days'),
  })
  .meta({ id: 'Latency' });
export type Latency = z.infer<typeof latency>;
