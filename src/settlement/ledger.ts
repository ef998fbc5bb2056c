import type { Payment, PaymentCaps, PaymentStep, PreparedPayment } from '../model/payment.ts';

/**
 * Where attempts are written down, given to whoever pays. Each call is one transaction: it is in the payer's journal
 * first, then in the catalogue, and on disk in both before it returns. Times are ISO 8601 UTC.
 */
export interface Ledger {
  /**
   * Writes an attempt down before anything is signed. Throws `refused` with the reason `cap_per_call`, `cap_per_day`,
   * or `payment_open` while another one of the same payer may still move money.
   */
  prepare(attempt: PreparedPayment, caps: PaymentCaps): void;
  /**
   * Writes down what happened to an attempt, and publishes the receipt of what is settled. Where nobody knows whether
   * the product came (`delivered` null) there is no receipt: that is our own failure, and counts for nobody and against
   * nobody. Throws `conflict`: `wrong_state` where the step does not follow from its state, and `transaction_taken`
   * where the transaction it settled in is on record as another payment's.
   */
  record(id: string, step: PaymentStep, at: string): void;
  /**
   * Puts back what the catalogue lacks of these payments, as after a crash or a restored backup; what it has as settled
   * or not settled stays so. Returns those of which it knows more.
   */
  restore(payments: readonly Payment[]): Payment[];
  /** Lists the attempts of a payer by which money may still move, oldest first. */
  listOpen(payer: string): Payment[];
  findPayment(id: string): Payment | undefined;
}
