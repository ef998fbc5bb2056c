import { createHash } from 'node:crypto';
import type { FetchResponse } from '../fetching/client.ts';
import type { PaidAnswer, PaymentAnswer } from '../model/payment.ts';
import { getRequestHash, type PaidRequest } from '../model/request.ts';
import { readSellerReceipt } from './payment-header.ts';
import { type Judgement, readMediaType } from './product.ts';

/** The request that is paid for. It contains no payment and no secret. */
export interface Call {
  method: PaidRequest['method'];
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Headers that are sent as the operator gives them, but never recorded, because receipts are public. */
const SECRET_HEADER = /auth|cookie|key|passw|payment|secret|session|signature|token/i;

/** Builds the record of a request. */
export function buildPaidRequest({ method, url, headers, body }: Call): PaidRequest {
  const shown = Object.entries(headers).filter(([name]) => !SECRET_HEADER.test(name));
  const request = { method, url: url.href, headers: Object.fromEntries(shown), body: body ?? null };
  return { ...request, hash: getRequestHash(request) };
}

/**
 * Builds the first record of an answer, before it is judged. An answer with another status than 2xx or without a body
 * delivered nothing; all others are still to be judged. What the seller says about the settlement is kept as a claim.
 */
export function buildPaymentAnswer(
  { status, headers, body }: FetchResponse,
  { at, durationMs }: { at: Date; durationMs: number },
): PaymentAnswer {
  const answer: PaidAnswer = {
    at: at.toISOString(),
    duration_ms: Math.max(0, Math.round(durationMs)),
    status,
    content_type: readMediaType(headers.get('content-type')),
    size: body.byteLength,
    hash: createHash('sha256').update(body).digest('hex'),
    fields: null,
  };
  const isJudged = status < 200 || status > 299 || body.byteLength === 0;
  return { ...NO_ANSWER, answer, seller_receipt: readSellerReceipt(headers), delivered: isJudged ? false : null };
}

/** Adds the judgement to the record of an answer. */
export function addJudgement(
  { answer, ...said }: PaymentAnswer,
  { unrecognised, conforming, fields }: Judgement,
): PaymentAnswer {
  return {
    ...said,
    answer: answer && { ...answer, fields },
    delivered: unrecognised === null,
    unrecognised,
    conforming,
  };
}

/** The record of a call without an answer. */
export const NO_ANSWER: PaymentAnswer = Object.freeze({
  answer: null,
  seller_receipt: null,
  delivered: false,
  unrecognised: null,
  conforming: null,
});
