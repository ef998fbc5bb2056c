import { getAddress, type Hex, isAddress, isAddressEqual, parseAbi } from 'viem';
import { type EvmNetwork, PERMIT2 } from '../../model/network.ts';
import type { Payment, PreparedPayment } from '../../model/payment.ts';
import { getChainId } from './authorisation.ts';
import { askNode, type BlockRange, type EvmNode, searchBlocks, USDC_ABI } from './node.ts';

/** The contract with which x402 takes a payment of the scheme `upto`. Only this contract may use the permit. */
export const UPTO_PROXY = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002';

const PERMIT2_ADDRESS = getAddress(PERMIT2);

/** Returns the EIP-712 domain of Permit2 on a chain. */
export function getPermitDomain(chain: EvmNetwork) {
  return { name: 'Permit2', chainId: getChainId(chain), verifyingContract: PERMIT2_ADDRESS };
}

/** A transfer by Permit2, with x402's witness: the payee, and the account that may settle it. */
export const PERMIT_TYPES = {
  PermitWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'witness', type: 'Witness' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  Witness: [
    { name: 'to', type: 'address' },
    { name: 'facilitator', type: 'address' },
    { name: 'validAfter', type: 'uint256' },
  ],
} as const;

const PERMIT2_ABI = parseAbi([
  'function nonceBitmap(address owner, uint256 word) view returns (uint256)',
  'event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask)',
]);

/** A permit as x402 writes it: numbers are decimal text. */
export interface Permit {
  from: string;
  permitted: { token: string; amount: string };
  spender: string;
  nonce: string;
  deadline: string;
  witness: { to: string; facilitator: string; validAfter: string };
}

/** Returns the account that may settle an offer; undefined if it names none. */
export function readFacilitator({ extra }: Record<string, unknown>): string | undefined {
  const named =
    typeof extra === 'object' && extra !== null && 'facilitatorAddress' in extra && extra.facilitatorAddress;
  return typeof named === 'string' && isAddress(named, { strict: false }) ? getAddress(named) : undefined;
}

/** Builds the permit of a recorded payment. `deadline` is its expiry, in whole seconds. */
export function buildPermit(
  { usdc }: EvmNetwork,
  { payer, pay_to, amount, nonce, expires_at }: PreparedPayment,
  facilitator: string,
): Permit {
  return {
    from: getAddress(payer),
    permitted: { token: getAddress(usdc), amount: String(amount) },
    spender: UPTO_PROXY,
    nonce: String(BigInt(nonce)),
    deadline: String(Math.floor(Date.parse(expires_at) / 1000)),
    witness: { to: getAddress(pay_to), facilitator: getAddress(facilitator), validAfter: '0' },
  };
}

/** Builds the message that is signed for a permit. */
export function buildPermitMessage({ permitted, spender, nonce, deadline, witness }: Permit) {
  return {
    permitted: { token: getAddress(permitted.token), amount: BigInt(permitted.amount) },
    spender: getAddress(spender),
    nonce: BigInt(nonce),
    deadline: BigInt(deadline),
    witness: {
      to: getAddress(witness.to),
      facilitator: getAddress(witness.facilitator),
      validAfter: BigInt(witness.validAfter),
    },
  };
}

/** Returns the amount of USDC that an account allows Permit2 to move, in atomic units. */
export function readAllowance(node: EvmNode, account: string): Promise<bigint> {
  const { client, usdc: address } = node;
  const args = [getAddress(account), PERMIT2_ADDRESS] as const;
  return askNode(node, () => client.readContract({ address, abi: USDC_ABI, functionName: 'allowance', args }));
}

type NonceOwner = Pick<Payment, 'payer' | 'nonce'>;

/** Returns true if a permit was used or cancelled up to a block. Permit2 has one bit for each nonce. */
export async function isPermitUsed(node: EvmNode, { payer, nonce }: NonceOwner, blockNumber: bigint): Promise<boolean> {
  const { word, bit } = getNoncePlace(nonce);
  const args = [getAddress(payer), word] as const;
  const call = { address: PERMIT2_ADDRESS, abi: PERMIT2_ABI, functionName: 'nonceBitmap', args, blockNumber } as const;
  const bits = await askNode(node, () => node.client.readContract(call));
  return hasBit(bits, bit);
}

/** Returns the position of a nonce in Permit2: the number of its word, and of the bit in it, the lowest being 0. */
function getNoncePlace(nonce: string): { word: bigint; bit: bigint } {
  return { word: BigInt(nonce) >> 8n, bit: BigInt(nonce) & 255n };
}

function hasBit(bits: bigint, bit: bigint): boolean {
  return ((bits >> bit) & 1n) === 1n;
}

/** A permit in the input of a transaction that settles it. Amounts are atomic USDC. */
export interface SettledPermit {
  ceiling: bigint;
  /** Seconds since 1970. */
  deadline: bigint;
  /** The amount to be taken. */
  amount: bigint;
  owner: Hex;
  to: Hex;
}

const WORD = 64;

/**
 * Lists the permits with a nonce in the input of a transaction. Both settling functions of the proxy have the same words in a row
 * in their arguments: token, ceiling, nonce, deadline, amount, owner and payee. These are found in a call of the proxy, and in
 * any call around it.
 */
