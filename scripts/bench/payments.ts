import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { privateKeyToAccount } from 'viem/accounts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclaration } from '../../src/catalogue/write/declarations.ts';
import { openLedger } from '../../src/catalogue/write/payments.ts';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import { openJournal } from '../../src/paying/journal.ts';
import { payForCall } from '../../src/paying/pay.ts';
import { fetchQuote } from '../../src/paying/quote.ts';
import { buildRow, getMedian, type Row } from './measuring.ts';
import type { MarketPlace } from './payment-market.ts';
import { buildSyntheticDeclaration, createSyntheticCatalogue } from './synthetic.ts';
import type { Run } from './world.ts';

/** Buys once. Returns whether the payment settled and the product came. */
type Buy = () => Promise<boolean>;

const SLUG = 'bench-seller';
const PATH = '/v1/distance';
const QUERY = new URLSearchParams({ from: '52.52,13.405', to: '48.8566,2.3522' });
const PRICE = 2_000;

/** Payments in each round. */
const PAYMENTS = 20;

/**
 * Measures the verifier's payments on a local chain: quote, attempt on disk, signature, paid call, proof from the chain and
 * published receipt. Beside it the SDK's client buys the same, but records and checks nothing. Market and chain run in a
 * process of their own.
 */
export async function measurePayments({ folder, rounds }: Run, listings: number): Promise<Row[]> {
  const market = fork(fileURLToPath(new URL('./payment-market.ts', import.meta.url)));
  const nodeFetch = globalThis.fetch;
  try {
    const [place] = (await once(market, 'message')) as [MarketPlace];
    const watch = openStopwatch();
    globalThis.fetch = (input, init) => {
      const isChain = String(input instanceof Request ? input.url : input).startsWith(place.rpcUrl);
      return watch.wait(isChain ? 'chain' : 'seller', () => nodeFetch(input, init));
    };
    const verifier = await openVerifier(join(folder, 'payments.sqlite'), { listings, place, watch });
    const buyWithSdk = openSdkClient(place);
    const [ours, theirs]: [Payment[], Payment[]] = [[], []];
    // The first payment of each, in which code is compiled, is not counted.
    for (let payment = 0; payment <= Math.min(5, rounds) * PAYMENTS; payment += 1) {
      const pair = { ours: await time(verifier.buy, watch), theirs: await time(buyWithSdk, watch) };
      if (payment === 0) continue;
      ours.push(pair.ours);
      theirs.push(pair.theirs);
    }
    await verifier.close();
    return listRows(listings, ours, theirs);
  } finally {
    globalThis.fetch = nodeFetch;
    market.disconnect();
    await once(market, 'exit');
  }
}

/** Milliseconds of one payment, and the part of them spent waiting for the seller and for the chain. */
interface Payment {
  readonly ms: number;
  readonly seller: number;
  readonly chain: number;
}

async function time(buy: Buy, watch: Stopwatch): Promise<Payment> {
  watch.take();
  const started = performance.now();
  if (!(await buy())) throw new Error('A payment failed.');
  return { ms: performance.now() - started, ...watch.take() };
}

function listRows(listings: number, ours: readonly Payment[], theirs: readonly Payment[]): Row[] {
  const base = { listings, beside: 'SDK client' };
  const row = (what: string, pick: (payment: Payment) => number) => {
    const medians = { ours: getMedian(ours.map(pick)), theirs: getMedian(theirs.map(pick)) };
    return buildRow({ ...base, what, unit: 'ms', ...medians });
  };
  const getRate = (payments: readonly Payment[]) =>
    (1000 * payments.length) / payments.reduce((sum, { ms }) => sum + ms, 0);
  return [
    buildRow({ ...base, what: 'paid calls', unit: 'calls/s', ours: getRate(ours), theirs: getRate(theirs) }),
    row('a paid call', ({ ms }) => ms),
    row('of it waiting for the seller', ({ seller }) => seller),
    row('of it waiting for the chain', ({ chain }) => chain),
    row('of it signing, recording and checking', ({ ms, seller, chain }) => ms - seller - chain),
  ];
}

/** Adds up the time spent waiting for others. If waits overlap, each moment counts once. */
interface Stopwatch {
  wait<Result>(whom: 'seller' | 'chain', work: () => Promise<Result>): Promise<Result>;
  /** Returns the milliseconds waited since the last call. */
  take(): Record<'seller' | 'chain', number>;
}

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

/** Opens the verifier, with a catalogue of synthetic listings and that of the seller. */
async function openVerifier(
  file: string,
  { listings, place, watch }: { listings: number; place: MarketPlace; watch: Stopwatch },
): Promise<{ buy: Buy; close: () => Promise<void> }> {
  const catalogue = await createSyntheticCatalogue(file, listings);
  const pay_to = place.payee.toLowerCase();
  const terms = { network: 'base', scheme: 'exact', asset: NETWORKS.base.usdc, amount: PRICE, pay_to } as const;
  const known = [{ ...terms, max_timeout_seconds: 60, x402_version: 2 as const }];
  const example = buildSyntheticDeclaration(1);
  const routes = example.routes
    .slice(0, 1)
    .map((route) => ({ ...route, method: 'GET' as const, path: PATH, terms: known }));
  await writeCatalogue(catalogue, new Date().toISOString(), (writing) =>
    recordDeclaration(writing, { ...example, base_url: place.sellerUrl, slug: SLUG, routes }),
  );
  const route = (await findListing(catalogue, { slug: SLUG }))?.routes[0];
  if (!route) throw new Error('the seller is not on record');
  const guarded = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'bench' });
  const client = {
    ...guarded,
    fetch: (...asked: Parameters<typeof guarded.fetch>) => watch.wait('seller', () => guarded.fetch(...asked)),
  };
  const rail = openEvmRail(NETWORKS.base, { privateKey: place.privateKey, rpcUrls: [place.rpcUrl] });
  const journal = openJournal(`${catalogue.address}.journal`);
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
    await catalogue.close();
  };
  return { buy, close };
}

/** Opens the SDK's client as its README does: it asks, signs the terms of the 402, and asks again with the payment. */
function openSdkClient({ sellerUrl, privateKey }: MarketPlace): Buy {
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
