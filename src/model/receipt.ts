import { z } from 'zod';
import { networkKey } from './network.ts';
import { paidRequest } from './paid-request.ts';

/**
 * What is known of one payment that the service itself made for a real call to one route; its id is that of the attempt.
 * Amounts are atomic USDC.
 */
export const receipt = z.object({
  id: z.uuid(),
  route_id: z.uuid(),
  network: networkKey,
  asset: z.string(),
  amount: z.int().positive(),
  payer: z.string(),
  pay_to: z.string(),
  transaction: z.string(),
  genesis: z.string().describe('Hash of the first block of the chain that it was paid on'),
  settled_at: z.iso.datetime(),
  /** The request that was paid for, without payment and secrets; null where it is not on record. */
  request: paidRequest.nullable(),
  /** The chain says that the payment happened. */
  settled: z.boolean(),
  /** A 2xx with a body came back. */
  delivered: z.boolean(),
  /** Whether the body is what the route declares. */
  conforming: z.enum(['yes', 'no', 'undeclared']),
});
export type Receipt = z.infer<typeof receipt>;
