import { readFileSync } from 'node:fs';
import { PERMIT2_ADDRESS, x402UptoPermit2ProxyAddress } from '@x402/evm';
import { type Hex, isHex, parseAbi } from 'viem';
import { ServiceError } from '../../../src/errors.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import { getChainId } from '../../../src/paying/evm/authorisation.ts';

/** Address of the token on the local chain: that of USDC on Base. */
export const TOKEN_ADDRESS = NETWORKS.base.usdc as Hex;

/** The EIP-712 domain of its authorisations: the same as that of USDC on Base. */
export const TOKEN_DOMAIN = {
  ...NETWORKS.base.domain,
  chainId: getChainId(NETWORKS.base),
  verifyingContract: TOKEN_ADDRESS,
} as const;

const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

/** The messages that are signed (EIP-3009). */
export const TOKEN_TYPES = {
  TransferWithAuthorization: AUTHORIZATION,
  ReceiveWithAuthorization: AUTHORIZATION,
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export const TOKEN_ABI = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferFrom(address from, address to, uint256 value) returns (bool)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
]);

/** The contracts beside the token, at their addresses on Base: Permit2, and the proxy of x402 for the scheme upto. */
export const CONTRACTS = {
  'local-permit2.hex': PERMIT2_ADDRESS,
  'local-upto-proxy.hex': x402UptoPermit2ProxyAddress,
} as const;

/** Reads the code of a contract, compiled from the sources beside it. */
export function readCode(file: 'local-usdc.hex' | keyof typeof CONTRACTS): Hex {
  const code = readFileSync(new URL(`./${file}`, import.meta.url), 'utf8').trim();
  if (!isHex(code)) throw new ServiceError('internal', `scripts/market/token/${file} is not hex.`);
  return code;
}
