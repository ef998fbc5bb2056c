import { getBase58Decoder } from '@solana/kit';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, afterEach, onTestFinished } from 'vitest';
import type { Market } from '../../scripts/market/market.ts';
import type { MarketNetwork } from '../../scripts/market/providers/route.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import type { RpcUrls } from '../../src/paying/nodes.ts';
import type { Rail } from '../../src/paying/rail.ts';
import { openSvmRail } from '../../src/paying/svm/rail.ts';
import type { Cheating, CheatOptions } from '../market/cheats/cheating.ts';
import { openSeller } from '../market/cheats/seller.ts';
import { makeTerms } from '../records.ts';
import { type AtEnd, type Books, openBooks, openPayingWith } from './paying.ts';

/** Initial balance of a wallet, in atomic USDC. */
export const FUNDS = 1_000_000n;

export type RailOptions = { network: MarketNetwork; version: 1 | 2 };

/** Settles, delivers, and says so. */
export const HONEST: Cheating = { lie: 'Sells what it says, as it says' };

/** Returns one of the market's chains. */
export function getChain({ base, solana }: Market, network: MarketNetwork) {
  const chain = network === 'base' ? base : solana;
  if (!chain) throw new Error('the market has no Solana');
  return chain;
}

/** A wallet with 1 USDC on one of the market's chains, the records of its payments, and when they are closed. */
export interface Wallet {
  readonly rail: Rail;
  readonly books: Books;
  readonly atEnd: AtEnd;
  /** Opens the same wallet at other nodes; `timeoutMs` is the time limit for one answer. */
  openAt(rpcUrls: RpcUrls, timeoutMs?: number): Promise<Rail>;
}

/** Opens a new wallet at two honest nodes. */
export async function openWallet(
  market: Market,
  network: MarketNetwork,
  atEnd: AtEnd = onTestFinished,
): Promise<Wallet> {
  const chain = getChain(market, network);
  const key = crypto.getRandomValues(new Uint8Array(32));
  const evmKey = generatePrivateKey();
  const openAt = async (rpcUrls: RpcUrls, timeoutMs?: number) => {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    return network === 'base'
      ? openEvmRail(NETWORKS.base, { privateKey: evmKey, rpcUrls, ...limit })
      : openSvmRail(NETWORKS.solana, { privateKey: getBase58Decoder().decode(key), rpcUrls, ...limit });
  };
  const rail = await openAt([chain.rpcUrl, chain.rpcUrl]);
  await chain.fund(rail.payer, FUNDS);
  return { rail, books: await openBooks(atEnd), atEnd, openAt };
}

/**
 * Opens a wallet on each network for all tests of a file, which pay from it one after another: each payment shows that the one
 * before left it free. After a test that fails, the next ones get new wallets.
 */
export async function shareWallets(market: Market): Promise<Record<MarketNetwork, Wallet>> {
  const closing: (() => Promise<void>)[] = [];
  const open = (network: MarketNetwork) => openWallet(market, network, (work) => void closing.push(work));
  const wallets = { base: await open('base'), solana: await open('solana') };
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail')
      Object.assign(wallets, { base: await open('base'), solana: await open('solana') });
  });
  afterAll(async () => {
    for (const work of closing.toReversed()) await work();
  });
  return wallets;
}

/** Opens a seller of the market, listed as an honest one, for a wallet that pays it: a new one, or one of several sellers. */
export async function openMarketPaying(
  market: Market,
  seller: Cheating,
  options: CheatOptions & RailOptions,
  wallet?: Wallet,
) {
  const { network, version } = options;
  const { rail, books, atEnd } = wallet ?? (await openWallet(market, network));
  const opened = await openSeller(market, seller, { honestFor: 0, ...options });
  atEnd(opened.close);
  const pay_to = network === 'base' ? opened.payees.base.toLowerCase() : opened.payees.solana;
  const terms = makeTerms({ network, asset: NETWORKS[network].usdc, pay_to, x402_version: version });
  const { path, exampleInput, outputSchema: output_schema } = opened.route;
  const query = `?text=${encodeURIComponent(String(exampleInput.text))}`;
  const beside = { books, ...(wallet && { slug: nameSeller(opened.url) }) };
  const paying = await openPayingWith(rail, opened.url, terms, { path, query, output_schema }, beside);
  return { ...paying, seller: opened, getLost: await countLost(market, rail) };
}

/** Names the listing of a seller by its port, which is its own while it is open. */
export function nameSeller(url: string): string {
  return `seller-${new URL(url).port}`;
}

/** Returns a function that says what a wallet has lost since, in atomic USDC. */
export async function countLost(market: Market, { network, payer }: Rail): Promise<() => Promise<bigint>> {
  const chain = getChain(market, network as MarketNetwork);
  const before = await chain.getBalance(payer);
  return async () => before - (await chain.getBalance(payer));
}
