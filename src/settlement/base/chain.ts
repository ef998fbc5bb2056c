import { createPublicClient, getAddress, type Hex, http, type PublicClient, parseEventLogs } from 'viem';
import { getErrorMessage, ServiceError } from '../../errors.ts';
import { NETWORKS } from '../../model/network.ts';
import type { Settlement } from '../../model/payment.ts';
import type { Chain, ChainFinding, SoughtPayment } from '../rail.ts';
import { USDC_DOMAIN } from './authorisation.ts';
import { USDC_ABI } from './usdc-events.ts';

const USDC = getAddress(NETWORKS.base.usdc);
const TIMEOUT_MS = 10_000;

/** Public nodes refuse longer ranges of blocks in one question. */
const BLOCKS_AT_ONCE = 2_000n;

/** Blocks that must stand on the one with the payment, itself counted. */
const CONFIRMATIONS = 1n;

/** The chain's own clock must be past the expiry by this before a payment counts as not settled; seconds. */
const GRACE_SECONDS = 10n;

/**
 * Opens the reader of Base at one or two RPC addresses. With two, what both say alike is believed and nothing else.
 * Throws `refused` (`wrong_chain`) when first used on an address that serves another chain.
 */
export function openBaseChain(rpcUrls: readonly string[]): Chain {
  const nodes = rpcUrls.map((url) => openNode(url));
  return {
    network: 'base',
    async getBalance(account) {
      const balances = await Promise.all(nodes.map(async (node) => readBalance(await node(), account)));
      return Math.min(...balances.map(Number));
    },
    async findSettlement(payment) {
      const findings = await Promise.all(nodes.map(async (node) => findOn(await node(), payment)));
      return agree(findings);
    },
  };
}

/** Opens one node, whose chain id is checked once, before anything else is asked of it. */
function openNode(url: string): () => Promise<PublicClient> {
  const client: PublicClient = createPublicClient({ transport: http(url, { timeout: TIMEOUT_MS, retryCount: 2 }) });
  let checked: Promise<PublicClient> | undefined;
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
      return client;
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

/** Gives the number of the latest block, and its time in seconds. */
export async function readHead(client: PublicClient): Promise<{ number: bigint; timestamp: bigint; hash: Hex }> {
  const { number, timestamp, hash } = await ask(() => client.getBlock({ blockTag: 'latest' }));
  return { number, timestamp, hash };
}

/**
 * Finds a payment on one node: `AuthorizationUsed` with our nonce, and in the same transaction the `Transfer` of USDC from
 * us to the payee of just that amount. The head is read first, so that what comes meanwhile is found the next time.
 */
async function findOn(client: PublicClient, payment: SoughtPayment): Promise<ChainFinding> {
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
    return head.timestamp > expiry + GRACE_SECONDS ? { state: 'not_settled', reason: 'expired' } : { state: 'open' };
  }
  for (let from = BigInt(payment.from_block); from <= head.number; from += BLOCKS_AT_ONCE) {
    const to = from + BLOCKS_AT_ONCE - 1n < head.number ? from + BLOCKS_AT_ONCE - 1n : head.number;
    const used = await ask(() =>
      client.getContractEvents({
        address: USDC,
        abi: USDC_ABI,
        eventName: 'AuthorizationUsed',
        args: { authorizer, nonce },
        fromBlock: from,
        toBlock: to,
        strict: true,
      }),
    );
    const [event] = used;
    if (event) return readSettlement(client, payment, { transaction: event.transactionHash, head: head.number });
  }
  // Used without the event that a payment leaves: the authorisation was cancelled.
  return { state: 'not_settled', reason: 'cancelled' };
}

async function readSettlement(
  client: PublicClient,
  payment: SoughtPayment,
  { transaction, head }: { transaction: Hex; head: bigint },
): Promise<ChainFinding> {
  const receipt = await ask(() => client.getTransactionReceipt({ hash: transaction }));
  if (receipt.status !== 'success' || head - receipt.blockNumber + 1n < CONFIRMATIONS) return { state: 'open' };
  const transfers = parseEventLogs({ abi: USDC_ABI, eventName: 'Transfer', logs: receipt.logs, strict: true });
  const transfer = transfers.find(
    ({ address, args }) =>
      getAddress(address) === USDC &&
      args.from === getAddress(payment.payer) &&
      args.to === getAddress(payment.pay_to) &&
      args.value === BigInt(payment.amount),
  );
  if (!transfer) return { state: 'not_settled', reason: 'no_matching_transfer' };
  const block = await ask(() => client.getBlock({ blockHash: receipt.blockHash }));
  const genesis = await ask(() => client.getBlock({ blockNumber: 0n }));
  const settlement: Settlement = {
    transaction,
    block: Number(receipt.blockNumber),
    block_hash: receipt.blockHash,
    log_index: transfer.logIndex,
    settled_at: new Date(Number(block.timestamp) * 1000).toISOString(),
    genesis: genesis.hash,
    read_from: 1,
  };
  return { state: 'settled', settlement };
}

/** What two nodes say alike; where they differ, one of them is behind, or lies, and nothing is known yet. */
function agree(findings: readonly ChainFinding[]): ChainFinding {
  const [first] = findings;
  if (!first || findings.some((finding) => JSON.stringify(finding) !== JSON.stringify(first))) return { state: 'open' };
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
    throw new ServiceError('unavailable', `The chain cannot be asked: ${word}`, {
      hint: 'Check EVM_RPC_URL, or try again later; a payment that was sent is found then.',
      reason: 'rpc_failed',
      cause: error,
    });
  }
}
