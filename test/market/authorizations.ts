import { randomBytes } from 'node:crypto';
import { type Hex, parseSignature, toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { openWallet } from '../../scripts/market/chain-base.ts';
import { TOKEN_ABI, TOKEN_ADDRESS, TOKEN_DOMAIN, TOKEN_TYPES } from '../../scripts/market/token/token.ts';

export interface Authorization {
  from: Hex;
  to: Hex;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
}

export function makeAccount() {
  return privateKeyToAccount(generatePrivateKey());
}
type LocalAccount = ReturnType<typeof makeAccount>;

/** An authorisation of 1000 atomic USDC, valid for two minutes of the machine's clock. */
export function makeAuthorization(from: LocalAccount, to: Hex, overrides: Partial<Authorization> = {}): Authorization {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const nonce = toHex(randomBytes(32));
  return { from: from.address, to, value: 1000n, validAfter: 0n, validBefore: now + 120n, nonce, ...overrides };
}

interface Signing {
  primaryType?: 'TransferWithAuthorization' | 'ReceiveWithAuthorization';
  domain?: Partial<Record<keyof typeof TOKEN_DOMAIN, unknown>>;
}

export function signAuthorization(
  account: LocalAccount,
  message: Authorization,
  { primaryType = 'TransferWithAuthorization', domain = {} }: Signing = {},
): Promise<Hex> {
  return account.signTypedData({
    domain: { ...TOKEN_DOMAIN, ...domain } as typeof TOKEN_DOMAIN,
    types: TOKEN_TYPES,
    primaryType,
    message,
  });
}

function listArguments({ from, to, value, validAfter, validBefore, nonce }: Authorization) {
  return [from, to, value, validAfter, validBefore, nonce] as const;
}

/** Has a relay submit an authorisation, with the signature whole or split, and waits for its receipt. */
export async function submit(
  wallet: ReturnType<typeof openWallet>,
  authorization: Authorization,
  signature: Hex,
  { form = 'bytes', functionName = 'transferWithAuthorization' as const }: SubmitOptions = {},
) {
  const given = listArguments(authorization);
  const contract = { address: TOKEN_ADDRESS, abi: TOKEN_ABI, functionName };
  const hash =
    form === 'bytes'
      ? await wallet.writeContract({ ...contract, args: [...given, signature] })
      : await wallet.writeContract({ ...contract, args: [...given, ...splitSignature(signature)] });
  return wallet.waitForTransactionReceipt({ hash });
}

/** Splits a signature into `v`, `r` and `s`, as the older form of the functions takes it. */
export function splitSignature(signature: Hex) {
  const { r, s, yParity } = parseSignature(signature);
  return [27 + yParity, r, s] as const;
}

export interface SubmitOptions {
  form?: 'bytes' | 'vrs';
  functionName?: 'transferWithAuthorization' | 'receiveWithAuthorization';
}
