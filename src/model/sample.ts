import { z } from 'zod';
import { probeCause, probeOutcome } from './outcome.ts';
import { jsonObject } from './route.ts';
import { terms } from './terms.ts';

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
  cause: probeCause,
  status: z.int().nullable().describe('HTTP status of the answer; null where none came'),
  x402_version: z.union([z.literal(1), z.literal(2)]).nullable(),
  terms: z.array(terms).describe('Every offer seen that is USDC on Base or Solana'),
  differences: z.array(termsDifference).describe('Against the terms that were known; empty where none were'),
  payee_rotates: z
    .boolean()
    .nullable()
    .describe('Whether a second challenge named another payee; null where no second one was asked for'),
  retry_after_seconds: z.int().nonnegative().nullable().describe('What the host asks to be waited'),
  detail: jsonObject.describe('Further evidence for the cause: bounded, and partly in the words of the provider'),
});
export type ProbeSample = z.infer<typeof probeSample>;
