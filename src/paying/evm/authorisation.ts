import { getAddress, type Hex } from 'viem';
import type { EvmNetwork } from '../../model/network.ts';
import type { PreparedPayment } from '../../model/payment.ts';

/** Returns the number of a chain that signatures and nodes use: the reference of its CAIP-2 identifier. */
export function getChainId({ id }: EvmNetwork): number {
  return Number(id.slice('eip155:'.length));
}

/**
 * Returns the EIP-712 domain of USDC on a chain. It is fixed, and `extra` of a challenge is ignored, because a signature over
 * another domain could be used elsewhere.
 */
export function getUsdcDomain(chain: EvmNetwork) {
  return { ...chain.domain, chainId: getChainId(chain), verifyingContract: getAddress(chain.usdc) };
}

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

/** An authorisation as x402 writes it: numbers are decimal text. */
export interface Authorisation {
  from: string;
  to: string;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: Hex;
}

/** Builds the authorisation of a recorded payment. `validBefore` is its expiry, in whole seconds. */
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

/** Builds the message that is signed for an authorisation. */
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
