import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { privateKeyToAccount } from 'viem/accounts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { findListing } from '../../src/catalogue/listings.ts';
import { openLedger } from '../../src/catalogue/payments.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { openBaseRail } from '../../src/settlement/base/rail.ts';
import { openJournal } from '../../src/settlement/journal.ts';
import { payForCall } from '../../src/settlement/pay.ts';
import { fetchQuote } from '../../src/settlement/quote.ts';
import type { MarketPlace } from './payment-market.ts';
import { getMedian } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { buildSyntheticDeclaration, createSyntheticCatalogue } from './synthetic.ts';
import type { Run } from './world.ts';

/** Buys once, and gives whether all is well. */
type Buying = () => Promise<boolean>;

/** Collects the time that passes in waiting for others, each moment once. */
interface Stopwatch {
  wait<Result>(whom: 'seller' | 'chain', work: () => Promise<Result>): Promise<Result>;
  take(): Record<'seller' | 'chain', number>;
}

const SLUG = 'bench-seller';
const PATH = '/v1/distance';
const QUERY = new URLSearchParams({ from: '52.52,13.405', to: '48.8566,2.3522' });
const PRICE = 2_000;
/** Paid calls for each round of the run. */
const PAYMENTS = 20;

/**
 * Measures real payments on the local chain: quote, attempt on disk, signature, paid call, proof from the chain, receipt
 * published; and beside it, round by round, the same purchase by the SDK's client, which keeps and checks nothing. Market and
 * chain run in processes of their own.
 */
export async function measurePayments({ folder, rounds: pace }: Run, listings: number): Promise<Row[]> {
  const market = fork(fileURLToPath(new URL('./payment-market.ts', import.meta.url)));
  try {
    const [place] = (await once(market, 'message')) as [MarketPlace];
    const watch = openStopwatch();
    const nodeFetch = globalThis.fetch;
    globalThis.fetch = (input, init) => {
      const isNode = String(input instanceof Request ? input.url : input).startsWith(place.rpcUrl);
      return watch.wait(isNode ? 'chain' : 'seller', () => nodeFetch(input, init));
    };
    const verifier = openVerifier(join(folder, 'payments.sqlite'), { listings, place, watch });
    const contestants: Record<string, Buying> = { verifier: verifier.buy, 'SDK client': openSdkBuyer(place) };
    const rounds = new Map(Object.keys(contestants).map((name) => [name, [] as Round[]]));
    for (const buy of Object.values(contestants)) await buy();
    for (let round = 0; round < Math.min(5, pace) * PAYMENTS; round += 1) {
      for (const [name, buy] of Object.entries(contestants)) rounds.get(name)?.push(await time(buy, watch));
    }
    globalThis.fetch = nodeFetch;
    await verifier.close();
    return listRows(listings, rounds.get('verifier') ?? [], rounds.get('SDK client') ?? []);
  } finally {
    market.disconnect();
    await once(market, 'exit');
  }
}

interface Round {
  ms: number;
  seller: number;
  chain: number;
}

async function time(buy: Buying, watch: Stopwatch): Promise<Round> {
  watch.take();
  const started = performance.now();
  if (!(await buy())) throw new Error('a payment did not come to what it should');
  return { ms: performance.now() - started, ...watch.take() };
}

/** The verifier's time is its own where it waits for nobody: signing, writing down, checking, publishing. */
function listRows(listings: number, verifier: readonly Round[], client: readonly Round[]): Row[] {
  const base = { listings, beside: 'SDK client' };
  const row = (what: string, pick: (round: Round) => number) => {
    const [ours, theirs] = [getMedian(verifier.map(pick)), getMedian(client.map(pick))];
    return buildRow({ ...base, what, unit: 'ms', ours, theirs });
  };
  const getRate = (rounds: readonly Round[]) => rounds.length / rounds.reduce((sum, { ms }) => sum + ms / 1000, 0);
  const rates = { ours: getRate(verifier), theirs: getRate(client) };
  return [
    buildRow({ ...base, what: 'paid calls', unit: 'calls/s', ...rates }),
    row('a paid call', ({ ms }) => ms),
    row('of it waiting for the seller', ({ seller }) => seller),
    row('of it waiting for the chain', ({ chain }) => chain),
    row('of it our own work', ({ ms, seller, chain }) => ms - seller - chain),
  ];
}

