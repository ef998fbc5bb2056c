import type { Payment, PaymentAnswer, PaymentCaps, PaymentResolution, PreparedPayment } from '../model/payment.ts';

/**
 * Where attempts are written down, given to whoever pays. Each call is one transaction, on disk before it returns, so
 * that a crash can neither lose a receipt nor pay twice. Times are ISO 8601 UTC.
 */
export interface Ledger {
  /**
   * Writes an attempt down before anything is signed. Throws `refused` with the reason `cap_per_call`, `cap_per_day`, or
   * `payment_open` while another one of the same payer may still move money.
   */
  prepare(attempt: PreparedPayment, caps: PaymentCaps): void;
  /** Written right before the payment leaves. `signature` identifies it on Solana. */
  markSent(id: string, at: string, signature: string | null): void;
  /** Written as soon as the answer is there, and once more when it has been judged. */
  recordAnswer(id: string, answer: PaymentAnswer): void;
  /**
   * Writes down what the chain says, and publishes the receipt of what is settled. Where nobody knows whether the product
   * came (`delivered` null) there is no receipt: that is our own failure, and counts for nobody and against nobody.
   */
  resolve(id: string, resolution: PaymentResolution, at: string): void;
  /** Lists the attempts of a payer by which money may still move, oldest first. */
  listOpen(payer: string): Payment[];
  findPayment(id: string): Payment | undefined;
}
