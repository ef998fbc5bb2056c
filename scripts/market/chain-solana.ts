import { randomBytes } from 'node:crypto';
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  createTransactionMessage,
  generateKeyPairSigner,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getMintToInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { ServiceError } from '../../src/errors.ts';
import { type Ledger, MEMO_PROGRAM, openLedger } from './solana/ledger.ts';
import { MINT, openMachine } from './solana/machine.ts';
import { openRpcServer } from './solana/rpc-server.ts';
import { openSlots, type SlotOptions, type Slots } from './solana/slots.ts';

const LAMPORTS = 10n ** 12n;

/** Solana on this machine: its runtime in this process, with an RPC on loopback, and USDC at its address. */
export interface SolanaChain {
  readonly rpcUrl: string;
  /** Mints atomic USDC to an owner, and makes the owner's token account if there is none. Returns the transaction. */
  fund(owner: string, atomic: bigint): Promise<string>;
  /** Gives an account the lamports that transactions cost. */
  fundFees(account: string): void;
  /** Returns the balance of an owner's token account, in atomic USDC. */
  getBalance(owner: string): Promise<bigint>;
  /** Advances the chain by a number of slots at once. */
  skipSlots(slots: number): void;
  stop(): Promise<void>;
}

/** Starts the chain in this process, in about 50 ms. Its slots follow the clock. */
export async function startSolanaChain(options: SlotOptions = {}): Promise<SolanaChain> {
  const bank = await generateKeyPairSigner();
  const machine = openMachine(bank.address);
  const slots = openSlots(options);
  const ledger = openLedger(machine, slots);
  machine.giveLamports(bank.address, LAMPORTS);
  const server = await openRpcServer({ machine, slots, ledger });
  return {
    rpcUrl: server.url,
    stop: server.close,
    fund: (owner, atomic) => mint({ bank, slots, ledger }, address(owner), atomic),
    fundFees: (account) => machine.giveLamports(address(account), LAMPORTS),
    getBalance: async (owner) => machine.findHolding(await findTokenAccount(address(owner)))?.amount ?? 0n,
    skipSlots: slots.skip,
  };
}

interface Mint {
  bank: KeyPairSigner;
  slots: Slots;
  ledger: Ledger;
}

async function mint({ bank, slots, ledger }: Mint, owner: Address, amount: bigint): Promise<string> {
  const token = await findTokenAccount(owner);
  const block = slots.getBlock(slots.getSlot());
  const instructions: Instruction[] = [
    getCreateAssociatedTokenIdempotentInstruction({ payer: bank, ata: token, owner, mint: MINT }),
    getMintToInstruction({ mint: MINT, token, mintAuthority: bank, amount }),
    // Random, because two equal amounts in one slot would otherwise be one transaction.
    { programAddress: address(MEMO_PROGRAM), accounts: [], data: Buffer.from(randomBytes(8).toString('hex')) },
  ];
  const signed = await pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayerSigner(bank, message),
    (message) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: block.blockhash, lastValidBlockHeight: slots.getLastValidHeight(block) },
        message,
      ),
    (message) => appendTransactionMessageInstructions(instructions, message),
    (message) => signTransactionMessageWithSigners(message),
  );
  const signature = ledger.submit(Uint8Array.from(getTransactionEncoder().encode(signed)));
  if (typeof signature === 'string') return signature;
  throw new ServiceError('internal', `The local chain refused to give money: ${signature.message}.`);
}

/** Finds the address of the account for an owner's USDC. */
async function findTokenAccount(owner: Address): Promise<Address> {
  const [account] = await findAssociatedTokenPda({ mint: MINT, owner, tokenProgram: TOKEN_PROGRAM_ADDRESS });
  return account;
}
