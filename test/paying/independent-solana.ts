import { createPublicKey, verify } from 'node:crypto';
import type { Asking, ReceiptDocument } from './independent-check.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const TRANSFER_CHECKED = 12;
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** The prefix of the 32 bytes of an Ed25519 key in DER form (RFC 8410). */
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex');

interface TokenBalance {
  accountIndex: number;
  mint: string;
  owner: string;
  uiTokenAmount: { amount: string };
}
interface Landed {
  slot: number;
  blockTime: number;
  transaction: [string, string];
  meta: { err: unknown; preTokenBalances: TokenBalance[]; postTokenBalances: TokenBalance[] };
}

/** Compares a receipt on Solana with the answers of a node and with the payer's signature. */
export async function checkOnSolana(
  receipt: ReceiptDocument['receipt'],
  ask: Asking,
): Promise<Record<string, boolean>> {
  const { settlement, payer, pay_to, amount, nonce } = receipt;
  const genesis = await ask<string>('getGenesisHash', []);
  const options = { commitment: 'finalized', encoding: 'base64', maxSupportedTransactionVersion: 0 };
  const landed = await ask<Landed | null>('getTransaction', [settlement.transaction, options]);
  if (!landed) return { transaction: false };
  const wanted = { commitment: 'finalized', transactionDetails: 'none', rewards: false };
  const block = await ask<{ blockhash: string; blockTime: number }>('getBlock', [landed.slot, wanted]);
  const { signatures, message, keys, instructions } = readTransaction(Buffer.from(landed.transaction[0], 'base64'));
  const ours = signatures[keys.indexOf(payer)] ?? Buffer.alloc(64);
  const transfers = instructions.filter(
    ({ program, data }) => program === TOKEN_PROGRAM && data[0] === TRANSFER_CHECKED,
  );
  const [transfer] = transfers;
  const held = (owner: string, list: TokenBalance[]) =>
    list
      .filter((one) => one.mint === USDC && one.owner === owner)
      .reduce((sum, one) => sum + BigInt(one.uiTokenAmount.amount), 0n);
  const { preTokenBalances, postTokenBalances, err } = landed.meta;
  const change = (owner: string) => held(owner, postTokenBalances) - held(owner, preTokenBalances);
  const isPublic = genesis.startsWith(GENESIS);
  return {
    network_id: receipt.network_id === `solana:${GENESIS}`,
    asset: receipt.asset === USDC && transfer?.accounts[1] === USDC,
    public_chain: receipt.public_chain === isPublic,
    link: (receipt.transaction_url === null) === !isPublic,
    genesis: genesis === settlement.genesis,
    succeeded: err === null,
    transaction: encodeBase58(signatures[0] ?? Buffer.alloc(0)) === settlement.transaction,
    block: landed.slot === settlement.block,
    block_hash: block.blockhash === settlement.block_hash,
    settled_at: new Date(landed.blockTime * 1000).toISOString() === settlement.settled_at,
    signature: encodeBase58(ours) === receipt.signature,
    signed: isSigned(message, ours, payer),
    nonce: instructions.some(({ data }) => data.toString() === nonce),
    only_transfer: transfers.length === 1 && transfer?.accounts[3] === payer,
    amount: transfer !== undefined && transfer.data.readBigUInt64LE(1) === BigInt(amount),
    payer: change(payer) === -BigInt(amount),
    pay_to: change(pay_to) === BigInt(amount),
  };
}

/** Decodes a transaction of version 0 (Solana documentation, "Transactions"). */
function readTransaction(wire: Buffer) {
  let at = 0;
  const take = (length: number) => {
    at += length;
    return wire.subarray(at - length, at);
  };
  const takeCount = () => {
    let count = 0;
    for (let shift = 0; ; shift += 7) {
      const [byte = 0] = take(1);
      count |= (byte & 0x7f) << shift;
      if (byte < 0x80) return count;
    }
  };
  const takeMany = <Part>(part: () => Part): Part[] => Array.from({ length: takeCount() }, part);
  const signatures = takeMany(() => take(64));
  const message = wire.subarray(at);
  take(1 + 3);
  const keys = takeMany(() => encodeBase58(take(32)));
  take(32);
  const instructions = takeMany(() => {
    const program = keys[take(1)[0] ?? 0];
    const accounts = [...take(takeCount())].map((index) => keys[index]);
    return { program, accounts, data: take(takeCount()) };
  });
  return { signatures, message, keys, instructions };
}

function isSigned(message: Buffer, signature: Buffer, signer: string): boolean {
  const key = createPublicKey({ key: Buffer.concat([ED25519_DER, decodeBase58(signer)]), format: 'der', type: 'spki' });
  return verify(null, message, key, signature);
}

function encodeBase58(bytes: Uint8Array): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);
  let text = '';
  for (; value > 0n; value /= 58n) text = `${ALPHABET[Number(value % 58n)]}${text}`;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return `${'1'.repeat(zeros === -1 ? bytes.length : zeros)}${text}`;
}

function decodeBase58(text: string): Buffer {
  const value = [...text].reduce((sum, letter) => sum * 58n + BigInt(ALPHABET.indexOf(letter)), 0n);
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}
