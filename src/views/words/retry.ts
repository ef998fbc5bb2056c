import type { PaymentIdentifier } from '../../model/payment-identifier.ts';

/** Words for whether a call whose answer was lost can be sent again without being charged twice. */
export const RETRY_WORDS: Readonly<Record<PaymentIdentifier, string>> = {
  supported: 'safe to retry',
  required: 'needs payment id',
};
