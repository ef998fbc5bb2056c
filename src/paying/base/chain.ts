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
  parseAbi,
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

const USDC = getAddress(NETWORKS.base.usdc);

/** Most blocks in one request. Public nodes refuse longer ranges. */
const BLOCKS_AT_ONCE = 2_000n;

/**
 * Blocks after the start of a payment that are searched for its event: far more than Base makes in the two minutes in
 * which it can settle. The limit protects from a node that claims an endless chain.
 */
const BLOCKS_SEARCHED = 20_000n;

/**
 * Blocks from the one with the payment on, itself included, before it counts as confirmed: 20 seconds on Base. A local
 * chain makes blocks only for transactions and reverts none.
 */
const CONFIRMATIONS = { public: 10n, local: 1n };

/** How far the chain's clock must be past the expiry before a payment counts as not settled; seconds. */
const GRACE_SECONDS = 10n;

/** A node of Base, or of a local chain with the chain id of Base. `genesis` says which. */
export interface BaseNode {
  readonly client: PublicClient;
  readonly genesis: Hex;
}

/**
 * Opens Base at one or two RPC addresses. With two, only what both say is believed. The first use throws `refused`
 * (`wrong_chain`) if an address serves another chain.
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
      // Answers of a node may have any shape, so reading them is inside `askNode`.
      const findings = await Promise.all(
        nodes.map((node) => askNode(async () => findSettlementOn(await node(), payment))),
      );
      return combineFindings(findings);
    },
  };
}

/** Opens one node of Base to check receipts. */
export function openBaseReader(rpcUrl: string): ChainReader {
  const node = openNode(rpcUrl);
  return {
    network: 'base',
    getGenesis: async () => (await node()).genesis,
    findPayment: async (claim) => findClaimedPayment(await node(), claim),
  };
}

async function findClaimedPayment(
  { client, genesis }: BaseNode,
  claim: PaymentClaim,
): Promise<PaymentOnChain | undefined> {
  const { transaction: hash } = claim;
  if (!isHash(hash)) return undefined;
  return askNode(async () => {
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
 * Reads payer, payee, amount and nonce from the USDC events of one transaction. A transaction with several payments has
 * an `AuthorizationUsed` and a `Transfer` for each.
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

/** Finds an item by the first condition that any item meets. */
function findFirst<Item>(items: readonly Item[], conditions: readonly ((item: Item) => boolean)[]): Item | undefined {
  for (const condition of conditions) {
    const found = items.find(condition);
    if (found) return found;
  }
  return undefined;
}

/** Reads the expiry of an authorisation from a direct call of `transferWithAuthorization`; null for any other call. */
function readExpiry(input: Hex): string | null {
  try {
    const { args } = decodeFunctionData({ abi: PAYING_ABI, data: input });
    return new Date(Number(args[4]) * 1000).toISOString();
  } catch {
    // Other calls do not contain it, and numbers beyond the range of dates are not times.
    return null;
  }
}

/**
 * Opens one node. Its chain id is checked once, before any other request. An answer with its body takes at most
 * `timeoutMs`.
 */
export function openNode(url: string, timeoutMs: number = NODE_TIMEOUT_MS): () => Promise<BaseNode> {
  // The library's own time limit ends with the headers, so a body could trickle for ever.
  const fetchFn = (input: Parameters<typeof fetch>[0], init?: RequestInit) =>
    fetch(input, { ...init, signal: limitTime(timeoutMs, init?.signal) });
  const client: PublicClient = createPublicClient({
    transport: http(url, { timeout: timeoutMs, retryCount: 2, fetchFn }),
  });
  let checked: Promise<BaseNode> | undefined;
  return () => {
    checked ??= askNode(async () => {
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
  return askNode(() =>
    client.readContract({ address: USDC, abi: USDC_ABI, functionName: 'balanceOf', args: [getAddress(account)] }),
  );
}

/**
 * Writes a time of the chain, in seconds since 1970, as ISO 8601 UTC. A time beyond the range of dates becomes the last
 * date.
 */
export function formatSeconds(seconds: bigint): string {
  const last = 253_402_300_799n;
  return new Date(Number(seconds > last ? last : seconds) * 1000).toISOString();
}

/** Reads the number, time (in seconds) and hash of the latest block. */
export async function readHead(client: PublicClient): Promise<{ number: bigint; timestamp: bigint; hash: Hex }> {
  const { number, timestamp, hash } = await askNode(() => client.getBlock({ blockTag: 'latest' }));
  return { number, timestamp, hash };
}

/**
 * Finds a payment on one node: `AuthorizationUsed` with our nonce, and in the same transaction the `Transfer` of USDC
 * from us to the payee with exactly that amount. The latest block is read first; anything newer is found the next time.
 */
async function findSettlementOn(node: BaseNode, payment: SoughtPayment): Promise<ChainFinding> {
  const { client } = node;
  const head = await readHead(client);
  const nonce = payment.nonce as Hex;
  const authorizer = getAddress(payment.payer);
  const isUsed = await askNode(() =>
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
  // A node may know the state before the events.
  return cancelled === undefined
    ? { state: 'disputed', reason: 'no_event' }
    : { state: 'not_settled', reason: 'cancelled' };
}

/** Finds the transaction with an event for our nonce. */
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
    const [event] = await askNode(() =>
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
  const receipt = await askNode(() => client.getTransactionReceipt({ hash: transaction }));
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
  const block = await askNode(() => client.getBlock({ blockHash: receipt.blockHash }));
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

/**
 * Combines the findings of two nodes. If one is still `open`, that node may be behind. If they differ otherwise, one of
 * them is wrong.
 */
function combineFindings(findings: readonly ChainFinding[]): ChainFinding {
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

/** Asks a node. Any failure becomes `unavailable`, without the node's address, which may contain a key of the operator. */
export async function askNode<Result>(question: () => Promise<Result>): Promise<Result> {
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

/** The functions and events of USDC (FiatToken 2.2) that are read: EIP-3009 and ERC-20. */
export const USDC_ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** The two forms of the call that settles a payment (EIP-3009, FiatToken 2.2): with the signature as bytes, or in parts. */
export const PAYING_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
