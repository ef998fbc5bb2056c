import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../catalogue/write/payments.ts';
import { ServiceError } from '../errors.ts';
import {
  getCountedUntil,
  isOpen,
  isUnconfirmed,
  type Payment,
  type PaymentAnswer,
  type PaymentResolution,
  type PreparedPayment,
  UNCONFIRMED,
} from '../model/payment.ts';
import { isClockOff, MAX_VALIDITY_SECONDS, type Rail } from './rail.ts';

/** Events of a payment, in their order. */
export type PayEvent =
  | { type: 'prepared'; payment: PreparedPayment }
  | { type: 'sent' }
  | { type: 'answered'; answer: PaymentAnswer }
  /** No usable answer came. The reason is that of the fetch. */
  | { type: 'unanswered'; reason: string }
  | { type: 'waiting'; until: string };

/** Interval for asking the chain about a pending payment, in milliseconds. It grows from the first value to the last. */
const POLL_MS = { first: 100, last: 2_000 };

/** Longest time to ask the chain, in milliseconds. Without a limit a stuck node would be asked for ever. */
const PATIENCE_MS = (MAX_VALIDITY_SECONDS + 60) * 1000;

export interface ResolveOptions {
  rail: Rail;
  ledger: Ledger;
  now: () => Date;
  /** Ends the wait. The payment then stays open, to be reconciled later. */
  signal: AbortSignal;
  /** Default: three minutes. */
  patienceMs?: number | undefined;
  onEvent?: ((event: PayEvent) => void) | undefined;
}

/**
 * Waits until the chain shows that a payment settled or can no longer settle. Returns the payment, which is still open
 * if the time limit comes first, or if one node alone says that it did not settle. If the chain cannot be asked, the
 * payment becomes `unknown` and the failure is thrown.
 */
export async function resolvePayment(id: string, options: ResolveOptions): Promise<Payment> {
  const { ledger, signal, patienceMs = PATIENCE_MS, onEvent } = options;
  const started = performance.now();
  let isWaitReported = false;
  for (let pauseMs = POLL_MS.first; ; pauseMs = Math.min(pauseMs * 1.5, POLL_MS.last)) {
    const payment = await resolveOnChain(await getPayment(ledger, id), options);
    if (!isOpen(payment) || isUnconfirmed(payment) || signal.aborted || performance.now() - started > patienceMs)
      return payment;
    if (!isWaitReported) onEvent?.({ type: 'waiting', until: payment.expires_at });
    isWaitReported = true;
    // A stop while waiting is not a failure: the payment is found later.
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Resolves every payment of a wallet that a crash or a stop left open, without waiting. Nobody else may pay from the
 * wallet meanwhile. Returns these payments, of which some may still be open.
 */
export async function reconcilePayments(
  options: Omit<ResolveOptions, 'signal' | 'onEvent' | 'patienceMs'>,
): Promise<Payment[]> {
  const { ledger, rail } = options;
  const found: Payment[] = [];
  for (const payment of await ledger.listOpen(rail.payer)) found.push(await resolveOnChain(payment, options));
  return found;
}

async function resolveOnChain(
  payment: Payment,
  { rail, ledger, now }: Pick<ResolveOptions, 'rail' | 'ledger' | 'now'>,
): Promise<Payment> {
  if (!isOpen(payment)) return payment;
  const { id } = payment;
  const resolve = async (resolution: PaymentResolution) => {
    const isSame = resolution.state === payment.state && 'reason' in resolution && resolution.reason === payment.reason;
    if (!isSame) await ledger.record(id, { step: 'resolved', resolution }, now().toISOString());
    return await getPayment(ledger, id);
  };
  // A payment that is not marked as sent was never signed.
  if (payment.state === 'prepared') return await resolve({ state: 'not_settled', reason: 'never_sent' });
  try {
    const finding = await rail.chain.findSettlement(payment);
    if (finding.state === 'open') return payment;
    if (finding.state === 'settled') return await resolve(finding);
    if (finding.state === 'disputed') return await resolve({ ...finding, state: 'unknown' });
    // A wrong clock cannot decide that a payment expired.
    const isOff = finding.head_at !== undefined && isClockOff(now(), finding.head_at);
    if (isOff) return await resolve({ state: 'unknown', reason: 'clock_differs' });
    // A single node cannot decide it either, until it has said so for a day by our clock.
    const isSure = (finding.read_from ?? 1) > 1 || now().toISOString() > getCountedUntil(payment);
    if (!isSure) return await resolve({ state: 'unknown', reason: UNCONFIRMED });
    return await resolve({ state: 'not_settled', reason: finding.reason });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const found = await resolve({ state: 'unknown', reason: error.reason });
    // The chain answered with a transaction that belongs to another payment.
    if (error.reason === 'transaction_taken') return found;
    throw error;
  }
}

async function getPayment(ledger: Ledger, id: string): Promise<Payment> {
  const payment = await ledger.findPayment(id);
  if (!payment) throw new Error(`the ledger has lost the payment ${id}`);
  return payment;
}
