import { z } from 'zod';
import { unrecognisedReason } from './delivery.ts';
import { networkKey } from './network.ts';
import { paidRequest } from './paid-request.ts';

/**
 * A payment attempt (design contract, "States"). `prepared`: written down, nothing sent. `sent`: it may have left.
 * `settled`: the chain says it was paid. `not_settled`: the chain says that it was not, and no longer can be. `unknown`:
 * the chain could not be asked; resolved from the chain later, never by paying again.
 */
export const paymentState = z.enum(['prepared', 'sent', 'settled', 'not_settled', 'unknown']);
export type PaymentState = z.infer<typeof paymentState>;

/** States in which money may still move. */
export const OPEN_STATES = ['prepared', 'sent', 'unknown'] as const satisfies readonly PaymentState[];

/** Whether a body is what its route declares. */
export const conformity = z.enum(['yes', 'no', 'undeclared']);
export type Conformity = z.infer<typeof conformity>;

/** One part of what came back: where it is and of what type, never what it says. */
export const answerField = z.object({
  path: z.string().describe('`result.items[].price`; `*` in place of a name that looks like data, `$` is the whole'),
  type: z.string().describe('string, number, boolean, object, list or null; several are joined by "or"'),
});
export type AnswerField = z.infer<typeof answerField>;

/** What came back for it. */
export const paidAnswer = z.object({
  at: z.iso.datetime(),
  duration_ms: z.int().nonnegative(),
  status: z.int(),
  content_type: z.string().nullable().describe('Media type that the seller names; null where it names none'),
  size: z.int().nonnegative().describe('Bytes of the body, content codings undone'),
  hash: z.string().describe('SHA-256 of those bytes, in hexadecimal'),
  fields: z
    .array(answerField)
    .nullable()
    .describe(
      'Names and types of what a delivery or an unrecognised answer holds, at most 40; null where it is not JSON',
    ),
});
export type PaidAnswer = z.infer<typeof paidAnswer>;

/** What the seller says of the settlement: recorded and compared, never believed. */
export const sellerReceipt = z.object({
  success: z.boolean().nullable(),
  transaction: z.string().nullable(),
  network: z.string().nullable(),
  payer: z.string().nullable(),
  error: z.string().nullable(),
});
export type SellerReceipt = z.infer<typeof sellerReceipt>;

/** Where on the chain a payment was found. */
export const settlement = z.object({
  transaction: z.string().describe('Transaction hash (Base) or signature (Solana)'),
  block: z.int().nonnegative().describe('Block number (Base) or slot (Solana)'),
  block_hash: z.string(),
  log_index: z.int().nonnegative().nullable().describe('Index of the Transfer log in the block; null on Solana'),
  settled_at: z.iso.datetime().describe('Time of the block'),
  genesis: z.string().describe('Hash of the first block: what tells the public chain from a local one'),
  read_from: z.int().positive().describe('How many RPC addresses agreed'),
});
export type Settlement = z.infer<typeof settlement>;

/**
 * One attempt to pay for one real call. Amounts are atomic USDC, times ISO 8601 UTC.
 *
 * What was delivered: `delivered` true, the product; false with `unrecognised`, an answer that is not recognised as the
 * product; false without, nothing (no answer, an empty body, or another status than 2xx). `delivered` is null until that is
 * known. A run that ends before the answer is on record and judged leaves it null for good, because the body is gone: such
 * a payment settles without a receipt, and counts neither for nor against the seller.
 */
export const payment = z.object({
  id: z.uuid(),
  route_id: z.uuid(),
  network: networkKey,
  scheme: z.string(),
  x402_version: z.union([z.literal(1), z.literal(2)]),
  asset: z.string(),
  amount: z.int().positive(),
  payer: z.string(),
  pay_to: z.string(),
  nonce: z.string().describe('Makes the payment the only one of its kind: EIP-3009 nonce (Base), memo (Solana)'),
  signature: z.string().nullable().describe("Solana: the payer's signature, known before anything is sent"),
  from_block: z.int().nonnegative().describe('The chain stood here before anything was sent'),
  expires_at: z.iso.datetime().describe('After this, by the clock of the chain, it can no longer settle'),
  expires_block: z
    .int()
    .nonnegative()
    .nullable()
    .describe('Solana: after this block height it can no longer settle, which is what counts there'),
  state: paymentState,
  reason: z.string().nullable().describe('Why it did not settle, or is not known to; a stable code'),
  delivered: z
    .boolean()
    .nullable()
    .describe(
      'The product came back with a status 2xx; null before an answer, and where we ended before it was judged',
    ),
  unrecognised: unrecognisedReason
    .nullable()
    .describe('Why an answer with status 2xx is not taken for the product; null where it is, or nothing was delivered'),
  conforming: conformity.nullable(),
  request: paidRequest,
  answer: paidAnswer.nullable(),
  seller_receipt: sellerReceipt.nullable(),
  settlement: settlement.nullable(),
  prepared_at: z.iso.datetime(),
  sent_at: z.iso.datetime().nullable(),
  resolved_at: z.iso.datetime().nullable(),
});
export type Payment = z.infer<typeof payment>;

/** What a payment says before it is sent: all that identifies it on the chain. */
export type PreparedPayment = Omit<
  Payment,
  | 'state'
  | 'reason'
  | 'delivered'
  | 'unrecognised'
  | 'conforming'
  | 'answer'
  | 'seller_receipt'
  | 'settlement'
  | 'sent_at'
  | 'resolved_at'
  | 'signature'
>;

/** What is learned when an answer came, or none did. `delivered` is null while the answer has to be judged. */
export type PaymentAnswer = Pick<Payment, 'answer' | 'seller_receipt' | 'delivered' | 'unrecognised' | 'conforming'>;

/** What an attempt came to, by the word of the chain. */
export type PaymentResolution =
  | { state: 'settled'; settlement: Settlement }
  | { state: 'not_settled'; reason: string }
  | { state: 'unknown'; reason: string };

/** The most that may be spent, in atomic USDC. */
export interface PaymentCaps {
  per_call: number;
  /** Within any 24 hours, counting whatever may have been or may still be paid. */
  per_day: number;
}
