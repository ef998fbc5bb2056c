import {
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
import type { SvmNetwork } from '../../model/network.ts';
import { joinNodes, type RpcUrls } from '../nodes.ts';
import {
  askChain,
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

/** Base 58 text, which the library's own check of a signature requires. */
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;

/** Transactions of an account in one answer (Solana RPC, `getSignaturesForAddress`). */
const SIGNATURES_AT_ONCE = 1000;

/** Most answers that are read for one account, in case a node lists transactions without end. */
const PAGES_READ = 50;

/**
 * Number of slots after the start of a payment that are searched for it: far more than pass while its blockhash is valid. Later
 * transactions of others cost no requests.
 */
const SLOTS_SEARCHED = 20_000n;

/** Twice the number of blocks for which a blockhash is valid on Solana. */
const LONGEST_LIFETIME_BLOCKS = 300;

/**
 * Number of blocks after the last possible one from which a payment counts as not settled, since nodes behind one address may
 * differ.
 */
const GRACE_BLOCKS = 32n;

/** Opens an RPC client with a time limit for each request; the library itself has none. */
export function openRpc(rpcUrl: string, timeoutMs: number = NODE_TIMEOUT_MS): Rpc<SolanaRpcApi> {
  const send = createDefaultRpcTransport({ url: rpcUrl });
  return createSolanaRpcFromTransport((asked) =>
    send({ ...asked, signal: limitTime(timeoutMs, asked.signal) }),
  ) as Rpc<SolanaRpcApi>;
}

/**
 * Opens a chain at one or two RPC addresses. With two, only what both say is believed. Only finalised transactions count.
 */
export function openSvmChain(chain: SvmNetwork, rpcUrls: RpcUrls, timeoutMs?: number): Chain {
  return joinNodes(rpcUrls, (url) => openNode(chain, openRpc(url, timeoutMs)));
}

function openNode(chain: SvmNetwork, rpc: Rpc<SolanaRpcApi>): Chain {
  return {
    network: chain.key,
    async getBalance(account) {
      const source = await findUsdcAccount(chain, account);
      return askNode(chain, async () => {
        const held = await rpc.getAccountInfo(source, { commitment: 'confirmed', encoding: 'base64' }).send();
        if (!held.value) return 0;
        const { value } = await rpc.getTokenAccountBalance(source, { commitment: 'confirmed' }).send();
        const amount = Number(value.amount);
        if (!Number.isSafeInteger(amount)) throw new Error('the node returned a balance that is not a number');
        return amount;
      });
    },
    // Answers of a node may have any shape, so reading them is inside `askNode`.
    findSettlement: (payment) => askNode(chain, () => findSettlement(chain, rpc, payment)),
  };
}

/** Opens one node of a chain to check receipts. Only finalised transactions count. */
export function openSvmReader(chain: SvmNetwork, rpcUrl: string): ChainReader {
  const rpc = openRpc(rpcUrl);
  return {
    network: chain.key,
    getGenesis: () => askNode(chain, () => rpc.getGenesisHash().send()),
    findPayment: (claim) => findClaimedPayment(chain, rpc, claim),
  };
}

async function findClaimedPayment(
  chain: SvmNetwork,
  rpc: Rpc<SolanaRpcApi>,
  claim: PaymentClaim,
): Promise<PaymentOnChain | undefined> {
  const { transaction } = claim;
  if (!BASE58.test(transaction) || !isSignature(transaction)) return undefined;
  return askNode(chain, async () => {
    const read = await readTransaction(rpc, transaction);
    if (!read) return undefined;
    const { has_moved: _, ...paid } = await readMovement(chain, read, claim);
    return {
      final: read.meta.err === null,
      ...paid,
      signature: paid.payer === null ? null : read.findSignature(paid.payer),
      ceiling: null,
      expires_at: null,
      log_index: null,
      block: Number(read.slot),
      block_hash: (await readBlockHash(rpc, read)) ?? '',
      settled_at: formatBlockTime(read.blockTime ?? 0n),
    };
  });
}

/** Reads a finalised transaction; undefined if the node does not have it. */
async function readTransaction(rpc: Rpc<SolanaRpcApi>, transaction: Signature) {
  const read = await rpc
    .getTransaction(transaction, { commitment: 'finalized', encoding: 'base64', maxSupportedTransactionVersion: 0 })
    .send();
  if (!read?.meta) return undefined;
  const { meta, slot, blockTime } = read;
  const { signatures, messageBytes } = getTransactionDecoder().decode(getBase64Encoder().encode(read.transaction[0]));
  const findSignature = (signer: string) => {
    const signature = isAddress(signer) ? signatures[signer] : undefined;
    return signature ? getBase58Decoder().decode(signature) : null;
  };
  return { meta, slot, blockTime, messageBytes, findSignature };
}

type ReadTransaction = NonNullable<Awaited<ReturnType<typeof readTransaction>>>;

/** A USDC transfer in a transaction. Payer, payee, amount and memo are those of its signed instructions. */
interface Movement extends Pick<PaymentOnChain, 'payer' | 'pay_to' | 'amount' | 'nonce'> {
  /** True if the balances of payer and payee changed by exactly that amount. */
  has_moved: boolean;
}

/**
 * Reads the USDC transfer of a payment in a transaction, for settlement, receipts and checks alike. Of several transfers the one
 * that fits best counts. The nonce is the payment's if any memo is.
 */
async function readMovement(
  chain: SvmNetwork,
  { meta, messageBytes }: ReadTransaction,
  payment: Pick<PaymentClaim, 'payer' | 'pay_to' | 'amount' | 'nonce'>,
): Promise<Movement> {
  const { staticAccounts, instructions } = getCompiledTransactionMessageDecoder().decode(messageBytes);
  const memos = instructions
    .filter(({ programAddressIndex }) => staticAccounts[programAddressIndex] === MEMO_PROGRAM)
    .map(({ data = new Uint8Array() }) => data);
  const transfers = instructions.flatMap(({ programAddressIndex, accountIndices = [], data }) => {
    if (staticAccounts[programAddressIndex] !== TOKEN_PROGRAM_ADDRESS || !data) return [];
    if (data[0] !== TRANSFER_CHECKED_DISCRIMINATOR) return [];
    const [source, mint, destination, authority] = accountIndices;
    if (source === undefined || destination === undefined || authority === undefined || mint === undefined) return [];
    if (staticAccounts[mint] !== chain.usdc) return [];
    const { amount } = getTransferCheckedInstructionDataDecoder().decode(data);
    return [{ source, destination, authority, amount }];
  });
  const [payerAccount, payeeAccount] = await Promise.all(
    [payment.payer, payment.pay_to].map((owner) => (isAddress(owner) ? findUsdcAccount(chain, owner) : undefined)),
  );
  const fits = (transfer: (typeof transfers)[number]) =>
    Number(staticAccounts[transfer.source] === payerAccount) * 4 +
    Number(staticAccounts[transfer.destination] === payeeAccount) * 2 +
    Number(String(transfer.amount) === payment.amount);
  const [transfer] = transfers.sort((a, b) => fits(b) - fits(a));
  const [memo] = memos;
  const said = memo === undefined ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(memo);
  const nonce = memos.some((bytes) => isMemo(bytes, payment.nonce)) ? payment.nonce : said;
  if (!transfer) return { nonce, payer: null, pay_to: null, amount: null, has_moved: false };
  // Accounts are reported by their owner. The owner is looked up only if the account is not the payment's.
  const findOwner = (account: number) =>
    [...(meta.preTokenBalances ?? []), ...(meta.postTokenBalances ?? [])].find(
      ({ accountIndex }) => accountIndex === account,
    )?.owner ?? staticAccounts[account];
  const authority = staticAccounts[transfer.authority] ?? null;
  const isPayers = authority === payment.payer && staticAccounts[transfer.source] === payerAccount;
  const isPayees = staticAccounts[transfer.destination] === payeeAccount;
  return {
    nonce,
    payer: isPayers ? payment.payer : (findOwner(transfer.source) ?? null),
    pay_to: isPayees ? payment.pay_to : (findOwner(transfer.destination) ?? null),
    amount: String(transfer.amount),
    has_moved:
      getBalanceChange(chain, meta, transfer.source) === -transfer.amount &&
      getBalanceChange(chain, meta, transfer.destination) === transfer.amount,
  };
}

/** Reads the hash of a transaction's block; undefined while the node does not have it. */
async function readBlockHash(rpc: Rpc<SolanaRpcApi>, { slot }: ReadTransaction): Promise<string | undefined> {
  const options = { commitment: 'finalized', transactionDetails: 'none', rewards: false } as const;
  return (await rpc.getBlock(slot, options).send())?.blockhash;
}

function formatBlockTime(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString();
}

/**
 * Reads a blockhash to sign with, the last block height for which it is valid, and the current slot. With two nodes the
 * later height and the earlier slot count, so that no single one can make a payment expire while it can still settle.
 */
export async function readLifetime(chain: SvmNetwork, rpcs: readonly Rpc<SolanaRpcApi>[]) {
  return askNode(chain, async () => {
    const read = rpcs.map(async (rpc) => {
      const { context, value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send();
      const height = await rpc.getBlockHeight({ commitment: 'confirmed' }).send();
      const [last, slot] = [Number(value.lastValidBlockHeight), Number(context.slot)];
      return { blockhash: value.blockhash, height: Number(height), slot, last };
    });
    const { blockhash, height, slot, last } = (await Promise.all(read)).reduce((one, other) => ({
      blockhash: one.blockhash,
      height: Math.min(one.height, other.height),
      slot: Math.min(one.slot, other.slot),
      last: Math.max(one.last, other.last),
    }));
    // A payment that can settle for ever would block its wallet for ever.
    if (!(last - height <= LONGEST_LIFETIME_BLOCKS))
      throw new Error(`the nodes say that a blockhash is valid for ${last - height} blocks`);
    return { blockhash, lastValidBlockHeight: BigInt(last), slot };
  });
}

/** Reads the time of the latest finalised block, ISO 8601 UTC. */
export async function readHeadTime(chain: SvmNetwork, rpc: Rpc<SolanaRpcApi>): Promise<string> {
  const seconds = await askNode(chain, async () =>
    rpc.getBlockTime(await rpc.getSlot({ commitment: 'finalized' }).send()).send(),
  );
  return new Date(Number(seconds ?? 0) * 1000).toISOString();
}

/**
 * Finds a payment: a finalised transaction of our USDC account with our own signature that moved exactly the amount
 * from us to the payee. The height is read first; anything newer is found the next time.
 */
async function findSettlement(
  chain: SvmNetwork,
  rpc: Rpc<SolanaRpcApi>,
  payment: SoughtPayment,
): Promise<ChainFinding> {
  const height = await askNode(chain, () => rpc.getBlockHeight({ commitment: 'finalized' }).send());
  const found = await findTransaction(chain, rpc, payment);
  if (found) return found;
  const isOver = payment.expires_block !== null && height > BigInt(payment.expires_block) + GRACE_BLOCKS;
  return isOver
    ? { state: 'not_settled', reason: 'expired', head_at: await readHeadTime(chain, rpc) }
    : { state: 'open' };
}

async function findTransaction(
  chain: SvmNetwork,
  rpc: Rpc<SolanaRpcApi>,
  payment: SoughtPayment,
): Promise<ChainFinding | undefined> {
  const account = await findUsdcAccount(chain, payment.payer);
  let before: Signature | undefined;
  for (let pages = 0; pages < PAGES_READ; pages += 1) {
    const page = await askNode(chain, () =>
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
      const finding = await judgeTransaction(chain, rpc, signature, payment);
      if (finding) return finding;
    }
    before = page.at(-1)?.signature;
    if (page.length < SIGNATURES_AT_ONCE || before === undefined) return undefined;
  }
  return { state: 'disputed', reason: 'no_event' };
}

/** Judges a transaction by its transfer; undefined if it is not our payment, which our signature identifies. */
async function judgeTransaction(
  chain: SvmNetwork,
  rpc: Rpc<SolanaRpcApi>,
  transaction: Signature,
  payment: SoughtPayment,
): Promise<ChainFinding | undefined> {
  const read = await askNode(chain, () => readTransaction(rpc, transaction));
  const ours = read?.findSignature(payment.payer);
  if (!read || !ours || ours !== payment.signature) return undefined;
  if (read.meta.err !== null) return { state: 'not_settled', reason: 'failed_on_chain' };
  const amount = String(payment.amount);
  const moved = await readMovement(chain, read, { ...payment, amount });
  const isFromUs = moved.payer === payment.payer && moved.nonce === payment.nonce;
  if (!isFromUs || moved.pay_to !== payment.pay_to || moved.amount !== amount || !moved.has_moved) {
    return { state: 'disputed', reason: 'no_matching_transfer' };
  }
  const block_hash = await askNode(chain, () => readBlockHash(rpc, read));
  const genesis = await askNode(chain, () => rpc.getGenesisHash().send());
  // A node may have a transaction before it knows its time.
  if (block_hash === undefined || read.blockTime === null) return { state: 'open' };
  const [block, settled_at] = [Number(read.slot), formatBlockTime(read.blockTime)];
  return {
    state: 'settled',
    settlement: { transaction, block, block_hash, log_index: null, settled_at, genesis, read_from: 1 },
  };
}

/**
 * Returns whether the data is the memo. Bytes are compared, because decoding drops a byte order mark and maps different
 * bytes to one character.
 */
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
 * Returns the change of an account's USDC by a transaction, in atomic units. The account is part of what we signed; its owner may
 * change.
 */
function getBalanceChange(
  { usdc }: SvmNetwork,
  { preTokenBalances, postTokenBalances }: TokenBalances,
  account: number,
): bigint {
  const sum = (balances: readonly TokenBalance[] | undefined) =>
    (balances ?? [])
      .filter((balance) => balance.accountIndex === account && balance.mint === usdc)
      .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n);
  return sum(postTokenBalances) - sum(preTokenBalances);
}

function askNode<Result>({ nodeSetting }: SvmNetwork, question: () => Promise<Result>): Promise<Result> {
  return askChain(nodeSetting, question);
}
