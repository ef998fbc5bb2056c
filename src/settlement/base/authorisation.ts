import { getAddress, type Hex } from 'viem';
import { BASE_USDC_DOMAIN, NETWORKS } from '../../model/network.ts';
import type { PreparedPayment } from '../../model/payment.ts';

/**
 * The EIP-712 domain of USDC on Base, pinned: what a challenge says of it in `extra` is not looked at, since a
 * signature over another domain would be worth something elsewhere.
 */
export const USDC_DOMAIN = {
  ...BASE_USDC_DOMAIN,
  chainId: 8453,
  verifyingContract: getAddress(NETWORKS.base.usdc),
} as const;

/** EIP-3009, `transferWithAuthorization`. */
export const AUTHORISATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** An authorisation as x402 carries it: numbers as decimal text. */
export interface Authorisation {
  from: string;
  to: string;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: Hex;
}

/** Builds the authorisation of a payment that is written down. `validBefore` is its expiry, in whole seconds. */
export function buildAuthorisation(
  payment: Pick<PreparedPayment, 'payer' | 'pay_to' | 'amount' | 'nonce' | 'expires_at'>,
): Authorisation {
  const { payer, pay_to, amount, nonce, expires_at } = payment;
  return {
    from: getAddress(payer),
    to: getAddress(pay_to),
    value: String(amount),
    validAfter: '0',
    validBefore: String(Math.floor(Date.parse(expires_at) / 1000)),
    nonce: `0x${nonce.replace(/^0x/, '')}`,
  };
}

/** Returns the message that is signed for an authorisation. */
export function buildMessage({ from, to, value, validAfter, validBefore, nonce }: Authorisation) {
  return {
    from: getAddress(from),
    to: getAddress(to),
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
  };
}
