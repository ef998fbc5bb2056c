import { z } from 'zod';
import { unrecognisedReason } from './delivery.ts';
import { networkKey } from './network.ts';
import { paidRequest } from './paid-request.ts';

/** What an operator says of a receipt that is wrong on record: public, with its reason. */
export const correction = z
  .object({
    because: z.string().describe("The operator's reason"),
    at: z.iso.datetime().describe('When it was corrected'),
  })
  .meta({ id: 'Correction' });
export type Correction = z.infer<typeof correction>;

/** A corrected receipt, as its listing names it. */
export const correctedReceipt = correction.extend({ receipt_id: z.string(), route_id: z.uuid() });

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
  /** A 2xx came back that was recognised as the product. */
  delivered: z.boolean(),
  /** Why an answer with status 2xx was not recognised as the product; null where it was, or where none came. */
  unrecognised: unrecognisedReason.nullable(),
  /** Whether the body is what the route declares. */
  conforming: z.enum(['yes', 'no', 'undeclared']),
  /** The operator's word that the record is wrong: then the receipt speaks neither for the route nor against it. */
  correction: correction.nullable(),
});
export type Receipt = z.infer<typeof receipt>;
