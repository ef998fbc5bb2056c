import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { DAY_MS } from './duration.ts';
import { networkKey } from './network.ts';
import { isPublicRequest, paidRequest, withholdValues } from './request.ts';

/**
 * Reasons why an answer with status 2xx to a paid call is not recognised as the product. Each sentence says what was seen; the
 * first one that applies counts.
 */
export const UNRECOGNISED = {
  empty: 'the answer holds nothing: an empty object, list or text',
  asks_again: 'the answer asks to be paid again',
  error_in_body: 'the answer says by its own words that it is an error',
  html_page: 'the answer is a web page, which the provider does not declare',
  not_json: 'the answer says that it is JSON, and is not',
  other_media_type: 'the answer has another media type than the provider declares',
  schema_contradicted: "the answer contradicts the provider's own schema",
} as const;

export type UnrecognisedReason = keyof typeof UNRECOGNISED;
export const unrecognisedReason = z.enum(Object.keys(UNRECOGNISED) as [UnrecognisedReason, ...UnrecognisedReason[]]);

/**
 * State of a payment attempt. `prepared`: recorded, nothing sent. `sent`: it may have been sent. `settled`: the chain says that
 * it was paid. `not_settled`: the chain says that it was not paid, and can no longer be. `unknown`: the chain could not be asked,
 * or only one node says that it was not paid; resolved later from the chain, never by paying again.
 */
const paymentState = z.enum(['prepared', 'sent', 'settled', 'not_settled', 'unknown']);
export type PaymentState = z.infer<typeof paymentState>;

/** States in which money may still move. */
export const OPEN_STATES = ['prepared', 'sent', 'unknown'] as const satisfies readonly PaymentState[];

/** Result of comparing a body with what its route declares. */
export const conformity = z.enum(['yes', 'no', 'undeclared']);
export type Conformity = z.infer<typeof conformity>;

/** One part of an answer: its place and type, never its content. */
const answerField = z.object({
  path: z.string().describe('`result.items[].price`; `*` in place of a name that looks like data, `$` is the whole'),
  type: z.string().describe('string, number, boolean, object, list or null; several are joined by "or"'),
});
export type AnswerField = z.infer<typeof answerField>;

