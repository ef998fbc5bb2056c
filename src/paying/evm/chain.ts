import {
  decodeFunctionData,
  getAddress,
  type Hex,
  isAddress,
  isAddressEqual,
  isHash,
  type Log,
  parseAbi,
  parseEventLogs,
  TransactionReceiptNotFoundError,
} from 'viem';
import type { EvmNetwork } from '../../model/network.ts';
import type { Settlement } from '../../model/payment.ts';
import { isCeiling } from '../../model/terms.ts';
import { joinNodes, type RpcUrls } from '../nodes.ts';
import type { Chain, ChainFinding, ChainReader, PaymentClaim, PaymentOnChain, SoughtPayment } from '../rail.ts';
import {
  askNode,
  type EvmNode,
  formatSeconds,
  isConfirmed,
  openNode,
  readHead,
  searchBlocks,
  USDC_ABI,
} from './node.ts';
import {
  findPermitCancellation,
  findPermitTransaction,
  findSettledPermit,
  hasUsedPermit,
  isPermitUsed,
} from './permit.ts';

/** Time that the chain's clock must be past the expiry before a payment counts as not settled; seconds. */
const GRACE_SECONDS = 10n;

/**
 * Opens a chain at one or two RPC addresses. With two, only what both say is believed. The first use throws `refused`
 * (`wrong_chain`) if an address serves another chain.
 */
export function openEvmChain(chain: EvmNetwork, rpcUrls: RpcUrls, timeoutMs?: number): Chain {
  return joinNodes(rpcUrls, (url) => {
    const node = openNode(chain, url, timeoutMs);
    return {
      network: chain.key,
      getBalance: async (account) => Number(await readBalance(await node(), account)),
      // Answers of a node may have any shape, so reading them is inside `askNode`.
      findSettlement: (payment) => askNode({ chain }, async () => findSettlementOn(await node(), payment)),
    };
  });
}

/** Opens one node of a chain to check receipts. */
export function openEvmReader(chain: EvmNetwork, rpcUrl: string): ChainReader {
  const node = openNode(chain, rpcUrl);
  return {
    network: chain.key,
    getGenesis: async () => (await node()).genesis,
    findPayment: async (claim) => findClaimedPayment(await node(), claim),
  };
}

async function findClaimedPayment(node: EvmNode, claim: PaymentClaim): Promise<PaymentOnChain | undefined> {
  const { client } = node;
  const { transaction: hash } = claim;
  if (!isHash(hash)) return undefined;
  return askNode(node, async () => {
    const head = await client.getBlockNumber({ cacheTime: 0 });
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return undefined;
      throw error;
    });
    if (!receipt) return undefined;
    const [block, sent] = await Promise.all([
      client.getBlock({ blockHash: receipt.blockHash }),
      client.getTransaction({ hash }),
    ]);
    const { logs, blockNumber } = receipt;
    const paid = isCeiling(claim)
      ? await readPermitPayment(node, claim, { logs, blockNumber, head, input: sent.input })
      : readAuthorisedPayment(node, claim, { logs, ...sent });
    return {
      final: receipt.status === 'success' && isConfirmed(node, blockNumber, head),
      ...paid,
      signature: null,
      block: Number(blockNumber),
      block_hash: receipt.blockHash,
      settled_at: new Date(Number(block.timestamp) * 1000).toISOString(),
    };
  });
}

type Logs = Log<bigint, number, false>[];

/** The facts about a payment in one transaction. */
type PaidInTransaction = Pick<
  PaymentOnChain,
  'payer' | 'pay_to' | 'amount' | 'ceiling' | 'nonce' | 'log_index' | 'expires_at'
>;

/**
 * Reads a payment by Permit2 from the USDC events of its transaction, and what was signed from the input. The nonce counts
 * if the transaction used it.
 */
