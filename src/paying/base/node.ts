import { createPublicClient, getAddress, type Hex, http, type PublicClient, parseAbi } from 'viem';
import { ServiceError } from '../../errors.ts';
import { isPublicChain, NETWORKS } from '../../model/network.ts';
import { askChain, limitTime, NODE_TIMEOUT_MS } from '../rail.ts';
import { USDC_DOMAIN } from './authorisation.ts';

export const USDC = getAddress(NETWORKS.base.usdc);

/** The functions and events of USDC (FiatToken 2.2) that are read: ERC-20 and EIP-3009. */
export const USDC_ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/**
 * Blocks from the one with the payment on, itself included, before it counts as confirmed: 20 seconds on Base. A local
 * chain makes blocks only for transactions and reverts none.
 */
const CONFIRMATIONS = { public: 10n, local: 1n };

/** A node of Base, or of a local chain with the chain id of Base. `genesis` says which. */
export interface BaseNode {
  readonly client: PublicClient;
  readonly genesis: Hex;
}

/** Returns whether a block of a node has enough others on it to count as confirmed. */
export function isConfirmed({ genesis }: BaseNode, block: bigint, head: bigint): boolean {
  return head - block + 1n >= CONFIRMATIONS[isPublicChain('base', genesis) ? 'public' : 'local'];
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

/** Asks a node of Base, as `askChain` does. */
export function askNode<Result>(question: () => Promise<Result>): Promise<Result> {
  return askChain('EVM_RPC_URL', question);
}

/** Most blocks in one request. Public nodes refuse longer ranges. */
const BLOCKS_AT_ONCE = 2_000n;

/**
 * Blocks after the start of a payment that are searched for it: far more than Base makes in the two minutes in which it
 * can settle. The limit protects from a node that claims an endless chain.
 */
const BLOCKS_SEARCHED = 20_000n;

/** Blocks from one to another, both included. */
export interface BlockRange {
  fromBlock: bigint;
  toBlock: bigint;
}

/**
 * Searches the blocks in which a payment may have settled, some of them at a time, in their order. Returns what `search`
 * found first.
 */
export async function searchBlocks<Found>(
  first: number,
  head: bigint,
  search: (range: BlockRange) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const start = BigInt(first);
  const end = head < start + BLOCKS_SEARCHED ? head : start + BLOCKS_SEARCHED;
  for (let fromBlock = start; fromBlock <= end; fromBlock += BLOCKS_AT_ONCE) {
    const last = fromBlock + BLOCKS_AT_ONCE - 1n;
    const found = await search({ fromBlock, toBlock: last < end ? last : end });
    if (found !== undefined) return found;
  }
  return undefined;
}
