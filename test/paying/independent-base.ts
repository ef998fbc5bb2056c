import type { Asking, ReceiptDocument } from './independent-check.ts';

const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
const GENESIS = '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd';

/** First four bytes of the two forms of `transferWithAuthorization` (EIP-3009, FiatToken 2.2), and of the state of one. */
const SELECTORS = { withBytes: '0xcf092995', withParts: '0xe3ee160e', authorizationState: '0xe94a0102' };
const AUTHORIZATION_USED = '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5';
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

interface Log {
  address: string;
  topics: string[];
  data: string;
  logIndex: string;
  transactionHash: string;
}
interface TransactionReceipt {
  status: string;
  blockNumber: string;
  blockHash: string;
  logs: Log[];
}
interface Block {
  hash: string;
  number: string;
  timestamp: string;
}

const toWord = (hex: string) => hex.toLowerCase().replace(/^0x/, '').padStart(64, '0');
const isOfUsdc = ({ address }: Log) => address.toLowerCase() === USDC;

/** Compares a receipt on Base with the answers of a node. */
export async function checkOnBase(receipt: ReceiptDocument['receipt'], ask: Asking): Promise<Record<string, boolean>> {
  const { settlement, payer, pay_to, amount, nonce, expires_at } = receipt;
  const chainId = await ask<string>('eth_chainId', []);
  const first = await ask<Block>('eth_getBlockByNumber', ['0x0', false]);
  const mined = await ask<TransactionReceipt | null>('eth_getTransactionReceipt', [settlement.transaction]);
  const sent = await ask<{ to: string; input: string } | null>('eth_getTransactionByHash', [settlement.transaction]);
  if (!mined || !sent) return { transaction: false };
  const block = await ask<Block>('eth_getBlockByHash', [mined.blockHash, false]);
  const used = mined.logs.filter((log) => isOfUsdc(log) && log.topics[0] === AUTHORIZATION_USED);
  const moved = mined.logs.find((log) => isOfUsdc(log) && Number(log.logIndex) === settlement.log_index);
  const data = `${SELECTORS.authorizationState}${toWord(payer)}${toWord(nonce)}`;
  const state = await ask<string>('eth_call', [{ to: USDC, data }, 'latest']);
  const given = readAuthorisation(sent.input);
  const seconds = Number(block.timestamp);
  return {
    network_id: receipt.network_id === `eip155:${Number(chainId)}` && chainId === '0x2105',
    asset: receipt.asset.toLowerCase() === USDC && sent.to.toLowerCase() === USDC,
    public_chain: receipt.public_chain === (first.hash === GENESIS),
    link: (receipt.transaction_url === null) === (first.hash !== GENESIS),
    genesis: first.hash === settlement.genesis,
    succeeded: mined.status === '0x1',
    block: Number(mined.blockNumber) === settlement.block && Number(block.number) === settlement.block,
    block_hash: mined.blockHash === settlement.block_hash && block.hash === settlement.block_hash,
    settled_at: new Date(seconds * 1000).toISOString() === settlement.settled_at,
    nonce: used.some(({ topics }) => topics[1] === `0x${toWord(payer)}` && topics[2] === nonce),
    used: BigInt(state) === 1n,
    transfer: moved?.topics[0] === TRANSFER,
    payer: moved?.topics[1] === `0x${toWord(payer)}`,
    pay_to: moved?.topics[2] === `0x${toWord(pay_to)}`,
    amount: moved !== undefined && BigInt(moved.data) === BigInt(amount),
    signed: [payer, pay_to, amount, nonce].every((value, index) => given.words[index] === toHexWord(value)),
    expires_at: given.validBefore * 1000 === Date.parse(expires_at),
    in_time: seconds < given.validBefore && given.validBefore - seconds <= 120,
  };
}

/** Amounts are written in decimal, everything else in hexadecimal. */
function toHexWord(value: string): string {
  return toWord(value.startsWith('0x') ? value : BigInt(value).toString(16));
}

/** The arguments of a call of `transferWithAuthorization`: from, to, value, nonce and expiry. */
function readAuthorisation(input: string): { words: string[]; validBefore: number } {
  const selector = input.slice(0, 10);
  if (selector !== SELECTORS.withBytes && selector !== SELECTORS.withParts) return { words: [], validBefore: 0 };
  const [from = '', to = '', value = '', , until = '', nonce = ''] = input.slice(10).match(/.{64}/g) ?? [];
  return { words: [from, to, value, nonce], validBefore: Number(`0x${until}`) };
}
