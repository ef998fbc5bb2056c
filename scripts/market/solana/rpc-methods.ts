import { type Address, address } from '@solana/kit';
import { z } from 'zod';
import { buildAccountView } from './account-view.ts';
import type { Landed, Ledger } from './ledger.ts';
import type { Execution, Machine } from './machine.ts';
import {
  BLOCK_NOT_AVAILABLE,
  buildRefusalError,
  INVALID_PARAMETERS,
  RpcError,
  UNSUPPORTED_VERSION,
} from './rpc-error.ts';
import type { Block, Slots } from './slots.ts';
import { buildTokenAmount, buildTransactionView } from './transaction-view.ts';

export interface Chain {
  machine: Machine;
  slots: Slots;
  ledger: Ledger;
}

const account = z.string().transform((text): Address => address(text));
const slot = z.number().int().nonnegative().transform(BigInt);
const options = z.object({
  commitment: z.enum(['processed', 'confirmed', 'finalized']).default('finalized'),
  encoding: z.enum(['json', 'jsonParsed', 'base64', 'base58']).optional(),
  maxSupportedTransactionVersion: z.number().optional(),
  limit: z.number().int().positive().max(1000).default(1000),
  before: z.string().nullish(),
  until: z.string().nullish(),
  skipPreflight: z.boolean().default(false),
  sigVerify: z.boolean().default(false),
  replaceRecentBlockhash: z.boolean().default(false),
});
const onlyOptions = z.tuple([options.prefault({})]);
const ofAccount = z.tuple([account, options.prefault({})]);
const ofText = z.tuple([z.string(), options.prefault({})]);
const ofSlot = z.tuple([slot, options.prefault({})]);
const ofTexts = z.tuple([z.array(z.string()).max(256), options.prefault({})]);

type Method = (parameters: unknown[]) => unknown;