/** The answer to the payment. */
const paidAnswer = z.object({
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

/** The seller's statement about the settlement. It is recorded and compared, never believed. */
const sellerReceipt = z.object({
  success: z.boolean().nullable(),
  transaction: z.string().nullable(),
  network: z.string().nullable(),
  payer: z.string().nullable(),
  error: z.string().nullable(),
});
export type SellerReceipt = z.infer<typeof sellerReceipt>;

/** Place on the chain where a payment was found. */
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

/** The operator's decision about a payment that no rule could decide. No chain shows it, so it proves nothing. */
const operatorWord = z.object({ because: z.string(), at: z.iso.datetime() });

/**
 * One attempt to pay for one real call. Amounts are atomic USDC, times ISO 8601 UTC. `delivered` is true for the product; false
 * with `unrecognised` for an answer that is not recognised as the product; false without it for no answer, an empty body, or
 * another status than 2xx. It is null until that is known. A run that ends before the answer is recorded and judged leaves it
 * null for good, since the body is gone: such a payment settles without a receipt, and counts neither for nor against the seller.
 */
export const payment = z.object({
  id: z.uuid(),
  route_id: z.uuid(),
  network: networkKey,
  scheme: z.string(),
  x402_version: z.union([z.literal(1), z.literal(2)]),
  asset: z.string(),
  amount: z
    .int()
    .positive()
    .describe('What was paid. Scheme upto: the ceiling, until what was taken is found on the chain'),
  ceiling: z
    .int()
    .positive()
    .optional()
    .describe(
      'Scheme upto: the most that the seller might take, as signed; absent where exactly the amount was signed',
    ),
  payer: z.string(),
  pay_to: z.string(),
  nonce: z
    .string()
    .describe('Makes the payment the only one of its kind: nonce of EIP-3009 or Permit2 (Base), memo (Solana)'),
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
  by_operator: operatorWord.nullable().describe('Set where the operator closed it by hand; the state is then its word'),
  head_at: z.iso
    .datetime()
    .describe(
      "Time of the chain's latest block before anything was sent: the cap of that UTC day is the one it counts for",
    ),
  prepared_at: z.iso.datetime(),
  sent_at: z.iso.datetime().nullable(),
  resolved_at: z.iso.datetime().nullable(),
});
export type Payment = z.infer<typeof payment>;

/**
 * The public form of a settled payment: without its state, which is always the same, and without the operator's own book-keeping.
 */
export const publicPayment = payment
  .omit({ state: true, reason: true, by_operator: true, head_at: true, prepared_at: true, resolved_at: true })
  .extend({ settlement });
export type PublicPayment = z.infer<typeof publicPayment>;

/**
 * Builds the public form of a payment for the route with a path; undefined if it did not settle. `listing` is the live listing of
 * that route; values of the request that it does not already show are withheld.
 */
export function buildPublicPayment(
  {
    state: _state,
    reason: _reason,
    by_operator: _word,
    head_at: _head,
    prepared_at: _prepared,
    resolved_at: _resolved,
    settlement: found,
    ...rest
  }: Payment,
  path: string,
  listing: { readonly base_url: string; readonly routes: readonly PaidRoute[] } | undefined,
): PublicPayment | undefined {
  if (!found) return undefined;
  const { request, route_id } = rest;
  const route = listing?.routes.find(({ id }) => id === route_id);
  const isPublic = listing && route && isPublicRequest(request, listing.base_url, route);
  return { ...rest, request: isPublic ? request : withholdValues(request, path), settlement: found };
}

type PaidRoute = Parameters<typeof isPublicRequest>[2] & { readonly id: string };

/** A payment before it is sent, with everything that identifies it on the chain. */
const preparedPayment = payment.omit({
  state: true,
  reason: true,
  delivered: true,
  unrecognised: true,
  conforming: true,
  answer: true,
  seller_receipt: true,
  settlement: true,
  by_operator: true,
  sent_at: true,
  resolved_at: true,
  signature: true,
});
export type PreparedPayment = z.infer<typeof preparedPayment>;

/** The facts after an answer came, or none did. `delivered` is null until the answer is judged. */
const paymentAnswer = payment.pick({
  answer: true,
  seller_receipt: true,
  delivered: true,
  unrecognised: true,
  conforming: true,
});
export type PaymentAnswer = z.infer<typeof paymentAnswer>;

/** The outcome of an attempt by the chain. */
const paymentResolution = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('settled'),
    settlement,
    amount: z.int().positive().optional().describe('What was taken, where a ceiling was signed'),
  }),
  z.object({ state: z.literal('not_settled'), reason: z.string() }),
  z.object({ state: z.literal('unknown'), reason: z.string() }),
]);
export type PaymentResolution = z.infer<typeof paymentResolution>;

/**
 * A step of an attempt after it is prepared. `sent`: recorded right before sending; on Solana the signature identifies the
 * payment. `answered`: recorded as soon as the answer has come. `judged`: the judgement of that answer. `resolved`: the outcome
 * by the chain. `closed`: the operator's decision about one that nothing else could decide.
 */
const paymentStep = z.discriminatedUnion('step', [
  z.object({ step: z.literal('sent'), signature: z.string().nullable() }),
  z.object({ step: z.literal('answered'), answer: paymentAnswer }),
  z.object({ step: z.literal('judged'), answer: paymentAnswer }),
  z.object({ step: z.literal('resolved'), resolution: paymentResolution }),
  z.object({ step: z.literal('closed'), as: z.enum(['settled', 'not_settled']), because: z.string() }),
]);
export type PaymentStep = z.infer<typeof paymentStep>;

/** One line of a payer's journal: the payment, the step and its time. */
export const paymentEntry = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  event: z.discriminatedUnion('step', [
    z.object({ step: z.literal('prepared'), attempt: preparedPayment }),
    // Copied from a catalogue that had the payment, or had a later state of it.
    z.object({ step: z.literal('copied'), payment }),
    ...paymentStep.options,
  ]),
});
export type PaymentEntry = z.infer<typeof paymentEntry>;

/** Returns true if a payment may still move money. */
export function isOpen({ state }: Pick<Payment, 'state'>): boolean {
  return OPEN_STATES.some((open) => open === state);
}

/** Reason of an `unknown` payment that did not settle according to only one node. */
export const UNCONFIRMED = 'unconfirmed';

/**
 * Returns true if only one node says that a payment did not settle. It counts as spent and the chain is asked again, but its
 * wallet may go on paying, since anybody can sell something and never settle.
 */
export function isUnconfirmed({ state, reason }: Pick<Payment, 'state' | 'reason'>): boolean {
  return state === 'unknown' && reason === UNCONFIRMED;
}

