import { isObject } from '../model/json.ts';
import type { PaymentIdentifier } from '../model/payment-identifier.ts';

/** Name of the extension in the `extensions` of a 402 or of a document. */
const NAME = 'payment-identifier';

/**
 * Finds the seller's support for an id of the payment: `info.required` of the x402 extension `payment-identifier`. Undefined if
 * `extensions` lack it, or have it in another form.
 */
export function findPaymentIdentifier(extensions: unknown): PaymentIdentifier | undefined {
  const extension = isObject(extensions) && Object.hasOwn(extensions, NAME) ? extensions[NAME] : undefined;
  const info = isObject(extension) ? extension.info : undefined;
  if (!isObject(info) || typeof info.required !== 'boolean') return undefined;
  return info.required ? 'required' : 'supported';
}
