import {
  address,
  signature as asSignature,
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  getBase58Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  isAddress,
  isSignature,
  type Rpc,
  type Signature,
  type SolanaRpcApi,
} from '@solana/kit';
import {
  getTransferCheckedInstructionDataDecoder,
  TOKEN_PROGRAM_ADDRESS,
  TRANSFER_CHECKED_DISCRIMINATOR,
} from '@solana-program/token';
import { getErrorMessage, ServiceError } from '../../errors.ts';
import { NETWORKS } from '../../model/network.ts';
import {
  type Chain,
  type ChainFinding,
  type ChainReader,
  limitTime,
  NODE_TIMEOUT_MS,
  type PaymentClaim,
  type PaymentOnChain,
  type SoughtPayment,
} from '../rail.ts';
import { findUsdcAccount, MEMO_PROGRAM } from './transfer.ts';

/** What the library's own test of a signature takes for granted. */
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;

/** Transactions of one account in one answer (Solana RPC, `getSignaturesForAddress`). */
const SIGNATURES_AT_ONCE = 1000;

/** Answers that are read of one account: a node that names transactions without end is not followed. */
const PAGES_READ = 50;

/**
 * Slots after the start of a payment in which it is looked for: far more than pass while its blockhash holds. What
 * others send to the account later costs nothing.
 */
const SLOTS_SEARCHED = 20_000n;

/** Twice the blocks for which a blockhash holds on Solana. */
const LONGEST_LIFETIME_BLOCKS = 300n;

/**
 * Blocks past the last one that a payment could be in before it counts as not settled: nodes that share an address
 * differ.
 */
const GRACE_BLOCKS = 32n;

/** Opens questions to a node, each of which ends in time: the library itself waits for ever. */
export function openSolanaRpc(rpcUrl: string, timeoutMs: number = NODE_TIMEOUT_MS): Rpc<SolanaRpcApi> {
  const send = createDefaultRpcTransport({ url: rpcUrl });
  return createSolanaRpcFromTransport((asked) =>
    send({ ...asked, signal: limitTime(timeoutMs, asked.signal) }),
  ) as Rpc<SolanaRpcApi>;
}

/** Opens the reader of Solana at an RPC address. Only what is finalised counts. */
export function openSolanaChain(rpcUrl: string, timeoutMs?: number): Chain {
  const rpc = openSolanaRpc(rpcUrl, timeoutMs);
  return {
    network: 'solana',
    async getBalance(account) {
      const source = await findUsdcAccount(account);
      return ask(async () => {
        const held = await rpc.getAccountInfo(source, { commitment: 'confirmed', encoding: 'base64' }).send();
        if (!held.value) return 0;
        const { value } = await rpc.getTokenAccountBalance(source, { commitment: 'confirmed' }).send();
        const amount = Number(value.amount);
        if (!Number.isSafeInteger(amount)) throw new Error('the node names a balance that is no number');
        return amount;
      });
    },
    // What a node says may have any shape, so that reading it is part of asking.
    findSettlement: (payment) => ask(() => findSettlement(rpc, payment)),
  };
}

/** Opens one node of Solana to check receipts. Only what is finalised counts. */
export function openSolanaReader(rpcUrl: string): ChainReader {
  const rpc = openSolanaRpc(rpcUrl);
  return {
    network: 'solana',
    getGenesis: () => ask(() => rpc.getGenesisHash().send()),
    findPayment: (claim) => findClaimed(rpc, claim),
  };
}

async function findClaimed(rpc: Rpc<SolanaRpcApi>, claim: PaymentClaim): Promise<PaymentOnChain | undefined> {
  const { transaction } = claim;
  if (!BASE58.test(transaction) || !isSignature(transaction)) return undefined;
  return ask(async () => {
    const read = await rpc
      .getTransaction(transaction, { commitment: 'finalized', encoding: 'base64', maxSupportedTransactionVersion: 0 })
      .send();
    if (!read?.meta) return undefined;
    const block = await rpc
      .getBlock(read.slot, { commitment: 'finalized', transactionDetails: 'none', rewards: false })
      .send();
    const { signatures, messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(read.transaction[0]));
    const paid = await readTransfer(messageBytes, read.meta, claim);
    const signature = paid.payer !== null && isAddress(paid.payer) ? signatures[paid.payer] : undefined;
    return {
      final: read.meta.err === null,
      ...paid,
      signature: signature ? getBase58Decoder().decode(signature) : null,
      expires_at: null,
      block: Number(read.slot),
      block_hash: block?.blockhash ?? '',
      log_index: null,
      settled_at: new Date(Number(read.blockTime ?? 0) * 1000).toISOString(),
    };
  });
}

/**
 * Reads who paid whom how much, and under which memo, from the instructions that were signed: what balances came to in
 * the end could be the work of others in the same transaction.
 */
