import { ServiceError } from '../errors.ts';
import type { NetworkKey } from '../model/network.ts';
import type { Payment, PreparedPayment, Settlement } from '../model/payment.ts';
import type { Requirement } from '../x402/requirements.ts';

/** What identifies a payment on its chain, in advance of any signature. */
export type PaymentIdentity = Pick<
  PreparedPayment,
  'nonce' | 'from_block' | 'head_at' | 'expires_at' | 'expires_block'
>;

/**
 * What the chain says of a payment. `open`: not there, and it may still come. `disputed`: what was said contradicts
 * itself, another node or what we signed; money may have moved, so that it never counts as not settled.
 */
export type ChainFinding =
  | { state: 'settled'; settlement: Settlement }
  /** `head_at`: the clock of the chain, where that is what decided. */
  | { state: 'not_settled'; reason: string; head_at?: string }
  | { state: 'open' }
  | { state: 'disputed'; reason: 'nodes_disagree' | 'no_event' | 'no_matching_transfer' };

/** What of a payment it takes to find it on its chain. */
export type SoughtPayment = Pick<
  Payment,
  'asset' | 'amount' | 'payer' | 'pay_to' | 'nonce' | 'signature' | 'from_block' | 'expires_at' | 'expires_block'
>;

/** Reads one chain. Every function throws `unavailable` (`rpc_failed`) where the chain cannot be asked. */
export interface Chain {
  readonly network: NetworkKey;
  /** Returns the balance of an account in atomic USDC. */
  getBalance(account: string): Promise<number>;
  /** Finds a payment by what identifies it; the seller's word plays no part. */
  findSettlement(payment: SoughtPayment): Promise<ChainFinding>;
}

/** What a receipt says of a payment, as far as it takes to find that payment in its transaction. */
export interface PaymentClaim {
  transaction: string;
  payer: string;
  pay_to: string;
  /** Atomic USDC, in decimal. */
  amount: string;
  nonce: string;
}

/**
 * A USDC payment as the chain has it. Of several in one transaction it is the one that fits the claim best. Null where
 * the transaction holds nothing of the kind.
 */
export interface PaymentOnChain {
  /** Whether the transaction did what it says, and can no longer be taken back. */
  final: boolean;
  payer: string | null;
  pay_to: string | null;
  /** Atomic USDC, in decimal. */
  amount: string | null;
  nonce: string | null;
  /** Solana: the payer's signature. */
  signature: string | null;
  /** Base: until when the authorisation could be used; null where the transaction is no plain call that names it. */
  expires_at: string | null;
  block: number;
  block_hash: string;
  log_index: number | null;
  settled_at: string;
}

/**
 * Reads one node to check receipts. It starts from the transaction that the receipt names, so that a check
 * takes a handful of questions however old the payment is. Both functions throw `unavailable` (`rpc_failed`) where the
 * node cannot be asked, and `refused` (`wrong_chain`) where it serves another chain.
 */
export interface ChainReader {
  readonly network: NetworkKey;
  /** Returns the hash of the first block, which tells a public chain from a local one. */
  getGenesis(): Promise<string>;
  /** Finds the payment in the transaction named; undefined where the node has no such transaction. */
  findPayment(claim: PaymentClaim): Promise<PaymentOnChain | undefined>;
}

/** All it takes to pay on one network: the chain, and a wallet whose key nobody else gets to see. */
export interface Rail {
  readonly network: NetworkKey;
  readonly payer: string;
  readonly chain: Chain;
  /**
   * Makes the identity of a new payment, and checks all that the offer asks for. Throws `refused` for what cannot be
   * paid as it is asked, and `unavailable` (`clock_differs`) where our clock and the chain's differ by more than five
   * minutes.
   */
  identify(requirement: Requirement, now: Date): Promise<PaymentIdentity>;
  /**
   * Signs a payment that is written down already. Returns the x402 `payload`, and for Solana the signature by which it
   * is found.
   */
  sign(
    payment: PreparedPayment,
    requirement: Requirement,
  ): Promise<{ payload: Record<string, unknown>; signature: string | null }>;
}

/** How long a node may take for one answer, its body included; milliseconds. */
export const NODE_TIMEOUT_MS = 10_000;

/** Returns a signal that ends a question to a node in time, or when its own signal says so. */
export function limitTime(timeoutMs: number, signal?: AbortSignal | null): AbortSignal {
  const ending = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([signal, ending]) : ending;
}

/** A payment is never valid for longer, whatever the seller asks for: in seconds. */
export const MAX_VALIDITY_SECONDS = 120;

/** By how much our clock and that of the chain may differ where anything is paid, or given up as expired; milliseconds. */
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60 * 1000;

/** Returns whether a time by the chain's clock is so far from ours that one of the two is wrong. */
export function isClockOff(now: Date, headAt: string): boolean {
  return Math.abs(now.getTime() - Date.parse(headAt)) > MAX_CLOCK_DIFFERENCE_MS;
}

/** Refuses to pay while our clock and the chain's latest block differ too much: caps and expiries rest on both. */
export function checkClock(now: Date, headAt: string): void {
  if (!isClockOff(now, headAt)) return;
  throw new ServiceError(
    'unavailable',
    `Our clock says ${now.toISOString()}, the latest block of the chain ${headAt}.`,
    {
      hint: 'Set the clock of this machine, or name a node that keeps up; nothing is paid while they differ by more than five minutes.',
      reason: 'clock_differs',
    },
  );
}
