import { getBase58Decoder } from '@solana/kit';
import type { Holding, StoredAccount } from './machine.ts';
import { buildTokenAmount, type Encoding } from './transaction-view.ts';

/** Builds the answer of Solana's RPC to `getAccountInfo`. In the parsed form it supports token accounts. */
export function buildAccountView(stored: StoredAccount, holding: Holding | undefined, encoding: Encoding) {
  const { data, owner, lamports, executable } = stored;
  return {
    lamports: Number(lamports),
    owner,
    executable,
    rentEpoch: 0,
    space: data.length,
    data: encoding === 'jsonParsed' && holding ? buildParsed(holding, data.length) : buildData(data, encoding),
  };
}

function buildData(data: Uint8Array, encoding: Encoding) {
  if (encoding === 'base58') return [getBase58Decoder().decode(data), 'base58'];
  return [Buffer.from(data).toString('base64'), 'base64'];
}

function buildParsed({ mint, owner, amount }: Holding, space: number) {
  const info = { isNative: false, mint, owner, state: 'initialized', tokenAmount: buildTokenAmount(amount) };
  return { program: 'spl-token', space, parsed: { type: 'account', info } };
}
