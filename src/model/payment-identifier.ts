import { z } from 'zod';

/**
 * Whether a seller takes an id of the payment from the buyer (x402 extension `payment-identifier`), by which a call that is
 * sent again is not charged again.
 */
export const paymentIdentifier = z.enum(['supported', 'required']);
export type PaymentIdentifier = z.infer<typeof paymentIdentifier>;
