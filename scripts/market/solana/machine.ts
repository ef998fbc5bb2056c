import { type Address, address, type Lamports, lamports, none, some, type Transaction } from '@solana/kit';
import { getMintEncoder, getTokenDecoder, getTokenSize, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm';
import { NETWORKS } from '../../../src/model/network.ts';
import { USDC_DECIMALS } from '../../../src/model/usdc.ts';

export const MINT = address(NETWORKS.solana.usdc);

/** Result of a transaction. `error` has the form of Solana's RPC; null for a success. */
export interface Execution {
  error: unknown;
  logs: string[];
  unitsConsumed: bigint;
}

/** Contents of an account of the token program. */
export interface Holding {
  mint: Address;
  owner: Address;
  amount: bigint;
}

export interface StoredAccount {
  data: Uint8Array;
  owner: Address;
  lamports: bigint;
  executable: boolean;
}

/** Solana's runtime with its token, memo and compute budget programs, and USDC at its address, but without blocks or network. */
export interface Machine {
  /** Runs a transaction. Its signatures are checked; its recent blockhash is checked by the ledger. */
  execute(transaction: Transaction): Execution;
  /** Runs a transaction and keeps none of its effects. Checks signatures only with `checkSignatures`. */
  simulate(transaction: Transaction, options: { checkSignatures: boolean }): Execution;
  findAccount(account: Address): StoredAccount | undefined;
  findHolding(account: Address): Holding | undefined;
  getLamports(account: Address): bigint;
  giveLamports(account: Address, amount: bigint): void;
  /** Returns the lamports that an account of a number of bytes must have. */
  getRent(space: number): bigint;
}

/** Starts the runtime, with USDC that the given authority may mint, in about 10 ms. */
export function openMachine(mintAuthority: Address): Machine {
  // No history, because the ledger refuses repeated transactions, with the answers of a node.
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  const data = getMintEncoder().encode({
    mintAuthority: some(mintAuthority),
    supply: 0n,
    decimals: USDC_DECIMALS,
    isInitialized: true,
    freezeAuthority: none(),
  });
  const space = BigInt(data.length);
  const rent: Lamports = lamports(svm.minimumBalanceForRentExemption(space));
  const programAddress = TOKEN_PROGRAM_ADDRESS;
  svm.setAccount({
    address: MINT,
    data: Uint8Array.from(data),
    executable: false,
    lamports: rent,
    programAddress,
    space,
  });
  const findAccount = (account: Address): StoredAccount | undefined => {
    const found = svm.getAccount(account);
    if (!found.exists || found.lamports === 0n) return undefined;
    return {
      data: Uint8Array.from(found.data),
      owner: found.programAddress,
      lamports: found.lamports,
      executable: found.executable,
    };
  };
  return {
    findAccount,
    execute: (transaction) => readExecution(svm.sendTransaction(transaction)),
    simulate(transaction, { checkSignatures }) {
      svm.withSigverify(checkSignatures);
      try {
        const result = svm.simulateTransaction(transaction);
        return readExecution(result instanceof FailedTransactionMetadata ? result : result.meta());
      } finally {
        svm.withSigverify(true);
      }
    },
    findHolding(account) {
      const found = findAccount(account);
      if (found?.owner !== TOKEN_PROGRAM_ADDRESS || found.data.length !== getTokenSize()) return undefined;
      return getTokenDecoder().decode(found.data);
    },
    getLamports: (account) => svm.getBalance(account) ?? 0n,
    giveLamports(account, amount) {
      svm.airdrop(account, lamports(amount));
    },
    getRent: (bytes) => svm.minimumBalanceForRentExemption(BigInt(bytes)),
  };
}

function readExecution(result: TransactionMetadata | FailedTransactionMetadata): Execution {
  const isFailed = result instanceof FailedTransactionMetadata;
  const meta = isFailed ? result.meta() : result;
  return {
    error: isFailed ? parseError(result.toString()) : null,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
  };
}

/**
 * Parses an error as the runtime writes it (`InstructionError(0, Custom(1))`, `AccountNotFound`) into the JSON of Solana's
 * RPC. The package has the names of errors only in this text.
 */
function parseError(text: string): unknown {
  const [, name, index, inner, code] = /err: (\w+)(?:\((\d+), (\w+)(?:\((\d+)\))?\))?/.exec(text) ?? [];
  if (name !== 'InstructionError') return name ?? 'InternalError';
  return { InstructionError: [Number(index), code === undefined ? inner : { [inner ?? 'Custom']: Number(code) }] };
}

/** Returns whether a transaction with this result is in a block, as also a failed one that paid its fee is. */
export function isLanded({ error }: Execution): boolean {
  return error === null || (typeof error === 'object' && error !== null && 'InstructionError' in error);
}
