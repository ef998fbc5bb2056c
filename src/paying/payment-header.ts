import { isObject } from '../model/json.ts';
import type { SellerReceipt } from '../model/payment.ts';
import { cutText } from '../model/text.ts';
import type { Requirement } from '../x402/requirements.ts';

/** Longest text that is kept from a seller's receipt. */
const MAX_TEXT = 200;

/** A transaction, network or payer on any chain. Anything else is not kept, because receipts are public. */
const NAME = /^[\w.:-]{1,200}$/;

/** Invisible characters, and those that change how other text is shown. */
const UNSEEN = /[\p{C}\p{Z}]+/gu;

/** Largest receipt header that is read, in characters. */
const MAX_HEADER = 64 * 1024;

/**
 * Builds the header with a signed payment: `PAYMENT-SIGNATURE` (x402 version 2) with the original offer, or `X-PAYMENT`
 * (version 1).
 */
export function buildPaymentHeader(requirement: Requirement, payload: Record<string, unknown>): Record<string, string> {
  const name = requirement.terms.x402_version === 1 ? 'x-payment' : 'payment-signature';
  return { [name]: encode(buildPaymentPayload(requirement, payload)) };
}

/** Builds a signed payment as x402 sends it: in version 2 with the original offer, resource and extensions. */
export function buildPaymentPayload(
  { terms, raw, resource, extensions }: Requirement,
  payload: Record<string, unknown>,
): Record<string, unknown> {
  if (terms.x402_version === 1) {
    const { scheme, network } = raw;
    return { x402Version: 1, scheme, network, payload };
  }
  const rest = { ...(resource === undefined ? {} : { resource }), ...(isObject(extensions) ? { extensions } : {}) };
  return { x402Version: 2, ...rest, accepted: raw, payload };
}

/** Reads what a seller says about the settlement; null if it says nothing readable. Never throws. */
export function readSellerReceipt(headers: Headers): SellerReceipt | null {
  const value = headers.get('payment-response') ?? headers.get('x-payment-response');
  if (value === null || value.length > MAX_HEADER) return null;
  let said: unknown;
  try {
    said = JSON.parse(Buffer.from(value, 'base64').toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  if (!isObject(said)) return null;
  const getText = (name: string) => (typeof said[name] === 'string' ? said[name] : '');
  const getName = (name: string) => (NAME.test(getText(name)) ? getText(name) : null);
  const getWords = (name: string) => cutText(getText(name).replace(UNSEEN, ' ').trim(), MAX_TEXT) || null;
  return {
    success: typeof said.success === 'boolean' ? said.success : null,
    transaction: getName('transaction') ?? getName('txHash'),
    network: getName('network') ?? getName('networkId'),
    payer: getName('payer'),
    error: getWords('errorReason') ?? getWords('error'),
  };
}

/** Writes JSON as headers of x402 carry it: in base 64. */
export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}
