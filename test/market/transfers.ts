import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  type Rpc,
  type SolanaRpcApi,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { findAssociatedTokenPda, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { MEMO_PROGRAM } from '../../scripts/market/solana/ledger.ts';
import { MINT } from '../../scripts/market/solana/machine.ts';

export async function findTokenAccount(owner: Address): Promise<Address> {
  const [account] = await findAssociatedTokenPda({ mint: MINT, owner, tokenProgram: TOKEN_PROGRAM_ADDRESS });
  return account;
}

export interface Transfer {
  payer: KeyPairSigner;
  payee: Address;
  feePayer: KeyPairSigner;
  amount: bigint;
  memo?: string;
  lifetime?: { blockhash: Blockhash; lastValidBlockHeight: bigint };
}

/** Builds and signs a transfer of USDC whose fee somebody else pays, in base64. */
export async function signTransfer(rpc: Rpc<SolanaRpcApi>, transfer: Transfer) {
  const { payer, payee, feePayer, amount, memo = 'one' } = transfer;
  const lifetime = transfer.lifetime ?? (await rpc.getLatestBlockhash().send()).value;
  const instructions: Instruction[] = [
    getTransferCheckedInstruction({
      source: await findTokenAccount(payer.address),
      mint: MINT,
      destination: await findTokenAccount(payee),
      authority: payer,
      amount,
      decimals: 6,
    }),
    { programAddress: address(MEMO_PROGRAM), accounts: [], data: Buffer.from(memo) },
  ];
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(feePayer, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    (message) => signTransactionMessageWithSigners(message),
  );
  return getBase64EncodedWireTransaction(signed);
}