async function readTransfer(
  message: Parameters<ReturnType<typeof getCompiledTransactionMessageDecoder>['decode']>[0],
  meta: TokenBalances,
  claim: PaymentClaim,
): Promise<Pick<PaymentOnChain, 'payer' | 'pay_to' | 'amount' | 'nonce'>> {
  const { staticAccounts, instructions } = getCompiledTransactionMessageDecoder().decode(message);
  const memos = instructions
    .filter(({ programAddressIndex }) => staticAccounts[programAddressIndex] === MEMO_PROGRAM)
    .map(({ data = new Uint8Array() }) => data);
  const transfers = instructions.flatMap(({ programAddressIndex, accountIndices = [], data }) => {
    if (staticAccounts[programAddressIndex] !== TOKEN_PROGRAM_ADDRESS || !data) return [];
    if (data[0] !== TRANSFER_CHECKED_DISCRIMINATOR) return [];
    const [source, mint, destination, authority] = accountIndices;
    if (source === undefined || destination === undefined || authority === undefined || mint === undefined) return [];
    if (staticAccounts[mint] !== NETWORKS.solana.usdc) return [];
    const { amount } = getTransferCheckedInstructionDataDecoder().decode(data);
    return [{ source, destination, authority, amount: String(amount) }];
  });
  const [payerAccount, payeeAccount] = await Promise.all([claim.payer, claim.pay_to].map(findAccountIfAny));
  const fits = (transfer: (typeof transfers)[number]) =>
    Number(staticAccounts[transfer.source] === payerAccount) * 4 +
    Number(staticAccounts[transfer.destination] === payeeAccount) * 2 +
    Number(transfer.amount === claim.amount);
  const [transfer] = transfers.sort((a, b) => fits(b) - fits(a));
  const [memo] = memos;
  const said = memo === undefined ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(memo);
  const nonce = memos.some((bytes) => isMemo(bytes, claim.nonce)) ? claim.nonce : said;
  if (!transfer) return { payer: null, pay_to: null, amount: null, nonce };
  // An account is known by its owner, who is asked of the chain only where it is not the one claimed.
  const findOwner = (account: number) =>
    [...(meta.preTokenBalances ?? []), ...(meta.postTokenBalances ?? [])].find(
      ({ accountIndex }) => accountIndex === account,
    )?.owner ?? staticAccounts[account];
  const authority = staticAccounts[transfer.authority] ?? null;
  const isPayers = authority === claim.payer && staticAccounts[transfer.source] === payerAccount;
  const isPayees = staticAccounts[transfer.destination] === payeeAccount;
  return {
    payer: isPayers ? claim.payer : (findOwner(transfer.source) ?? null),
    pay_to: isPayees ? claim.pay_to : (findOwner(transfer.destination) ?? null),
    amount: transfer.amount,
    nonce,
  };
}

async function findAccountIfAny(owner: string): Promise<string | undefined> {
  return isAddress(owner) ? findUsdcAccount(owner) : undefined;
}

