import { type Address, createPublicClient, getAddress, type Hex, http, type PublicClient, parseAbi } from 'viem';
import { ServiceError } from '../../errors.ts';
import { type EvmNetwork, isPublicChain } from '../../model/network.ts';
import { askChain, limitTime, NODE_TIMEOUT_MS } from '../rail.ts';
import { getChainId } from './authorisation.ts';

/** The functions and events of USDC (FiatToken 2.2) that are read: ERC-20 and EIP-3009. */
export const USDC_ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** A node of a chain, or of a local chain with its chain id. */
export interface EvmNode {
  readonly chain: EvmNetwork;
  readonly client: PublicClient;
  readonly usdc: Address;
  readonly genesis: Hex;
}

/**
 * Returns true if a block of a node has enough later blocks to count as confirmed. A local chain makes blocks only for
 * transactions, and reverts none.
 */
export function isConfirmed({ chain, genesis }: EvmNode, block: bigint, head: bigint): boolean {
  return head - block + 1n >= (isPublicChain(chain.key, genesis) ? chain.confirmations : 1);
}

/**
 * Opens one node. Its chain id is checked once, before any other request. An answer with its body takes at most
 * `timeoutMs`.
 */
export function openNode(chain: EvmNetwork, url: string, timeoutMs: number = NODE_TIMEOUT_MS): () => Promise<EvmNode> {
  // The library's own time limit ends with the headers, so a body could trickle for ever.
  const fetchFn = (input: Parameters<typeof fetch>[0], init?: RequestInit) =>
    fetch(input, { ...init, signal: limitTime(timeoutMs, init?.signal) });
  const client: PublicClient = createPublicClient({
    transport: http(url, { timeout: timeoutMs, retryCount: 2, fetchFn }),
  });
  let checked: Promise<EvmNode> | undefined;
  return () => {
    checked ??= askNode({ chain }, async () => {
      const id = await client.getChainId();
      if (id !== getChainId(chain)) {
        throw new ServiceError(
          'refused',
          `The RPC address serves the chain ${id}, not ${chain.label} (${getChainId(chain)}).`,
          {
            hint: `Set ${chain.nodeSetting} to a node of ${chain.label}.`,
            reason: 'wrong_chain',
          },
        );
      }
      const { hash } = await client.getBlock({ blockNumber: 0n });
      return { chain, client, usdc: getAddress(chain.usdc), genesis: hash };
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
export async function readHead(node: EvmNode): Promise<{ number: bigint; timestamp: bigint; hash: Hex }> {
  const { number, timestamp, hash } = await askNode(node, () => node.client.getBlock({ blockTag: 'latest' }));
  return { number, timestamp, hash };
}

/** Asks a node as `askChain` does. */
export function askNode<Result>({ chain }: Pick<EvmNode, 'chain'>, question: () => Promise<Result>): Promise<Result> {
  return askChain(chain.nodeSetting, question);
}

/** Most blocks in one request. Public nodes refuse longer ranges. */
const BLOCKS_AT_ONCE = 2_000n;

/**
 * Number of blocks after the start of a payment that are searched for it: far more than a chain makes in the two minutes in which
 * it can settle. The limit protects against a node that claims an endless chain.
 */
const BLOCKS_SEARCHED = 20_000n;

/** A range of blocks, both ends included. */
export interface BlockRange {
  fromBlock: bigint;
  toBlock: bigint;
}

/**
 * Searches the blocks in which a payment may have settled, in order, a part of them at a time. Returns the first result of
 * `search`.
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
