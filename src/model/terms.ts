import { z } from 'zod';
import { networkKey } from './network.ts';

/** Longest payment time-out that is kept, in seconds: a day. Larger numbers are dates, milliseconds or mistakes. */
export const MAX_TIMEOUT_SECONDS = 86_400;

/** One way to pay for a route: an `accepts` entry of an x402 challenge, reduced to USDC on Base or Solana. */
export const terms = z.object({
  network: networkKey,
  scheme: z.string().describe('x402 scheme, e.g. exact'),
  asset: z.string().describe('USDC contract (Base) or mint (Solana)'),
  amount: z.int().positive().describe('Price of one request in atomic USDC (6 decimals)'),
  pay_to: z.string().nullable().describe('Address that is paid; null where the source does not say'),
  max_timeout_seconds: z.int().positive().nullable(),
  x402_version: z.union([z.literal(1), z.literal(2)]).nullable(),
  extra_needs: z
    .array(z.string())
    .optional()
    .describe('What a client needs to pay it beyond network, scheme and version; absent where nothing'),
});
export type Terms = z.infer<typeof terms>;

/** Recorded terms: claimed ones (`declared`) and ones that a 402 answer asked (`observed`), each with its time. */
export const recordedTerms = terms.extend({
  evidence: z.enum(['declared', 'observed']),
  source: z.string().describe('Where the terms were read'),
  first_seen_at: z.iso.datetime().nullable(),
  last_seen_at: z.iso.datetime().nullable(),
  current: z.boolean().describe('False for history'),
  heard_at: z.iso
    .datetime()
    .optional()
    .describe('Of declared terms: when this catalogue first heard the source say so'),
});
export type RecordedTerms = z.infer<typeof recordedTerms>;

/**
 * Returns the key that identifies an offer: amount, asset, network and payee, and whether it is paid through Permit2, which other
 * clients can pay.
 */
export function getTermsKey({ network, scheme, asset, amount, pay_to, extra_needs }: Terms): string {
  const transfer = scheme === 'exact' && extra_needs?.includes('permit2') ? ['permit2'] : [];
  return [network, scheme, asset, amount, pay_to ?? '', ...transfer].join('|');
}

/** The x402 scheme whose amount is a ceiling: the seller takes the actual cost of the call. */
const CEILING_SCHEME = 'upto';

/** Returns true if the amount of an offer is a ceiling. */
export function isCeiling({ scheme }: Pick<Terms, 'scheme'>): boolean {
  return scheme === CEILING_SCHEME;
}

export const termsField = z.enum(['network', 'scheme', 'asset', 'amount', 'pay_to']);
export type TermsField = z.infer<typeof termsField>;

/**
 * Difference between a known offer and the offers seen. `changed`: still offered, with other values in `fields`. `removed`: no
 * longer offered. `added`: offered in addition, which leaves the known offers valid.
 */
export const termsDifference = z.object({
  kind: z.enum(['changed', 'removed', 'added']),
  fields: z.array(termsField),
  before: terms.nullable(),
  after: terms.nullable(),
});
export type TermsDifference = z.infer<typeof termsDifference>;
