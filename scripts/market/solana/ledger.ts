import {
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit';
import { type Execution, type Holding, isLanded, type Machine } from './machine.ts';
import type { Block, Slots } from './slots.ts';

export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';

export type Message = CompiledTransactionMessage & CompiledTransactionMessageWithLifetime;

/** A transaction in a block, with the balances of its accounts before and after it. */
export interface Landed {
  signature: string;
  signatures: string[];
  block: Block;
  wire: Uint8Array;
  message: Message;
  execution: Execution;
  before: AccountState[];
  after: AccountState[];
  memos: string[];
}

export interface AccountState {
  lamports: bigint;
  holding: Holding | undefined;
}

/** Reason why a node refuses to put a transaction into a block. */
export interface Refusal {
  refused: 'malformed' | 'bad_signature' | 'preflight';
  message: string;
  execution?: Execution;
}

/** The transactions of the chain, in order. */
export interface Ledger {
  /**
   * Submits a transaction and returns its signature, as a node does. That does not mean that it gets into a block:
   * without preflight, a node takes even a transaction that never can, and drops it.
   */
  submit(wire: Uint8Array, options?: { skipPreflight?: boolean }): string | Refusal;
  simulate(wire: Uint8Array, options: { checkSignatures: boolean; anyBlockhash: boolean }): Execution | Refusal;
  find(signature: string): Landed | undefined;
  /** Lists the transactions that name an account, the latest first. */
  list(account: string): Landed[];
}

export function openLedger(machine: Machine, slots: Slots): Ledger {
  const bySignature = new Map<string, Landed>();
  const byAccount = new Map<string, Landed[]>();
  const land = ({ transaction, message, wire, signatures }: Parsed, signature: string) => {
    const before = readStates(machine, message);
    const execution = machine.execute(transaction);
    if (!isLanded(execution)) return;
    const after = readStates(machine, message);
    const block = slots.getBlock(slots.getSlot('processed'));
    const memos = listMemos(message);
    const landed = { signature, signatures, block, wire, message, execution, before, after, memos };
    bySignature.set(signature, landed);
    for (const account of new Set<string>(message.staticAccounts)) {
      const known = byAccount.get(account);
      if (known) known.push(landed);
      else byAccount.set(account, [landed]);
    }
  };
  return {
    submit(wire, { skipPreflight = false } = {}) {
      const parsed = parse(wire);
      if ('refused' in parsed) return parsed;
      const [signature] = parsed.signatures;
      if (!signature || parsed.signatures.includes(UNSIGNED)) {
        return { refused: 'bad_signature', message: 'Transaction signature verification failure' };
      }
      if (bySignature.has(signature)) return skipPreflight ? signature : refuse('AlreadyProcessed');
      if (!slots.isRecent(parsed.message.lifetimeToken)) {
        return skipPreflight ? signature : refuse('BlockhashNotFound');
      }
      const trial = machine.simulate(parsed.transaction, { checkSignatures: true });
      if (trial.error === 'SignatureFailure') {
        return { refused: 'bad_signature', message: 'Transaction signature verification failure' };
      }
      if (trial.error !== null && !skipPreflight) return refuse(trial.error, trial);
      land(parsed, signature);
      return signature;
    },
    simulate(wire, { checkSignatures, anyBlockhash }) {
      const parsed = parse(wire);
      if ('refused' in parsed) return parsed;
      if (!anyBlockhash && !slots.isRecent(parsed.message.lifetimeToken)) {
        return fail('BlockhashNotFound');
      }
      if (checkSignatures && parsed.signatures.includes(UNSIGNED)) return fail('SignatureFailure');
      return machine.simulate(parsed.transaction, { checkSignatures });
    },
    find: (signature) => bySignature.get(signature),
    list: (account) => (byAccount.get(account) ?? []).toReversed(),
  };
}

/** A missing signature, in base 58: 64 zero bytes. */
const UNSIGNED = '1'.repeat(64);

function fail(error: unknown): Execution {
  return { error, logs: [], unitsConsumed: 0n };
}

function refuse(error: unknown, execution = fail(error)): Refusal {
  const word = typeof error === 'string' ? error : 'Error processing Instruction';
  return { refused: 'preflight', message: `Transaction simulation failed: ${word}`, execution };
}

interface Parsed {
  wire: Uint8Array;
  transaction: Transaction;
  message: Message;
  signatures: string[];
}

function parse(wire: Uint8Array): Parsed | Refusal {
  try {
    const transaction = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const signatures = Object.values(transaction.signatures).map((signature) =>
      signature === null ? UNSIGNED : getBase58Decoder().decode(signature),
    );
    return { wire, transaction, message, signatures };
  } catch (error) {
    return { refused: 'malformed', message: `failed to deserialize the transaction: ${String(error)}` };
  }
}

function readStates(machine: Machine, { staticAccounts }: Message): AccountState[] {
  return staticAccounts.map((account) => ({
    lamports: machine.getLamports(account),
    holding: machine.findHolding(account),
  }));
}

function listMemos({ instructions, staticAccounts }: Message): string[] {
  return instructions
    .filter(({ programAddressIndex }) => staticAccounts[programAddressIndex] === MEMO_PROGRAM)
    .map(({ data }) => Buffer.from(data ?? []).toString('utf8'));
}
