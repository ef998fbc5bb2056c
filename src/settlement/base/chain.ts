import {
  createPublicClient,
  decodeFunctionData,
  getAddress,
  type Hex,
  http,
  isAddressEqual,
  isHash,
  type Log,
  type PublicClient,
  parseEventLogs,
  TransactionReceiptNotFoundError,
} from 'viem';
import { getErrorMessage, ServiceError } from '../../errors.ts';
import { isPublicChain, NETWORKS } from '../../model/network.ts';
import type { Settlement } from '../../model/payment.ts';
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
import { USDC_DOMAIN } from './authorisation.ts';
import { PAYING_ABI, USDC_ABI } from './usdc-events.ts';

const USDC = getAddress(NETWORKS.base.usdc);

/** Public nodes refuse longer ranges of blocks in one question. */
const BLOCKS_AT_ONCE = 2_000n;

/**
 * Blocks after the start of a payment in which its event is looked for: far more than Base makes in the two minutes in
 * which it can settle. A node that names a head without end is not followed there.
 */
const BLOCKS_SEARCHED = 20_000n;

/**
 * Blocks that must stand on the one with the payment, itself counted, before it counts as confirmed: 20 seconds of
 * Base. A local chain has no blocks but those with transactions, and takes none back.
 */
const CONFIRMATIONS = { public: 10n, local: 1n };

/** The chain's own clock must be past the expiry by this before a payment counts as not settled; seconds. */
const GRACE_SECONDS = 10n;

/** A node that serves Base, or a chain that says it is Base. `genesis` tells which. */
export interface BaseNode {
  readonly client: PublicClient;
  readonly genesis: Hex;
}

/**
 * Opens the reader of Base at one or two RPC addresses. With two, what both say alike is believed and nothing else.
 * Throws `refused` (`wrong_chain`) when first used on an address that serves another chain.
 */
export function openBaseChain(rpcUrls: readonly string[], timeoutMs?: number): Chain {
  const nodes = rpcUrls.map((url) => openNode(url, timeoutMs));
  return {
    network: 'base',
    async getBalance(account) {
      const balances = await Promise.all(nodes.map(async (node) => readBalance((await node()).client, account)));
      return Math.min(...balances.map(Number));
    },
    async findSettlement(payment) {
      // What a node says may have any shape, so that reading it is part of asking.
      const findings = await Promise.all(nodes.map((node) => ask(async () => findOn(await node(), payment))));
      return agree(findings);
    },
  };
}

/** Opens one node of Base to check receipts. */
export function openBaseReader(rpcUrl: string): ChainReader {
  const node = openNode(rpcUrl);
  return {
    network: 'base',
    getGenesis: async () => (await node()).genesis,
    findPayment: async (claim) => findClaimed(await node(), claim),
  };
}

async function findClaimed({ client, genesis }: BaseNode, claim: PaymentClaim): Promise<PaymentOnChain | undefined> {
  const { transaction: hash } = claim;
  if (!isHash(hash)) return undefined;
  return ask(async () => {
    const head = await client.getBlockNumber({ cacheTime: 0 });
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return undefined;
      throw error;
    });
    if (!receipt) return undefined;
    const [block, { to, input }] = await Promise.all([
      client.getBlock({ blockHash: receipt.blockHash }),
      client.getTransaction({ hash }),
    ]);
    const wanted = CONFIRMATIONS[isPublicChain('base', genesis) ? 'public' : 'local'];
    const paid = readEvents(receipt.logs, claim);
    return {
      final: receipt.status === 'success' && head - receipt.blockNumber + 1n >= wanted,
      ...paid,
      signature: null,
      expires_at: to && isAddressEqual(to, USDC) ? readExpiry(input) : null,
      block: Number(receipt.blockNumber),
      block_hash: receipt.blockHash,
      settled_at: new Date(Number(block.timestamp) * 1000).toISOString(),
    };
  });
}

/**
 * Reads who paid whom how much, and by which nonce, from the events of USDC in one transaction. Whoever collects
 * several payments at once leaves an `AuthorizationUsed` and a `Transfer` of each.
 */