function listSettledPermits({ usdc }: Pick<EvmNetwork, 'usdc'>, input: Hex, nonce: string): SettledPermit[] {
  const hex = input.slice(2).toLowerCase();
  const token = usdc.slice(2).toLowerCase().padStart(WORD, '0');
  const found: SettledPermit[] = [];
  const wanted = nonce.replace(/^0x/, '').toLowerCase();
  for (let at = hex.indexOf(wanted); at >= 0; at = hex.indexOf(wanted, at + 1)) {
    const start = at - 2 * WORD;
    const words = hex.slice(Math.max(start, 0), start + 7 * WORD).match(/.{64}/g) ?? [];
    const [first, ceiling, , deadline, amount, owner, to] = words.map((word) => `0x${word}` as const);
    if (start < 0 || first !== `0x${token}` || !ceiling || !deadline || !amount || !owner || !to) continue;
    found.push({
      ceiling: BigInt(ceiling),
      deadline: BigInt(deadline),
      amount: BigInt(amount),
      owner: `0x${owner.slice(-40)}`,
      to: `0x${to.slice(-40)}`,
    });
  }
  return found;
}

/**
 * Finds the transaction that used a permit, for which Permit2 emits no event. Looks first for a transaction that moved USDC of
 * the payer and has the permit in its input; then, in the block in which the nonce was used, for a transaction that moved USDC of
 * the payer, or else for a transfer of zero USDC to the payee. Returns undefined if no transaction fits.
 */
export async function findPermitTransaction(
  node: EvmNode,
  payment: NonceOwner & Pick<Payment, 'pay_to' | 'from_block'>,
  head: bigint,
): Promise<Hex | undefined> {
  const { client, usdc } = node;
  const wanted = { address: usdc, abi: USDC_ABI, eventName: 'Transfer', strict: true } as const;
  const args = { from: getAddress(payment.payer) };
  const listMoves = (range: BlockRange) => askNode(node, () => client.getContractEvents({ ...wanted, args, ...range }));
  // Anybody can transfer zero in the payer's name, but only a permit of the payer moves more.
  const isSomething = (move: Awaited<ReturnType<typeof listMoves>>[number]) => move.args.value > 0n;
  const carried = await searchBlocks(payment.from_block, head, async (range) => {
    for (const { transactionHash: hash } of (await listMoves(range)).filter(isSomething)) {
      const { input } = await askNode(node, () => client.getTransaction({ hash }));
      if (listSettledPermits(node, input, payment.nonce).length > 0) return hash;
    }
    return undefined;
  });
  if (carried !== undefined) return carried;
  const block = await findBlockOfUse(node, payment, head);
  const moves = await listMoves({ fromBlock: block, toBlock: block });
  const isToPayee = (move: (typeof moves)[number]) => isAddressEqual(move.args.to, getAddress(payment.pay_to));
  return (moves.find(isSomething) ?? moves.find(isToPayee))?.transactionHash;
}

/** Finds the transaction in which the payer cancelled a permit; undefined if it did not. */
export async function findPermitCancellation(
  node: EvmNode,
  { payer, nonce, from_block }: NonceOwner & Pick<Payment, 'from_block'>,
  head: bigint,
): Promise<Hex | undefined> {
  const wanted = {
    address: PERMIT2_ADDRESS,
    abi: PERMIT2_ABI,
    eventName: 'UnorderedNonceInvalidation',
    strict: true,
  } as const;
  const args = { owner: getAddress(payer) };
  const { word, bit } = getNoncePlace(nonce);
  return searchBlocks(from_block, head, async (range) => {
    const events = await askNode(node, () => node.client.getContractEvents({ ...wanted, args, ...range }));
    return events.find((event) => event.args.word === word && hasBit(event.args.mask, bit))?.transactionHash;
  });
}

/** Finds the block in which a nonce was used, between the start of a payment and a block at which it is known to be used. */
async function findBlockOfUse(
  node: EvmNode,
  payment: NonceOwner & Pick<Payment, 'from_block'>,
  head: bigint,
): Promise<bigint> {
  let [unused, used] = [BigInt(payment.from_block), head];
  while (used - unused > 1n) {
    const middle = (unused + used) / 2n;
    if (await isPermitUsed(node, payment, middle)) used = middle;
    else unused = middle;
  }
  return used;
}

/** Finds the permit that a transaction settled: the one that fits a claim best. Undefined if its input has none. */
export function findSettledPermit(
  chain: Pick<EvmNetwork, 'usdc'>,
  input: Hex,
  { nonce, payer, pay_to }: Pick<Payment, 'nonce' | 'payer' | 'pay_to'>,
): SettledPermit | undefined {
  const permits = listSettledPermits(chain, input, nonce);
  const isSame = (found: Hex, said: string) => isAddress(said, { strict: false }) && isAddressEqual(found, said);
  return permits.find(({ owner, to }) => isSame(owner, payer) && isSame(to, pay_to)) ?? permits[0];
}

/** Returns true if a transaction used a permit: its input contains the permit, or the nonce was used in its block. */
export async function hasUsedPermit(
  node: EvmNode,
  permit: NonceOwner,
  { input, blockNumber, head }: { input: Hex; blockNumber: bigint; head: bigint },
): Promise<boolean> {
  if (!(await isPermitUsed(node, permit, head))) return false;
  if (listSettledPermits(node, input, permit.nonce).length > 0) return true;
  return (await isPermitUsed(node, permit, blockNumber)) && !(await isPermitUsed(node, permit, blockNumber - 1n));
}
