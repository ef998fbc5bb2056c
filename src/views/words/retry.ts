import type { PaymentIdentifier } from '../../model/payment-identifier.ts';

/** Words for whether a call whose answer was lost can be repeated without a second charge. */
export const RETRY_WORDS: Readonly<Record<PaymentIdentifier, string>> = {
  supported: 'safe to retry',
  required: 'needs payment id',
};
