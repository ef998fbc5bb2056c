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

/** Time after the expiry, by the chain's clock, from which a payment counts as not settled, in seconds. */
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
    const movement = await readMovement(node, claim, { hash, head }).catch((error: unknown) => {
      if (error instanceof TransactionReceiptNotFoundError) return undefined;
      throw error;
    });
    if (!movement) return undefined;
    const [settled_at, sent] = await Promise.all([readBlockTime(node, movement), client.getTransaction({ hash })]);
    const signed = isCeiling(claim)
      ? await readPermit(node, claim, { input: sent.input, blockNumber: BigInt(movement.block), head })
      : { expires_at: sent.to && isAddressEqual(sent.to, node.usdc) ? readExpiry(sent.input) : null };
    return { ceiling: null, ...movement, ...signed, signature: null, settled_at };
  });
}

/** A USDC transfer in a transaction: accounts, amount, and its position on the chain. Fields are null if there is no transfer. */
type Movement = Omit<PaymentOnChain, 'ceiling' | 'signature' | 'expires_at' | 'settled_at'> & { block_hash: Hex };

/**
 * Reads the USDC transfer of a payment in a transaction, for settlement, receipts and checks alike. Of several transfers the one
 * that fits best counts; without an `amount`, the largest to the payee, since anybody can add a transfer of zero. For an
 * authorisation, an event names the payer and the nonce; for a permit, the payer is the given one, and the nonce is not known.
 * Throws what the node's client throws.
 */
async function readMovement(
  node: EvmNode,
  payment: Pick<SoughtPayment, 'scheme' | 'payer' | 'pay_to' | 'nonce'> & { amount?: string | undefined },
  { hash, head }: { hash: Hex; head: bigint },
): Promise<Movement> {
  const { status, logs, blockNumber, blockHash } = await node.client.getTransactionReceipt({ hash });
  const authorisation = isCeiling(payment) ? undefined : findAuthorisation(node, logs, payment);
  const from = isCeiling(payment) ? payment.payer : authorisation?.args.authorizer;
  const moved = from === undefined ? [] : listTransfers(node, logs, from);
  const isToPayee = ({ args }: (typeof moved)[number]) => isSameText(args.to, payment.pay_to);
  const toPayee = moved.filter(isToPayee).sort((a, b) => (a.args.value < b.args.value ? 1 : -1));
  const transfer =
    toPayee.find(({ args }) => String(args.value) === payment.amount) ??
    (authorisation ? moved.find(({ logIndex }) => logIndex > authorisation.logIndex) : toPayee[0]) ??
    moved[0];
  return {
    final: status === 'success' && isConfirmed(node, blockNumber, head),
    payer: authorisation?.args.authorizer.toLowerCase() ?? transfer?.args.from.toLowerCase() ?? null,
    pay_to: transfer?.args.to.toLowerCase() ?? null,
    amount: transfer ? String(transfer.args.value) : null,
    nonce: authorisation?.args.nonce ?? null,
    log_index: transfer?.logIndex ?? null,
    block: Number(blockNumber),
    block_hash: blockHash,
  };
}

type Logs = Log<bigint, number, false>[];

/** Finds the authorisation that a transaction used: the one that fits a payment best. */
function findAuthorisation({ usdc }: EvmNode, logs: Logs, { nonce, payer }: Pick<SoughtPayment, 'nonce' | 'payer'>) {
  const used = parseEventLogs({ abi: USDC_ABI, eventName: 'AuthorizationUsed', logs, strict: true }).filter(
    ({ address }) => getAddress(address) === usdc,
  );
  const ofNonce = used.filter(({ args }) => isSameText(args.nonce, nonce));
  const isOfPayer = ({ args }: (typeof used)[number]) => isSameText(args.authorizer, payer);
  return ofNonce.find(isOfPayer) ?? ofNonce[0] ?? used.find(isOfPayer) ?? used[0];
}

/** Lists the transfers of USDC from an account among the events of a transaction. */
function listTransfers({ usdc }: EvmNode, logs: Logs, payer: string) {
  return parseEventLogs({ abi: USDC_ABI, eventName: 'Transfer', logs, strict: true }).filter(
    ({ address, args }) => getAddress(address) === usdc && isSameText(args.from, payer),
  );
}

/** Reads the time of a movement's block, ISO 8601 UTC. */
async function readBlockTime({ client }: EvmNode, { block_hash }: Movement): Promise<string> {
  const { timestamp } = await client.getBlock({ blockHash: block_hash });
  return new Date(Number(timestamp) * 1000).toISOString();
}

/**
 * Reads the signed permit of a payment from the input of its transaction. The nonce is null if the transaction did not use it.
 */
async function readPermit(
  node: EvmNode,
  claim: PaymentClaim,
  found: { input: Hex; blockNumber: bigint; head: bigint },
): Promise<Pick<PaymentOnChain, 'ceiling' | 'nonce' | 'expires_at'>> {
  const isReadable = isAddress(claim.payer, { strict: false }) && /^0x[0-9a-f]{64}$/i.test(claim.nonce);
  const isUsed = isReadable && (await hasUsedPermit(node, claim, found));
  const permit = isUsed ? findSettledPermit(node, found.input, claim) : undefined;
  return {
    ceiling: permit ? String(permit.ceiling) : null,
    nonce: isUsed ? claim.nonce : null,
    expires_at: permit ? formatSeconds(permit.deadline) : null,
  };
}

function isSameText(found: string | null, said: string): boolean {
  return found?.toLowerCase() === said.toLowerCase();
}

/** Reads the expiry of an authorisation from a direct call of `transferWithAuthorization`; null for any other call. */
function readExpiry(input: Hex): string | null {
  try {
    const { args } = decodeFunctionData({ abi: PAYING_ABI, data: input });
    return new Date(Number(args[4]) * 1000).toISOString();
  } catch {
    // Other calls do not contain it, and a number beyond the range of dates is no time.
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
  // A node may have the new state before the events.
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

/** Judges the transaction that used our nonce by what it moved. */
async function readSettlement(
  node: EvmNode,
  payment: SoughtPayment,
  { transaction, head }: { transaction: Hex; head: bigint },
): Promise<ChainFinding> {
  const signed = BigInt(payment.ceiling ?? payment.amount);
  const hasCeiling = isCeiling(payment);
  const sought = { ...payment, amount: hasCeiling ? undefined : String(signed) };
  const movement = await askNode(node, () => readMovement(node, sought, { hash: transaction, head }));
  if (!movement.final) return { state: 'open' };
  const { payer, pay_to, amount, nonce, log_index, block, block_hash } = movement;
  const isOurs = hasCeiling || (isSameText(payer, payment.payer) && isSameText(nonce, payment.nonce));
  if (!isOurs || amount === null || !isSameText(pay_to, payment.pay_to))
    return { state: 'disputed', reason: 'no_matching_transfer' };
  const value = BigInt(amount);
  if (!hasCeiling && value !== signed) return { state: 'disputed', reason: 'no_matching_transfer' };
  if (value > signed) return { state: 'disputed', reason: 'above_ceiling' };
  if (value === 0n) return { state: 'not_settled', reason: 'nothing_taken' };
  const settled_at = await askNode(node, () => readBlockTime(node, movement));
  const { genesis } = node;
  const settlement: Settlement = { transaction, block, block_hash, log_index, settled_at, genesis, read_from: 1 };
  return { state: 'settled', settlement, ...(hasCeiling && { amount: Number(value) }) };
}

/** The two forms of the call that settles a payment (EIP-3009, FiatToken 2.2): with the signature as bytes, or in parts. */
const PAYING_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
