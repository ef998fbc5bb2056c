import { createHash } from 'node:crypto';
import type { FetchResponse } from '../fetching/following.ts';
import { getRequestHash, type PaidRequest } from '../model/paid-request.ts';
import type { PaidAnswer, PaymentAnswer } from '../model/payment.ts';
import { cutText } from '../model/text.ts';
import { type DeclaredProduct, getConformity } from './conformity.ts';
import { readSellerReceipt } from './payment-header.ts';

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
 * Builds what is written down of an answer. Delivered is a 2xx with a body; whether that is what the route declares is
 * said beside it, and what the seller says of the settlement is kept as its word.
 */
export function buildPaymentAnswer(
  { status, headers, body }: FetchResponse,
  declared: DeclaredProduct,
  { at, durationMs }: { at: Date; durationMs: number },
): PaymentAnswer {
  const contentType = headers.get('content-type');
  const answer: PaidAnswer = {
    at: at.toISOString(),
    duration_ms: Math.max(0, Math.round(durationMs)),
    status,
    content_type: contentType === null ? null : cutText(contentType, 200),
    size: body.byteLength,
    hash: createHash('sha256').update(body).digest('hex'),
  };
  const delivered = status >= 200 && status < 300 && body.byteLength > 0;
  return {
    answer,
    seller_receipt: readSellerReceipt(headers),
    delivered,
    conforming: delivered ? getConformity(declared, { contentType, body }) : null,
  };
}

/** What is written down where no answer came. */
export const NO_ANSWER: PaymentAnswer = Object.freeze({
  answer: null,
  seller_receipt: null,
  delivered: false,
  conforming: null,
});