/** Returns the time from which a single node is believed that a payment did not settle: a day after its expiry, ISO 8601 UTC. */
export function getCountedUntil({ expires_at }: Pick<Payment, 'expires_at'>): string {
  return new Date(Date.parse(expires_at) + DAY_MS).toISOString();
}

/** Builds the payment of a prepared attempt. */
export function buildPayment(attempt: PreparedPayment): Payment {
  return {
    ...attempt,
    signature: null,
    state: 'prepared',
    reason: null,
    delivered: null,
    unrecognised: null,
    conforming: null,
    answer: null,
    seller_receipt: null,
    settlement: null,
    by_operator: null,
    sent_at: null,
    resolved_at: null,
  };
}

/**
 * Returns a payment after a step at a time (ISO 8601 UTC). Throws `conflict` (`wrong_state`) if the step is not possible in its
 * state.
 */
export function applyStep(payment: Payment, step: PaymentStep, at: string): Payment {
  if (!canFollow(payment, step)) {
    throw new ServiceError(
      'conflict',
      `The payment ${payment.id} is ${payment.state}; it cannot be ${step.step} now.`,
      {
        hint: 'The command receipts shows what became of it.',
        reason: 'wrong_state',
      },
    );
  }
  switch (step.step) {
    case 'sent':
      return { ...payment, state: 'sent', sent_at: at, signature: step.signature };
    case 'answered':
    case 'judged':
      return { ...payment, ...step.answer };
    case 'resolved': {
      const { resolution } = step;
      if (resolution.state === 'settled') {
        const { amount = payment.amount, ...found } = resolution;
        return { ...payment, ...found, amount, reason: null, resolved_at: at };
      }
      return { ...payment, ...resolution, resolved_at: resolution.state === 'unknown' ? null : at };
    }
    case 'closed':
      return {
        ...payment,
        state: step.as,
        reason: 'operator',
        by_operator: { because: step.because, at },
        resolved_at: at,
      };
  }
}

function canFollow(payment: Payment, step: PaymentStep): boolean {
  const { state, answer, delivered, by_operator } = payment;
  const maySettle = state === 'sent' || state === 'unknown';
  // Another process may find the payment on the chain while the paying one still waits for the answer.
  const mayBeAnswered = maySettle || (state === 'settled' && by_operator === null);
  switch (step.step) {
    case 'sent':
      return state === 'prepared';
    case 'answered':
      return mayBeAnswered && answer === null && delivered === null;
    case 'judged':
      return mayBeAnswered && answer !== null && delivered === null;
    case 'resolved':
      return maySettle || (state === 'prepared' && step.resolution.state === 'not_settled');
    case 'closed':
      return isOpen(payment);
  }
}

/** Spending limits, in atomic USDC. */
export interface PaymentCaps {
  per_call: number;
  /** Limit of a UTC day, by the clock of the chain, for everything that was paid or may still be. */
  per_day: number;
}

/** The operator's correction of a receipt that is wrong on record. It is public, with its reason. */
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
 * The record of one payment that the service made for a real call to one route. Its id is that of the attempt. Amounts are atomic
 * USDC.
 */
export const receipt = z.object({
  id: z.uuid(),
  route_id: z.uuid(),
  network: networkKey,
  asset: z.string(),
  amount: z.int().positive(),
  /** The most that the seller could take (scheme `upto`); absent if exactly the amount was signed. */
  ceiling: z.int().positive().optional(),
  payer: z.string(),
  pay_to: z.string(),
  transaction: z.string(),
  genesis: z.string().describe('Hash of the first block of the chain that it was paid on'),
  settled_at: z.iso.datetime(),
  /** The request that was paid for, without payment and secrets; null if it is not on record. */
  request: paidRequest.nullable(),
  /** True if the payment settled according to the chain. */
  settled: z.boolean(),
  /** True if a 2xx answer was recognised as the product. */
  delivered: z.boolean(),
  /** Reason why an answer with status 2xx was not recognised as the product; null if it was, or if none came. */
  unrecognised: unrecognisedReason.nullable(),
  /** Result of comparing the body with what the route declares. */
  conforming: z.enum(['yes', 'no', 'undeclared']),
  /** The operator's correction. A receipt with one counts neither for nor against the route. */
  correction: correction.nullable(),
});
export type Receipt = z.infer<typeof receipt>;
