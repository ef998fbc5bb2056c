import { getBase58Decoder } from '@solana/kit';
import { generatePrivateKey } from 'viem/accounts';
import { onTestFinished } from 'vitest';
import type { Market } from '../../scripts/market/market.ts';
import type { MarketNetwork } from '../../scripts/market/providers/route.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Payment } from '../../src/model/payment.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import type { Rail } from '../../src/paying/rail.ts';
import { openSvmRail } from '../../src/paying/svm/rail.ts';
import type { Cheating, CheatOptions } from '../market/cheats/cheating.ts';
import { openSeller } from '../market/cheats/seller.ts';
import { makeTerms } from '../records.ts';
import { openPayingWith } from './paying.ts';

/** Initial balance of a wallet, in atomic USDC. */
export const FUNDS = 1_000_000n;

export type RailOptions = { network: MarketNetwork; version: 1 | 2 };

/** Settles, delivers, and says so. */
export const HONEST: Cheating = { lie: 'Sells what it says, as it says' };

/** Opens a new wallet on one of the market's chains, at two nodes. */
export async function openRail({ base, solana }: Market, network: MarketNetwork): Promise<Rail> {
  if (network === 'base')
    return openEvmRail(NETWORKS.base, { privateKey: generatePrivateKey(), rpcUrls: [base.rpcUrl, base.rpcUrl] });
  const privateKey = getBase58Decoder().decode(crypto.getRandomValues(new Uint8Array(32)));
  const url = solana?.rpcUrl ?? '';
  return openSvmRail(NETWORKS.solana, { privateKey, rpcUrls: [url, url] });
}

type Paying = Awaited<ReturnType<typeof openPayingWith>>;

/** Opens a seller of the market, a catalogue that lists it as an honest one, and a wallet that pays it. */
export async function openMarketPaying(
  market: Market,
  seller: Cheating,
  options: CheatOptions & RailOptions,
  wallet?: Rail,
) {
  const rail = wallet ?? (await openRail(market, options.network));
  const chain = options.network === 'base' ? market.base : market.solana;
  await chain?.fund(rail.payer, FUNDS);
  const paying = await openBeside(market, seller, options, { rail });
  const getLost = async () => FUNDS - ((await chain?.getBalance(rail.payer)) ?? 0n);
  return { ...paying, getLost };
}

/** Pays an honest seller from the same wallet and ledger. Returns the result. */
export async function payHonest(
  market: Market,
  { rail, catalogue, journal, ledger }: Pick<Paying, 'rail' | 'catalogue' | 'journal' | 'ledger'>,
): Promise<Payment> {
  const beside = { rail, books: { catalogue, journal, ledger }, slug: 'honest-prices' };
  const { pay } = await openBeside(market, HONEST, { network: rail.network, version: 2 }, beside);
  return pay({ patienceMs: 10_000 });
}

async function openBeside(
  market: Market,
  seller: Cheating,
  options: CheatOptions & RailOptions,
  { rail, ...beside }: Pick<Paying, 'rail'> & NonNullable<Parameters<typeof openPayingWith>[4]>,
) {
  const { network, version } = options;
  const opened = await openSeller(market, seller, { honestFor: 0, ...options });
  onTestFinished(opened.close);
  const pay_to = network === 'base' ? opened.payees.base.toLowerCase() : opened.payees.solana;
  const terms = makeTerms({ network, asset: NETWORKS[network].usdc, pay_to, x402_version: version });
  const { path, exampleInput, outputSchema: output_schema } = opened.route;
  const query = `?text=${encodeURIComponent(String(exampleInput.text))}`;
  const paying = await openPayingWith(rail, opened.url, terms, { path, query, output_schema }, beside);
  return { ...paying, seller: opened };
}