/** Returns a blockhash to sign with, until which block height it holds, and the slot that the chain is at. */
export async function readLifetime(rpc: Rpc<SolanaRpcApi>) {
  return ask(async () => {
    const { context, value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send();
    const blocks = value.lastValidBlockHeight - (await rpc.getBlockHeight({ commitment: 'confirmed' }).send());
    // A payment that could settle for ever would keep its wallet for ever.
    if (blocks > LONGEST_LIFETIME_BLOCKS) throw new Error(`the node has a blockhash hold for ${blocks} blocks`);
    return { ...value, slot: context.slot };
  });
}

/** Returns the time of the latest finalised block, ISO 8601 UTC. */
export async function readHeadTime(rpc: Rpc<SolanaRpcApi>): Promise<string> {
  const seconds = await ask(async () => rpc.getBlockTime(await rpc.getSlot({ commitment: 'finalized' }).send()).send());
  return new Date(Number(seconds ?? 0) * 1000).toISOString();
}

/**
 * Finds a payment: a finalised transaction of our USDC account that carries our own signature, and moved just that
 * amount from us to the payee. The height is read first, so that what comes meanwhile is found the next time.
 */
async function findSettlement(rpc: Rpc<SolanaRpcApi>, payment: SoughtPayment): Promise<ChainFinding> {
  const height = await ask(() => rpc.getBlockHeight({ commitment: 'finalized' }).send());
  const found = await findTransaction(rpc, payment);
  if (found) return found;
  const isOver = payment.expires_block !== null && height > BigInt(payment.expires_block) + GRACE_BLOCKS;
  return isOver ? { state: 'not_settled', reason: 'expired', head_at: await readHeadTime(rpc) } : { state: 'open' };
}

async function findTransaction(rpc: Rpc<SolanaRpcApi>, payment: SoughtPayment): Promise<ChainFinding | undefined> {
  const account = await findUsdcAccount(payment.payer);
  let before: Signature | undefined;
  for (let pages = 0; pages < PAGES_READ; pages += 1) {
    const page = await ask(() =>
      rpc
        .getSignaturesForAddress(account, {
          commitment: 'finalized',
          limit: SIGNATURES_AT_ONCE,
          ...(before === undefined ? {} : { before }),
        })
        .send(),
    );
    for (const { signature, slot } of page) {
      if (slot < BigInt(payment.from_block)) return undefined;
      if (slot > BigInt(payment.from_block) + SLOTS_SEARCHED) continue;
      const finding = await readTransaction(rpc, signature, payment);
      if (finding) return finding;
    }
    before = page.at(-1)?.signature;
    if (page.length < SIGNATURES_AT_ONCE || before === undefined) return undefined;
  }
  return { state: 'disputed', reason: 'no_event' };
}

/** Reads a transaction; undefined where it is none of ours. */
async function readTransaction(
  rpc: Rpc<SolanaRpcApi>,
  transaction: Signature,
  payment: SoughtPayment,
): Promise<ChainFinding | undefined> {
  const read = await ask(() =>
    rpc
      .getTransaction(asSignature(transaction), {
        commitment: 'finalized',
        encoding: 'base64',
        maxSupportedTransactionVersion: 0,
      })
      .send(),
  );
  if (!read?.meta) return undefined;
  const { signatures, messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(read.transaction[0]));
  const ours = signatures[address(payment.payer)];
  if (!ours || getBase58Decoder().decode(ours) !== payment.signature) return undefined;
  if (read.meta.err !== null) return { state: 'not_settled', reason: 'failed_on_chain' };
  const { staticAccounts, instructions } = getCompiledTransactionMessageDecoder().decode(messageBytes);
  const findChange = async (owner: string) =>
    getChange(read.meta ?? {}, staticAccounts.indexOf(await findUsdcAccount(owner)));
  const isNamed = instructions.some(
    ({ programAddressIndex, data }) =>
      staticAccounts[programAddressIndex] === MEMO_PROGRAM && isMemo(data, payment.nonce),
  );
  const paid = await findChange(payment.payer);
  const received = await findChange(payment.pay_to);
  if (!isNamed || paid !== -BigInt(payment.amount) || received !== BigInt(payment.amount)) {
    return { state: 'disputed', reason: 'no_matching_transfer' };
  }
  const block = await ask(() =>
    rpc.getBlock(read.slot, { commitment: 'finalized', transactionDetails: 'none', rewards: false }).send(),
  );
  const genesis = await ask(() => rpc.getGenesisHash().send());
  // A node may have a transaction before it can say when that was.
  if (!block || read.blockTime === null) return { state: 'open' };
  return {
    state: 'settled',
    settlement: {
      transaction,
      block: Number(read.slot),
      block_hash: block.blockhash,
      log_index: null,
      settled_at: new Date(Number(read.blockTime) * 1000).toISOString(),
      genesis,
      read_from: 1,
    },
  };
}

/** Compares bytes: decoding drops a byte order mark, and makes different bytes one sign. */
function isMemo(
  data: { readonly buffer: ArrayBufferLike; readonly length: number } | undefined,
  memo: string,
): boolean {
  return (
    data !== undefined && Buffer.compare(Uint8Array.from(data as Uint8Array), new TextEncoder().encode(memo)) === 0
  );
}

interface TokenBalances {
  preTokenBalances?: readonly TokenBalance[] | undefined;
  postTokenBalances?: readonly TokenBalance[] | undefined;
}
interface TokenBalance {
  accountIndex: number;
  mint: string;
  owner?: string | undefined;
  uiTokenAmount: { amount: string };
}

/**
 * By how much a transaction changed what an account holds of USDC, in atomic units. The account is what we signed for;
 * who owns it is the payee's affair, and may change.
 */
function getChange({ preTokenBalances, postTokenBalances }: TokenBalances, account: number): bigint {
  const sum = (balances: readonly TokenBalance[] | undefined) =>
    (balances ?? [])
      .filter((balance) => balance.accountIndex === account && balance.mint === NETWORKS.solana.usdc)
      .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n);
  return sum(postTokenBalances) - sum(preTokenBalances);
}

async function ask<Result>(question: () => Promise<Result>): Promise<Result> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const word =
      getErrorMessage(error)
        .split('\n')[0]
        ?.replace(/https?:\/\/\S+/g, 'the node') ?? '';
    throw new ServiceError('unavailable', `The chain cannot be asked: ${word.replace(/\.?$/, '.')}`, {
      hint: 'Check SOLANA_RPC_URL, or try again later; a payment that was sent is found then.',
      reason: 'rpc_failed',
      cause: error,
    });
  }
}