function readEvents(
  logs: Log<bigint, number, false>[],
  { payer, pay_to, amount, nonce }: PaymentClaim,
): Pick<PaymentOnChain, 'payer' | 'pay_to' | 'amount' | 'nonce' | 'log_index'> {
  const events = parseEventLogs({ abi: USDC_ABI, logs, strict: true }).filter(
    ({ address }) => getAddress(address) === USDC,
  );
  const isSame = (found: string, said: string) => found.toLowerCase() === said.toLowerCase();
  const used = events.filter((event) => event.eventName === 'AuthorizationUsed');
  const authorisation = findFirst(used, [
    ({ args }) => isSame(args.nonce, nonce) && isSame(args.authorizer, payer),
    ({ args }) => isSame(args.nonce, nonce),
    ({ args }) => isSame(args.authorizer, payer),
    () => true,
  ]);
  if (!authorisation) return { payer: null, pay_to: null, amount: null, nonce: null, log_index: null };
  const from = authorisation.args.authorizer;
  const moved = events.filter((event) => event.eventName === 'Transfer').filter(({ args }) => args.from === from);
  const transfer = findFirst(moved, [
    ({ args }) => isSame(args.to, pay_to) && String(args.value) === amount,
    ({ logIndex }) => logIndex > authorisation.logIndex,
    () => true,
  ]);
  return {
    payer: from.toLowerCase(),
    pay_to: transfer?.args.to.toLowerCase() ?? null,
    amount: transfer ? String(transfer.args.value) : null,
    nonce: authorisation.args.nonce,
    log_index: transfer?.logIndex ?? null,
  };
}

/** Returns the first item that meets the first condition that any item meets. */
function findFirst<Item>(items: readonly Item[], conditions: readonly ((item: Item) => boolean)[]): Item | undefined {
  for (const condition of conditions) {
    const found = items.find(condition);
    if (found) return found;
  }
  return undefined;
}

/** Reads until when an authorisation could be used from a plain call of `transferWithAuthorization`. */
function readExpiry(input: Hex): string | null {
  try {
    const { args } = decodeFunctionData({ abi: PAYING_ABI, data: input });
    return new Date(Number(args[4]) * 1000).toISOString();
  } catch {
    // Any other call says nothing of it, and no time lies as far ahead as the number could be.
    return null;
  }
}

/**
 * Opens one node, whose chain id is checked once, before anything else is asked of it. An answer, its body included,
 * takes `timeoutMs` at most.
 */
export function openNode(url: string, timeoutMs: number = NODE_TIMEOUT_MS): () => Promise<BaseNode> {
  // The library's own time ends with the headers, and a body may trickle for ever.
  const fetchFn = (input: Parameters<typeof fetch>[0], init?: RequestInit) =>
    fetch(input, { ...init, signal: limitTime(timeoutMs, init?.signal) });
  const client: PublicClient = createPublicClient({
    transport: http(url, { timeout: timeoutMs, retryCount: 2, fetchFn }),
  });
  let checked: Promise<BaseNode> | undefined;
  return () => {
    checked ??= ask(async () => {
      const id = await client.getChainId();
      if (id !== USDC_DOMAIN.chainId) {
        throw new ServiceError(
          'refused',
          `The RPC address serves the chain ${id}, not Base (${USDC_DOMAIN.chainId}).`,
          {
            hint: 'Set EVM_RPC_URL to a node of Base.',
            reason: 'wrong_chain',
          },
        );
      }
      const { hash } = await client.getBlock({ blockNumber: 0n });
      return { client, genesis: hash };
    });
    checked.catch(() => {
      checked = undefined;
    });
    return checked;
  };
}

async function readBalance(client: PublicClient, account: string): Promise<bigint> {
  return ask(() =>
    client.readContract({ address: USDC, abi: USDC_ABI, functionName: 'balanceOf', args: [getAddress(account)] }),
  );
}

/**
 * Writes a time of the chain, in seconds since 1970, as ISO 8601 UTC; one beyond what a date can hold is the last that
 * can.
 */
export function formatSeconds(seconds: bigint): string {
  const last = 253_402_300_799n;
  return new Date(Number(seconds > last ? last : seconds) * 1000).toISOString();
}

/** Returns the number of the latest block, and its time in seconds. */
export async function readHead(client: PublicClient): Promise<{ number: bigint; timestamp: bigint; hash: Hex }> {
  const { number, timestamp, hash } = await ask(() => client.getBlock({ blockTag: 'latest' }));
  return { number, timestamp, hash };
}

/**
 * Finds a payment on one node: `AuthorizationUsed` with our nonce, and in the same transaction the `Transfer` of USDC
 * from us to the payee of just that amount. The head is read first, so that what comes meanwhile is found the next
 * time.
 */
