import { createHash } from 'node:crypto';
import type { FetchResponse } from '../fetching/client.ts';
import { getRequestHash, type PaidRequest } from '../model/paid-request.ts';
import type { PaidAnswer, PaymentAnswer } from '../model/payment.ts';
import { readSellerReceipt } from './payment-header.ts';
import { type Judgement, readMediaType } from './product.ts';

/** The request that a call is paid for: no payment and no secret in it. */
export interface Call {
  method: PaidRequest['method'];
  url: URL;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Headers that are sent as the operator gives them, and never written down: a receipt is public. */
const SECRET_HEADER = /auth|cookie|key|passw|payment|secret|session|signature|token/i;

/** Builds what is written down of a request. */
export function buildPaidRequest({ method, url, headers, body }: Call): PaidRequest {
  const shown = Object.entries(headers).filter(([name]) => !SECRET_HEADER.test(name));
  const request = { method, url: url.href, headers: Object.fromEntries(shown), body: body ?? null };
  return { ...request, hash: getRequestHash(request) };
}

/**
 * Builds what is written down of an answer at once, before anybody looks into it. What has another status than 2xx or
 * no body delivered nothing; all else is still to be judged. What the seller says of the settlement is kept as its
 * word.
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

/** Adds what judging an answer came to. */
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

/** What is written down where no answer came. */
export const NO_ANSWER: PaymentAnswer = Object.freeze({
  answer: null,
  seller_receipt: null,
  delivered: false,
  unrecognised: null,
  conforming: null,
});
