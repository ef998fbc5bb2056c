import { generateKeyPairSync } from 'node:crypto';
import { createKeyPairSignerFromBytes, getBase58Decoder, type KeyPairSigner } from '@solana/kit';
import type { Hex, PrivateKeyAccount } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { BaseChain } from './chain-base.ts';
import type { SolanaChain } from './chain-solana.ts';

/** A buyer with USDC on the local chains and, on purpose, nothing to pay fees with. */
export interface Buyer {
  readonly evm: PrivateKeyAccount;
  readonly evmPrivateKey: Hex;
  readonly solana: KeyPairSigner;
  /** Both halves of the key in base 58, as wallets export it. */
  readonly solanaPrivateKey: string;
}

/** Opens new wallets on the given chains, each with `atomic` units of USDC. */
export async function openBuyer(
  chains: { base: BaseChain; solana: SolanaChain | undefined },
  atomic = 10_000_000n,
): Promise<Buyer> {
  const evmPrivateKey = generatePrivateKey();
  const evm = privateKeyToAccount(evmPrivateKey);
  const bytes = generateSolanaKey();
  const solana = await createKeyPairSignerFromBytes(bytes);
  await Promise.all([chains.base.fund(evm.address, atomic), chains.solana?.fund(solana.address, atomic)]);
  return { evm, evmPrivateKey, solana, solanaPrivateKey: getBase58Decoder().decode(bytes) };
}

/** Generates an Ed25519 key in Solana's form: the seed, then the public key, 32 bytes each. */
function generateSolanaKey(): Uint8Array {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'jwk' }).d ?? '';
  const point = publicKey.export({ format: 'jwk' }).x ?? '';
  return Buffer.concat([Buffer.from(seed, 'base64url'), Buffer.from(point, 'base64url')]);
}
