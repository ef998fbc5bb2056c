import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  assertIsSignatureBytes,
  type Blockhash,
  createTransactionMessage,
  getBase58Decoder,
  getBase64EncodedWireTransaction,
  type KeyPairSigner,
  partiallySignTransactionMessageWithSigners,
  pipe,
  prependTransactionMessageInstruction,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import {
  getSetComputeUnitLimitInstruction,
  setTransactionMessageComputeUnitPrice,
} from '@solana-program/compute-budget';
import { findAssociatedTokenPda, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { SvmNetwork } from '../../model/network.ts';

export const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');

/** Limits that facilitators of the scheme `exact` accept: enough for one transfer, with almost no priority fee. */
const COMPUTE = { units: 20_000, microLamports: 1n };

/** A transfer of USDC whose fee another account pays. The amount is in atomic USDC. */
export interface Transfer {
  chain: SvmNetwork;
  signer: KeyPairSigner;
  payTo: string;
  amount: number;
  feePayer: string;
  memo: string;
  lifetime: { blockhash: Blockhash; lastValidBlockHeight: bigint };
}

/** Finds the account that holds an owner's USDC. */
export async function findUsdcAccount({ usdc }: SvmNetwork, owner: string): Promise<Address> {
  const [account] = await findAssociatedTokenPda({
    mint: address(usdc),
    owner: address(owner),
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  });
  return account;
}

/**
 * Builds the transaction message of the scheme `exact` on Solana: compute limit and price, the transfer, and a memo
 * that makes it unique.
 */
export async function buildTransfer(transfer: Transfer) {
  const { chain, signer, payTo, amount, feePayer, memo, lifetime } = transfer;
  const instructions = [
    getTransferCheckedInstruction({
      source: await findUsdcAccount(chain, signer.address),
      mint: address(chain.usdc),
      destination: await findUsdcAccount(chain, payTo),
      authority: signer,
      amount: BigInt(amount),
      decimals: chain.decimals,
    }),
    { programAddress: MEMO_PROGRAM, accounts: [], data: new TextEncoder().encode(memo) },
  ];
  return pipe(
    createTransactionMessage({ version: 0 }),
    (tx) => setTransactionMessageComputeUnitPrice(COMPUTE.microLamports, tx),
    (tx) => setTransactionMessageFeePayer(address(feePayer), tx),
    (tx) => prependTransactionMessageInstruction(getSetComputeUnitLimitInstruction({ units: COMPUTE.units }), tx),
    (tx) => appendTransactionMessageInstructions(instructions, tx),
    (tx) => setTransactionMessageLifetimeUsingBlockhash(lifetime, tx),
  );
}

/**
 * Signs a transfer, which the fee payer must sign too. Returns the transaction in base 64, and our signature in base 58, by which
 * it is found on the chain.
 */
export async function signTransfer(transfer: Transfer): Promise<{ transaction: string; signature: string }> {
  const { signer } = transfer;
  const message = await buildTransfer(transfer);
  const signed = await partiallySignTransactionMessageWithSigners(message);
  const bytes = signed.signatures[signer.address];
  if (!bytes) throw new Error('the transaction lacks our own signature');
  assertIsSignatureBytes(bytes);
  return { transaction: getBase64EncodedWireTransaction(signed), signature: getBase58Decoder().decode(bytes) };
}
