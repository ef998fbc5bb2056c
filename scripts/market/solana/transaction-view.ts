import { getBase58Decoder } from '@solana/kit';
import { getTransferCheckedInstructionDataDecoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { formatUsdc, USDC_DECIMALS } from '../../../src/model/usdc.ts';
import { type AccountState, type Landed, MEMO_PROGRAM, type Message } from './ledger.ts';

export type Encoding = 'json' | 'jsonParsed' | 'base64' | 'base58';

/** Number of `TransferChecked` among the instructions of the token program. */
const TRANSFER_CHECKED = 12;

/** Builds the answer of Solana's RPC to `getTransaction` (JSON structures of its HTTP methods). */
export function buildTransactionView(landed: Landed, encoding: Encoding) {
  const { block, message } = landed;
  return {
    slot: Number(block.slot),
    blockTime: Number(block.time),
    version: message.version,
    transaction: buildTransaction(landed, encoding),
    meta: buildMeta(landed),
  };
}

function buildMeta({ execution, before, after, message }: Landed) {
  const sum = (states: AccountState[]) => states.reduce((total, { lamports }) => total + lamports, 0n);
  const { error } = execution;
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    // The fee is what all accounts together lost.
    fee: Number(sum(before) - sum(after)),
    preBalances: before.map(({ lamports }) => Number(lamports)),
    postBalances: after.map(({ lamports }) => Number(lamports)),
    preTokenBalances: listTokenBalances(before),
    postTokenBalances: listTokenBalances(after),
    innerInstructions: [],
    logMessages: execution.logs,
    rewards: [],
    computeUnitsConsumed: Number(execution.unitsConsumed),
    ...(message.version === 'legacy' ? {} : { loadedAddresses: { readonly: [], writable: [] } }),
  };
}

function listTokenBalances(states: AccountState[]) {
  return states.flatMap(({ holding }, accountIndex) =>
    holding
      ? [
          {
            accountIndex,
            mint: holding.mint,
            owner: holding.owner,
            programId: TOKEN_PROGRAM_ADDRESS,
            uiTokenAmount: buildTokenAmount(holding.amount),
          },
        ]
      : [],
  );
}

/** Builds an amount in the RPC's form: exact as text, inexact as a number. */
export function buildTokenAmount(amount: bigint) {
  const uiAmountString = formatUsdc(Number(amount));
  return { amount: String(amount), decimals: USDC_DECIMALS, uiAmount: Number(uiAmountString), uiAmountString };
}

function buildTransaction({ signatures, wire, message }: Landed, encoding: Encoding) {
  if (encoding === 'base64') return [Buffer.from(wire).toString('base64'), 'base64'];
  if (encoding === 'base58') return [getBase58Decoder().decode(wire), 'base58'];
  const isParsed = encoding === 'jsonParsed';
  const { header, staticAccounts, lifetimeToken } = message;
  return {
    signatures,
    message: {
      recentBlockhash: lifetimeToken,
      accountKeys: isParsed ? staticAccounts.map((_, index) => buildAccountKey(message, index)) : staticAccounts,
      instructions: message.instructions.map((instruction) =>
        isParsed ? buildParsedInstruction(message, instruction) : buildInstruction(instruction),
      ),
      ...(isParsed
        ? {}
        : {
            header: {
              numRequiredSignatures: header.numSignerAccounts,
              numReadonlySignedAccounts: header.numReadonlySignerAccounts,
              numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
            },
          }),
      ...(message.version === 'legacy' ? {} : { addressTableLookups: [] }),
    },
  };
}

/** Builds the entry of an account. Signers come first, and in both groups the writable ones (Solana, "Message header"). */
function buildAccountKey({ header, staticAccounts }: Message, index: number) {
  const signer = index < header.numSignerAccounts;
  const writable = signer
    ? index < header.numSignerAccounts - header.numReadonlySignerAccounts
    : index < staticAccounts.length - header.numReadonlyNonSignerAccounts;
  return { pubkey: staticAccounts[index], signer, writable, source: 'transaction' };
}

type Instruction = Message['instructions'][number];

function buildInstruction({ programAddressIndex, accountIndices = [], data = new Uint8Array() }: Instruction) {
  return {
    programIdIndex: programAddressIndex,
    accounts: accountIndices,
    data: getBase58Decoder().decode(data),
    stackHeight: 1,
  };
}

/**
 * Builds an instruction: transfers and memos parsed, others as they are, as a node leaves those that it does not know.
 */
function buildParsedInstruction({ staticAccounts }: Message, instruction: Instruction) {
  const { programAddressIndex, accountIndices = [], data = new Uint8Array() } = instruction;
  const programId = staticAccounts[programAddressIndex];
  const accounts = accountIndices.map((index) => staticAccounts[index]);
  if (programId === MEMO_PROGRAM) {
    return { program: 'spl-memo', programId, parsed: Buffer.from(data).toString('utf8'), stackHeight: 1 };
  }
  if (programId === TOKEN_PROGRAM_ADDRESS && data[0] === TRANSFER_CHECKED) {
    const [source, mint, destination, authority] = accounts;
    const { amount } = getTransferCheckedInstructionDataDecoder().decode(data);
    const info = { source, mint, destination, authority, tokenAmount: buildTokenAmount(amount) };
    return { program: 'spl-token', programId, parsed: { type: 'transferChecked', info }, stackHeight: 1 };
  }
  return { programId, accounts, data: getBase58Decoder().decode(data), stackHeight: 1 };
}