async function readPermitPayment(
  node: EvmNode,
  claim: PaymentClaim,
  { logs, ...found }: { logs: Logs; input: Hex; blockNumber: bigint; head: bigint },
): Promise<PaidInTransaction> {
  const isReadable = isAddress(claim.payer, { strict: false }) && /^0x[0-9a-f]{64}$/i.test(claim.nonce);
  const isUsed = isReadable && (await hasUsedPermit(node, claim, found));
  const permit = isUsed ? findSettledPermit(node, found.input, claim) : undefined;
  const moved = listTransfers(node, logs, claim.payer);
  const transfer = findFirst(moved, [
    ({ args }) => isSameText(args.to, claim.pay_to) && String(args.value) === claim.amount,
    ({ args }) => isSameText(args.to, claim.pay_to),
    () => true,
  ]);
  return {
    ...describeTransfer(transfer),
    payer: transfer?.args.from.toLowerCase() ?? null,
    ceiling: permit ? String(permit.ceiling) : null,
    nonce: isUsed ? claim.nonce : null,
    expires_at: permit ? formatSeconds(permit.deadline) : null,
  };
}

/** Lists the transfers of USDC from an account among the events of a transaction. */
function listTransfers({ usdc }: EvmNode, logs: Logs, payer: string) {
  return parseEventLogs({ abi: USDC_ABI, eventName: 'Transfer', logs, strict: true }).filter(
    ({ address, args }) => getAddress(address) === usdc && isSameText(args.from, payer),
  );
}

function describeTransfer(transfer: ReturnType<typeof listTransfers>[number] | undefined) {
  return {
    pay_to: transfer?.args.to.toLowerCase() ?? null,
    amount: transfer ? String(transfer.args.value) : null,
    log_index: transfer?.logIndex ?? null,
  };
}

function isSameText(found: string, said: string): boolean {
  return found.toLowerCase() === said.toLowerCase();
}

/**
 * Reads payer, payee, amount and nonce from the USDC events of one transaction. A transaction with several payments has
 * an `AuthorizationUsed` and a `Transfer` for each.
 */