/** Builds the methods of Solana's HTTP RPC that payments need. Account states are the latest for any commitment. */
export function buildMethods({ machine, slots, ledger }: Chain): Record<string, Method> {
  const take = <Parameters extends z.ZodType, Answer>(
    parameters: Parameters,
    answer: (given: z.output<Parameters>) => Answer,
  ): Method => {
    return (given) => answer(parameters.parse(given));
  };
  const wrap = (value: unknown) => ({ context: { slot: Number(slots.getSlot()), apiVersion: '3.0.0' }, value });
  const getStatus = ({ block }: Landed) => (block.slot <= slots.getSlot('finalized') ? 'finalized' : 'confirmed');
  const findSeen = (signature: string, commitment: z.output<typeof options>['commitment']) => {
    const landed = ledger.find(signature);
    return landed && landed.block.slot <= slots.getSlot(commitment) ? landed : undefined;
  };
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': '3.0.0', 'feature-set': 0 }),
    getGenesisHash: () => slots.getBlock(slots.firstSlot).blockhash,
    getSlot: take(onlyOptions, ([{ commitment }]) => Number(slots.getSlot(commitment))),
    getBlockHeight: take(onlyOptions, ([{ commitment }]) => Number(slots.getBlock(slots.getSlot(commitment)).height)),
    getBlockTime: take(ofSlot, ([at]) => Number(getPastBlock(slots, at).time)),
    getBlock: take(ofSlot, ([at]) => buildBlockView(slots, getPastBlock(slots, at))),
    getLatestBlockhash: take(onlyOptions, ([{ commitment }]) => {
      const block = slots.getBlock(slots.getSlot(commitment));
      return wrap({ blockhash: block.blockhash, lastValidBlockHeight: Number(slots.getLastValidHeight(block)) });
    }),
    isBlockhashValid: take(ofText, ([hash]) => wrap(slots.isRecent(hash))),
    getMinimumBalanceForRentExemption: take(z.tuple([z.number(), z.unknown()]).or(z.tuple([z.number()])), ([space]) =>
      Number(machine.getRent(space)),
    ),
    getBalance: take(ofAccount, ([of]) => wrap(Number(machine.getLamports(of)))),
    getAccountInfo: take(ofAccount, ([of, { encoding = 'base58' }]) => {
      const stored = machine.findAccount(of);
      return wrap(stored ? buildAccountView(stored, machine.findHolding(of), encoding) : null);
    }),
    getTokenAccountBalance: take(ofAccount, ([of]) => {
      const holding = machine.findHolding(of);
      if (!holding) throw new RpcError(INVALID_PARAMETERS, 'Invalid param: could not find account');
      return wrap(buildTokenAmount(holding.amount));
    }),
    getSignatureStatuses: take(ofTexts, ([signatures]) =>
      wrap(
        signatures.map((signature) => {
          const landed = ledger.find(signature);
          if (!landed) return null;
          const { error } = landed.execution;
          const status = error === null ? { Ok: null } : { Err: error };
          const confirmationStatus = getStatus(landed);
          const confirmations = confirmationStatus === 'finalized' ? null : 1;
          return { slot: Number(landed.block.slot), confirmations, err: error, status, confirmationStatus };
        }),
      ),
    ),
    getSignaturesForAddress: take(ofText, ([of, { commitment, limit, before, until }]) => {
      const all = ledger.list(of).filter(({ block }) => block.slot <= slots.getSlot(commitment));
      const start = before ? all.findIndex(({ signature }) => signature === before) + 1 : 0;
      const end = until ? all.findIndex(({ signature }) => signature === until) : -1;
      return all
        .slice(start, end === -1 ? undefined : end)
        .slice(0, limit)
        .map((landed) => ({
          signature: landed.signature,
          slot: Number(landed.block.slot),
          blockTime: Number(landed.block.time),
          err: landed.execution.error,
          memo: landed.memos.map((memo) => `[${Buffer.byteLength(memo)}] ${memo}`).join('; ') || null,
          confirmationStatus: getStatus(landed),
        }));
    }),
    getTransaction: take(ofText, ([signature, { commitment, encoding = 'json', maxSupportedTransactionVersion }]) => {
      const landed = findSeen(signature, commitment);
      if (!landed) return null;
      if (landed.message.version !== 'legacy' && maxSupportedTransactionVersion === undefined) {
        throw new RpcError(UNSUPPORTED_VERSION, 'Transaction version (0) is not supported by the requesting client.');
      }
      return buildTransactionView(landed, encoding);
    }),
    simulateTransaction: take(ofText, ([wire, { sigVerify, replaceRecentBlockhash, encoding }]) => {
      const given = { checkSignatures: sigVerify, anyBlockhash: replaceRecentBlockhash };
      const execution = ledger.simulate(readWire(wire, encoding), given);
      if ('refused' in execution) throw buildRefusalError(execution);
      return wrap(buildSimulationView(execution));
    }),
    sendTransaction: take(ofText, ([wire, { skipPreflight, encoding }]) => {
      const signature = ledger.submit(readWire(wire, encoding), { skipPreflight });
      if (typeof signature !== 'string') throw buildRefusalError(signature);
      return signature;
    }),
  };
}

function getPastBlock(slots: Slots, at: bigint): Block {
  if (at <= slots.getSlot() && at >= slots.firstSlot) return slots.getBlock(at);
  throw new RpcError(BLOCK_NOT_AVAILABLE, `Block not available for slot ${at}`);
}

/** Builds the view of a block without its transactions, which no caller here needs. */
function buildBlockView(slots: Slots, block: Block) {
  const parent = slots.getBlock(block.slot > slots.firstSlot ? block.slot - 1n : block.slot);
  return {
    blockhash: block.blockhash,
    blockHeight: Number(block.height),
    blockTime: Number(block.time),
    parentSlot: Number(parent.slot),
    previousBlockhash: parent.blockhash,
  };
}

function buildSimulationView({ error, logs, unitsConsumed }: Execution) {
  return {
    err: error,
    logs,
    unitsConsumed: Number(unitsConsumed),
    accounts: null,
    returnData: null,
    innerInstructions: null,
  };
}

function readWire(text: string, encoding: string | undefined): Uint8Array {
  if (encoding === 'base64') return Buffer.from(text, 'base64');
  throw new RpcError(INVALID_PARAMETERS, 'The local chain takes transactions in base64 only.');
}
