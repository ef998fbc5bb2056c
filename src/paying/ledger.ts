import type { Payment, PaymentCaps, PaymentStep, PreparedPayment } from '../model/payment.ts';

/**
 * The record of payments. Each call is one transaction: it is written to the payer's journal first, then to the
 * catalogue, and is on disk in both when it returns. Times are ISO 8601 UTC.
 */
export interface Ledger {
  /**
   * Records a payment before anything is signed. Throws `refused` with the reason `cap_per_call`, `cap_per_day`, or
   * `payment_open` while another payment of the same payer may still move money, unless a node says that it did not.
   */
  prepare(attempt: PreparedPayment, caps: PaymentCaps): Promise<void>;
  /**
   * Records a step of a payment, and publishes the receipt once it is settled. If nobody knows whether the product came
   * (`delivered` is null), there is no receipt: that is our own failure and counts for nobody and against nobody.
   * Throws `conflict`: `wrong_state` if the step does not follow from the payment's state, and `transaction_taken` if
   * its transaction is on record for another payment.
   */
  record(id: string, step: PaymentStep, at: string): Promise<void>;
  /**
   * Restores steps that the catalogue lacks, as after a crash or a restored backup. Payments that it has as settled or
   * not settled stay so. Returns the payments of which it knows more.
   */
  restore(payments: readonly Payment[]): Promise<Payment[]>;
  /** Lists the payments of a payer that may still move money, oldest first. */
  listOpen(payer: string): Promise<Payment[]>;
  findPayment(id: string): Promise<Payment | undefined>;
}