function readAuthorisedPayment(
  node: EvmNode,
  { payer, pay_to, amount, nonce }: PaymentClaim,
  { logs, to, input }: { logs: Logs; to: Hex | null; input: Hex },
): PaidInTransaction {
  const used = parseEventLogs({ abi: USDC_ABI, eventName: 'AuthorizationUsed', logs, strict: true }).filter(
    ({ address }) => getAddress(address) === node.usdc,
  );
  const authorisation = findFirst(used, [
    ({ args }) => isSameText(args.nonce, nonce) && isSameText(args.authorizer, payer),
    ({ args }) => isSameText(args.nonce, nonce),
    ({ args }) => isSameText(args.authorizer, payer),
    () => true,
  ]);
  const expires_at = to && isAddressEqual(to, node.usdc) ? readExpiry(input) : null;
  if (!authorisation) return { ...describeTransfer(undefined), payer: null, ceiling: null, nonce: null, expires_at };
  const from = authorisation.args.authorizer;
  const transfer = findFirst(listTransfers(node, logs, from), [
    ({ args }) => isSameText(args.to, pay_to) && String(args.value) === amount,
    ({ logIndex }) => logIndex > authorisation.logIndex,
    () => true,
  ]);
  const { nonce: found } = authorisation.args;
  return { ...describeTransfer(transfer), payer: from.toLowerCase(), ceiling: null, nonce: found, expires_at };
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

async function readBalance(node: EvmNode, account: string): Promise<bigint> {
  const { client, usdc: address } = node;
  return askNode(node, () =>
    client.readContract({ address, abi: USDC_ABI, functionName: 'balanceOf', args: [getAddress(account)] }),
  );
}

/**
 * Finds a payment on one node: the transaction that used our nonce, and in it the `Transfer` of USDC from us to the payee:
 * exactly the amount that we signed, or at most the ceiling. The latest block is read first; anything newer is found the
 * next time.
 */
async function findSettlementOn(node: EvmNode, payment: SoughtPayment): Promise<ChainFinding> {
  const head = await readHead(node);
  const isUsed = isCeiling(payment)
    ? await isPermitUsed(node, payment, head.number)
    : await isAuthorisationUsed(node, payment, head.number);
  if (!isUsed) {
    const expiry = BigInt(Math.floor(Date.parse(payment.expires_at) / 1000));
    if (head.timestamp <= expiry + GRACE_SECONDS) return { state: 'open' };
    return { state: 'not_settled', reason: 'expired', head_at: formatSeconds(head.timestamp) };
  }
  const transaction = isCeiling(payment)
    ? await findPermitTransaction(node, payment, head.number)
    : await findEvent(node, 'AuthorizationUsed', payment, head.number);
  if (transaction !== undefined) return readSettlement(node, payment, { transaction, head: head.number });
  const cancelled = isCeiling(payment)
    ? await findPermitCancellation(node, payment, head.number)
    : await findEvent(node, 'AuthorizationCanceled', payment, head.number);
  // A node may know the state before the events.
  return cancelled === undefined
    ? { state: 'disputed', reason: 'no_event' }
    : { state: 'not_settled', reason: 'cancelled' };
}

/** Returns whether an authorisation was used or cancelled up to a block. */
function isAuthorisationUsed(node: EvmNode, { payer, nonce }: SoughtPayment, blockNumber: bigint): Promise<boolean> {
  const { client, usdc: address } = node;
  const args = [getAddress(payer), nonce as Hex] as const;
  return askNode(node, () =>
    client.readContract({ address, abi: USDC_ABI, functionName: 'authorizationState', args, blockNumber }),
  );
}

/** Finds the transaction with an event for our nonce. */
async function findEvent(
  node: EvmNode,
  eventName: 'AuthorizationUsed' | 'AuthorizationCanceled',
  payment: SoughtPayment,
  head: bigint,
): Promise<Hex | undefined> {
  const args = { authorizer: getAddress(payment.payer), nonce: payment.nonce as Hex };
  return searchBlocks(payment.from_block, head, async (range) => {
    const wanted = { address: node.usdc, abi: USDC_ABI, eventName, args, ...range, strict: true } as const;
    const [event] = await askNode(node, () => node.client.getContractEvents(wanted));
    return event?.transactionHash;
  });
}

async function readSettlement(
  node: EvmNode,
  payment: SoughtPayment,
  { transaction, head }: { transaction: Hex; head: bigint },
): Promise<ChainFinding> {
  const { client, genesis } = node;
  const receipt = await askNode(node, () => client.getTransactionReceipt({ hash: transaction }));
  if (receipt.status !== 'success' || !isConfirmed(node, receipt.blockNumber, head)) return { state: 'open' };
  const signed = BigInt(payment.ceiling ?? payment.amount);
  const toPayee = listTransfers(node, receipt.logs, payment.payer).filter(({ args }) =>
    isSameText(args.to, payment.pay_to),
  );
  const transfer = isCeiling(payment)
    ? // A transfer of nothing beside it can be anybody's.
      toPayee.toSorted((a, b) => (a.args.value < b.args.value ? 1 : -1))[0]
    : toPayee.find(({ args }) => args.value === signed);
  if (!transfer) return { state: 'disputed', reason: 'no_matching_transfer' };
  const { value } = transfer.args;
  if (value > signed) return { state: 'disputed', reason: 'above_ceiling' };
  if (value === 0n) return { state: 'not_settled', reason: 'nothing_taken' };
  const block = await askNode(node, () => client.getBlock({ blockHash: receipt.blockHash }));
  const settlement: Settlement = {
    transaction,
    block: Number(receipt.blockNumber),
    block_hash: receipt.blockHash,
    log_index: transfer.logIndex,
    settled_at: new Date(Number(block.timestamp) * 1000).toISOString(),
    genesis,
    read_from: 1,
  };
  return { state: 'settled', settlement, ...(isCeiling(payment) && { amount: Number(value) }) };
}

/** The two forms of the call that settles a payment (EIP-3009, FiatToken 2.2): with the signature as bytes, or in parts. */
export const PAYING_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