/** Two questions at once are one wait. */
function openStopwatch(): Stopwatch {
  const clocks = { seller: { spent: 0, open: 0, since: 0 }, chain: { spent: 0, open: 0, since: 0 } };
  const take = (whom: keyof typeof clocks) => {
    const { spent } = clocks[whom];
    clocks[whom].spent = 0;
    return spent;
  };
  return {
    async wait(whom, work) {
      const clock = clocks[whom];
      if (clock.open === 0) clock.since = performance.now();
      clock.open += 1;
      try {
        return await work();
      } finally {
        clock.open -= 1;
        if (clock.open === 0) clock.spent += performance.now() - clock.since;
      }
    },
    take: () => ({ seller: take('seller'), chain: take('chain') }),
  };
}

/** Opens the verifier on a catalogue of synthetic listings and the seller's. */
function openVerifier(
  file: string,
  { listings, place, watch }: { listings: number; place: MarketPlace; watch: Stopwatch },
): { buy: Buying; close: () => Promise<void> } {
  const catalogue = createSyntheticCatalogue(file, listings);
  const pay_to = place.payee.toLowerCase();
  const terms = { network: 'base', scheme: 'exact', asset: NETWORKS.base.usdc, amount: PRICE, pay_to } as const;
  const known = [{ ...terms, max_timeout_seconds: 60, x402_version: 2 as const }];
  const example = buildSyntheticDeclaration(1);
  const routes = example.routes
    .slice(0, 1)
    .map((route) => ({ ...route, method: 'GET' as const, path: PATH, terms: known }));
  writeCatalogue(catalogue, new Date().toISOString(), (writing) =>
    recordDeclaration(writing, { ...example, base_url: place.sellerUrl, slug: SLUG, routes }),
  );
  const route = findListing(catalogue, { slug: SLUG })?.routes[0];
  if (!route) throw new Error('the seller is not on record');
  const guarded = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'bench' });
  const client = {
    ...guarded,
    fetch: (...asked: Parameters<typeof guarded.fetch>) => watch.wait('seller', () => guarded.fetch(...asked)),
  };
  const rail = openBaseRail({ privateKey: place.privateKey, rpcUrls: [place.rpcUrl] });
  const journal = openJournal(`${catalogue.file}.journal`);
  const ledger = openLedger(catalogue, journal.append);
  const signal = new AbortController().signal;
  const call = {
    method: 'GET' as const,
    url: new URL(`${PATH}?${QUERY}`, place.sellerUrl),
    headers: {},
    body: undefined,
  };
  const buy = async () => {
    const { chosen } = await fetchQuote({ client, call, known, payeeRotates: false, networks: ['base'], signal });
    if (!chosen) return false;
    const { state, delivered } = await payForCall({
      ...{ client, rail, ledger, call, signal, requirement: chosen, route_id: route.id, declared: route, own: [route] },
      caps: { per_call: PRICE, per_day: Number.MAX_SAFE_INTEGER },
      findStop: () => null,
      now: () => new Date(),
    });
    return state === 'settled' && delivered === true;
  };
  const close = async () => {
    await guarded.close();
    journal.close();
    catalogue.close();
  };
  return { buy, close };
}

/** Buys as the SDK's README has it: asks, signs what is asked, asks again with the payment. */
function openSdkBuyer({ sellerUrl, privateKey }: MarketPlace): Buying {
  const scheme = new ExactEvmScheme(privateKeyToAccount(privateKey));
  const client = new x402HTTPClient(new x402Client().register('eip155:*', scheme));
  const url = `${sellerUrl}${PATH}?${QUERY}`;
  return async () => {
    const challenge = await fetch(url);
    const required = client.getPaymentRequiredResponse((name) => challenge.headers.get(name), await challenge.json());
    const headers = client.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
    const answer = await fetch(url, { headers });
    return answer.ok && (await answer.text()) !== '';
  };
}
