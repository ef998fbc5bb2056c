import { getErrorMessage, ServiceError } from '../errors.ts';
import type { NetworkKey } from '../model/network.ts';
import type { Payment, PreparedPayment, Settlement } from '../model/payment.ts';
import type { Requirement } from '../x402/requirements.ts';

/** The fields that identify a payment on its chain before it is signed. */
export type PaymentIdentity = Pick<
  PreparedPayment,
  'nonce' | 'from_block' | 'head_at' | 'expires_at' | 'expires_block'
>;

/**
 * The chain's finding about a payment. `open`: it is not found, and may still come. `disputed`: answers contradict themselves,
 * another node, or what we signed. Money may have moved, so it never counts as not settled.
 */
export type ChainFinding =
  /** `amount`: the amount taken in atomic USDC, if a ceiling was signed. */
  | { state: 'settled'; settlement: Settlement; amount?: number }
  /** `head_at`: time of the chain, if that was decisive. `read_from`: number of nodes that agreed; default: one. */
  | { state: 'not_settled'; reason: string; head_at?: string; read_from?: number }
  | { state: 'open' }
  | { state: 'disputed'; reason: DisputeReason };

/**
 * Contradictions between the chain and what we signed: nodes disagree, the nonce is used and no transaction shows it, another
 * payee or amount was paid, or more was taken than the ceiling.
 */
export type DisputeReason = 'nodes_disagree' | 'no_event' | 'no_matching_transfer' | 'above_ceiling';

/** The fields of a payment that are needed to find it on its chain. */
export type SoughtPayment = Pick<
  Payment,
  | 'scheme'
  | 'asset'
  | 'amount'
  | 'ceiling'
  | 'payer'
  | 'pay_to'
  | 'nonce'
  | 'signature'
  | 'from_block'
  | 'expires_at'
  | 'expires_block'
>;

/** Reads one chain. Every function throws `unavailable` (`rpc_failed`) if the chain cannot be asked. */
export interface Chain {
  readonly network: NetworkKey;
  /** Returns the balance of an account in atomic USDC. */
  getBalance(account: string): Promise<number>;
  /** Finds a payment by its identity, without relying on the seller. */
  findSettlement(payment: SoughtPayment): Promise<ChainFinding>;
}

/** The claims of a receipt that are needed to find the payment in its transaction. */
export interface PaymentClaim {
  scheme: string;
  transaction: string;
  payer: string;
  pay_to: string;
  /** Atomic USDC, in decimal. */
  amount: string;
  nonce: string;
}

/**
 * A USDC payment on the chain. If a transaction has several, it is the one that matches the claim best. Fields are null
 * if the transaction does not contain them.
 */
export interface PaymentOnChain {
  /** True if the transaction succeeded and can no longer be reverted. */
  final: boolean;
  payer: string | null;
  pay_to: string | null;
  /** Atomic USDC, in decimal. */
  amount: string | null;
  /** EVM: the ceiling that was signed, in atomic USDC; null for an exact amount, or if the transaction does not show it. */
  ceiling: string | null;
  nonce: string | null;
  /** Solana: the payer's signature. */
  signature: string | null;
  /** EVM: end of the time in which the signature could be used; null if the transaction does not show it. */
  expires_at: string | null;
  block: number;
  block_hash: string;
  log_index: number | null;
  settled_at: string;
}

/**
 * Reads one node to check receipts. It starts from the transaction in the receipt, so a check needs only a few
 * requests, however old the payment is. Both functions throw `unavailable` (`rpc_failed`) if the node cannot be asked,
 * and `refused` (`wrong_chain`) if it serves another chain.
 */
export interface ChainReader {
  readonly network: NetworkKey;
  /** Returns the hash of the first block, which distinguishes a public chain from a local one. */
  getGenesis(): Promise<string>;
  /** Finds the payment in the claimed transaction; undefined if the node does not have the transaction. */
  findPayment(claim: PaymentClaim): Promise<PaymentOnChain | undefined>;
}

/** Everything that is needed to pay on one network: the chain, and a wallet whose key stays inside. */
export interface Rail {
  readonly network: NetworkKey;
  readonly payer: string;
  readonly chain: Chain;
  /**
   * Creates the identity of a new payment, and checks everything that the offer asks for. Throws `refused` if the offer
   * cannot be paid, and `unavailable` (`clock_differs`) if our clock and the chain's differ by more than five minutes.
   */
  identify(requirement: Requirement, now: Date): Promise<PaymentIdentity>;
  /** Signs a recorded payment. Returns the x402 `payload`, and for Solana the signature by which the payment is found. */
  sign(
    payment: PreparedPayment,
    requirement: Requirement,
  ): Promise<{ payload: Record<string, unknown>; signature: string | null }>;
}

/** Time limit for one answer of a node, including its body; milliseconds. */
export const NODE_TIMEOUT_MS = 10_000;

/** Returns a signal that aborts after `timeoutMs`, or when `signal` does. */
export function limitTime(timeoutMs: number, signal?: AbortSignal | null): AbortSignal {
  const ending = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([signal, ending]) : ending;
}

/**
 * Asks the node that a setting names. Any failure becomes `unavailable` (`rpc_failed`), without the node's address, which may
 * contain a key of the operator.
 */
export async function askChain<Result>(setting: string, question: () => Promise<Result>): Promise<Result> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const word =
      getErrorMessage(error)
        .split('\n')[0]
        ?.replace(/https?:\/\/\S+/g, 'the node') ?? '';
    throw new ServiceError('unavailable', `The chain cannot be asked: ${word.replace(/\.?$/, '.')}`, {
      hint: `Check ${setting}, or try again later; a payment that was sent is found then.`,
      reason: 'rpc_failed',
      cause: error,
    });
  }
}

/** Longest validity of a payment, whatever the seller asks for, in seconds. */
export const MAX_VALIDITY_SECONDS = 120;

/** Largest difference between our clock and the chain's when a payment is made or given up as expired, in milliseconds. */
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60 * 1000;

/** Returns true if our clock and the chain's differ so much that one of them is wrong. */
export function isClockOff(now: Date, headAt: string): boolean {
  return Math.abs(now.getTime() - Date.parse(headAt)) > MAX_CLOCK_DIFFERENCE_MS;
}

/**
 * Throws `unavailable` if our clock and the chain's latest block differ too much, because caps and expiries depend on
 * both.
 */
export function checkClock(now: Date, headAt: string): void {
  if (!isClockOff(now, headAt)) return;
  throw new ServiceError(
    'unavailable',
    `Our clock says ${now.toISOString()}, but the latest block of the chain says ${headAt}.`,
    {
      hint: 'Set the clock of this machine, or use a node that is up to date; nothing is paid while they differ by more than five minutes.',
      reason: 'clock_differs',
    },
  );
}
