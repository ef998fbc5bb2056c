import { z } from 'zod';

/**
 * Support of a seller for the buyer's id of a payment (x402 extension `payment-identifier`), with which a repeated call is not
 * charged again.
 */
export const paymentIdentifier = z.enum(['supported', 'required']);
export type PaymentIdentifier = z.infer<typeof paymentIdentifier>;