async function findOn(node: BaseNode, payment: SoughtPayment): Promise<ChainFinding> {
  const { client } = node;
  const head = await readHead(client);
  const nonce = payment.nonce as Hex;
  const authorizer = getAddress(payment.payer);
  const isUsed = await ask(() =>
    client.readContract({
      address: USDC,
      abi: USDC_ABI,
      functionName: 'authorizationState',
      args: [authorizer, nonce],
      blockNumber: head.number,
    }),
  );
  if (!isUsed) {
    const expiry = BigInt(Math.floor(Date.parse(payment.expires_at) / 1000));
    if (head.timestamp <= expiry + GRACE_SECONDS) return { state: 'open' };
    return { state: 'not_settled', reason: 'expired', head_at: formatSeconds(head.timestamp) };
  }
  const transaction = await findEvent(client, 'AuthorizationUsed', payment, head.number);
  if (transaction !== undefined) return readSettlement(node, payment, { transaction, head: head.number });
  const cancelled = await findEvent(client, 'AuthorizationCanceled', payment, head.number);
  // A node may know the state before it knows the events.
  return cancelled === undefined
    ? { state: 'disputed', reason: 'no_event' }
    : { state: 'not_settled', reason: 'cancelled' };
}

/** Finds the transaction in which our nonce left an event. */
async function findEvent(
  client: PublicClient,
  eventName: 'AuthorizationUsed' | 'AuthorizationCanceled',
  payment: SoughtPayment,
  head: bigint,
): Promise<Hex | undefined> {
  const args = { authorizer: getAddress(payment.payer), nonce: payment.nonce as Hex };
  const first = BigInt(payment.from_block);
  const end = head < first + BLOCKS_SEARCHED ? head : first + BLOCKS_SEARCHED;
  for (let fromBlock = first; fromBlock <= end; fromBlock += BLOCKS_AT_ONCE) {
    const last = fromBlock + BLOCKS_AT_ONCE - 1n;
    const range = { fromBlock, toBlock: last < end ? last : end };
    const [event] = await ask(() =>
      client.getContractEvents({ address: USDC, abi: USDC_ABI, eventName, args, ...range, strict: true }),
    );
    if (event) return event.transactionHash;
  }
  return undefined;
}

async function readSettlement(
  { client, genesis }: BaseNode,
  payment: SoughtPayment,
  { transaction, head }: { transaction: Hex; head: bigint },
): Promise<ChainFinding> {
  const receipt = await ask(() => client.getTransactionReceipt({ hash: transaction }));
  const wanted = CONFIRMATIONS[isPublicChain('base', genesis) ? 'public' : 'local'];
  if (receipt.status !== 'success' || head - receipt.blockNumber + 1n < wanted) return { state: 'open' };
  const transfers = parseEventLogs({ abi: USDC_ABI, eventName: 'Transfer', logs: receipt.logs, strict: true });
  const transfer = transfers.find(
    ({ address, args }) =>
      getAddress(address) === USDC &&
      args.from === getAddress(payment.payer) &&
      args.to === getAddress(payment.pay_to) &&
      args.value === BigInt(payment.amount),
  );
  if (!transfer) return { state: 'disputed', reason: 'no_matching_transfer' };
  const block = await ask(() => client.getBlock({ blockHash: receipt.blockHash }));
  const settlement: Settlement = {
    transaction,
    block: Number(receipt.blockNumber),
    block_hash: receipt.blockHash,
    log_index: transfer.logIndex,
    settled_at: new Date(Number(block.timestamp) * 1000).toISOString(),
    genesis,
    read_from: 1,
  };
  return { state: 'settled', settlement };
}

/** What two nodes say alike. Where one has nothing to say yet it may be behind; else one of them does not say the truth. */
function agree(findings: readonly ChainFinding[]): ChainFinding {
  const [first] = findings;
  if (!first || findings.some(({ state }) => state === 'open')) return { state: 'open' };
  const says = (finding: ChainFinding) => JSON.stringify({ ...finding, head_at: undefined });
  const isAgreed = findings.every((finding) => says(finding) === says(first));
  if (!isAgreed) return { state: 'disputed', reason: 'nodes_disagree' };
  if (first.state === 'not_settled' && first.head_at !== undefined) {
    const latest = findings.map((finding) => ('head_at' in finding && finding.head_at) || '').sort();
    return { ...first, head_at: latest.at(-1) ?? first.head_at };
  }
  if (first.state !== 'settled') return first;
  return { state: 'settled', settlement: { ...first.settlement, read_from: findings.length } };
}

/** Asks a node; whatever goes wrong is `unavailable`, without the address, which may hold a key of the operator's. */
export async function ask<Result>(question: () => Promise<Result>): Promise<Result> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const word =
      getErrorMessage(error)
        .split('\n')[0]
        ?.replace(/https?:\/\/\S+/g, 'the node') ?? '';
    throw new ServiceError('unavailable', `The chain cannot be asked: ${word.replace(/\.?$/, '.')}`, {
      hint: 'Check EVM_RPC_URL, or try again later; a payment that was sent is found then.',
      reason: 'rpc_failed',
      cause: error,
    });
  }
}
