import { Validator } from '@cfworker/json-schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, openBuyer } from '../../scripts/market/buyer.ts';
import { buildExample, fetchExample } from '../../scripts/market/feed.ts';
import { getProvider, type Market, startMarket } from '../../scripts/market/market.ts';
import { PLANS } from '../../scripts/market/providers/plans.ts';
import type { NetworkKey } from '../../src/model/network.ts';
import { readApiDocument } from '../../src/sources/api-document.ts';
import { buy, openSdkClient } from './sdk-buyer.ts';

let market: Market;
let buyer: Buyer;

beforeAll(async () => {
  market = await startMarket();
  buyer = await openBuyer(market);
});
afterAll(() => market.stop());

const getBalance = (network: NetworkKey, owner: string) =>
  network === 'base' ? market.base.getBalance(owner) : (market.solana?.getBalance(owner) ?? -1n);

const openClient = (network: NetworkKey) => openSdkClient(buyer, { network, solanaRpcUrl: market.solana?.rpcUrl });

const honest = PLANS.filter(({ settlesFirst }) => !settlesFirst).flatMap((plan) =>
  plan.routes.flatMap((route) => plan.networks.map((network) => ({ plan, route, network }))),
);

describe('an honest provider', () => {
  it.each(honest.map((one) => [`${one.plan.key} ${one.route.path}`, one.plan.version, one.network, one] as const))(
    '%s (x402 v%i) takes money on %s and gives what it declares',
    async (_name, version, network, { plan, route }) => {
      const { url, payees } = getProvider(market, plan.key);
      const mine = network === 'base' ? buyer.evm.address : buyer.solana.address;
      const before = [await getBalance(network, mine), await getBalance(network, payees[network])] as const;
      const { required, response, receipt } = await buy(openClient(network), buildExample(url, route));
      expect(required.x402Version).toBe(version);
      expect(response.status).toBe(200);
      const product: unknown = await response.json();
      expect(new Validator(route.outputSchema).validate(product).errors).toEqual([]);
      expect(receipt).toMatchObject({ success: true, payer: mine });
      expect(receipt?.transaction).toMatch(network === 'base' ? /^0x[0-9a-f]{64}$/ : /^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
      const price = BigInt(route.price);
      expect(await getBalance(network, mine)).toBe(before[0] - price);
      expect(await getBalance(network, payees[network])).toBe(before[1] + price);
    },
  );

  it('takes nothing for a request that is wrong', async () => {
    const { url, plan, payees } = getProvider(market, 'text-tools');
    const route = { ...(plan.routes[0] as (typeof plan.routes)[number]), exampleInput: {} };
    const before = await market.base.getBalance(payees.base);
    const { response, receipt } = await buy(openClient('base'), buildExample(url, route));
    expect(response.status).toBe(400);
    expect(receipt).toBeUndefined();
    expect(await market.base.getBalance(payees.base)).toBe(before);
  });

  it('that checks requests first answers a wrong one with 400 before asking for money', async () => {
    const { url, plan } = getProvider(market, 'loan-desk');
    const [route] = plan.routes;
    if (!route) throw new Error('the provider sells nothing');
    expect((await fetchExample(url, route)).status).toBe(402);
    const wrong = await fetchExample(url, { ...route, exampleInput: { principal: -1 } });
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toEqual({ error: expect.stringContaining('principal') });
  });
});

describe('the provider that fails', () => {
  it('keeps the money and answers 500, receipt in hand', async () => {
    const { url, plan, payees } = getProvider(market, 'forecast');
    const [route] = plan.routes;
    if (!route) throw new Error('the provider sells nothing');
    const { response, receipt } = await buy(openClient('base'), buildExample(url, route));
    expect(response.status).toBe(500);
    expect(receipt).toMatchObject({ success: true, payer: buyer.evm.address });
    expect(await market.base.getBalance(payees.base)).toBe(BigInt(route.price));
  });
});

describe('what the market tells of itself', () => {
  const reading = { base_url: null, allowPrivateNetworks: true, now: '2026-11-01T00:00:00.000Z' };
  const readDocument = async (url: string) => {
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
    const read = readApiDocument(bytes, { ...reading, name: url, url });
    if ('code' in read) throw new Error(read.message);
    return read;
  };

  it.each(PLANS.map((plan) => [plan.key, plan] as const))('%s has a document to import it from', async (key, plan) => {
    const { url, payees, documentUrl } = getProvider(market, key);
    const { declarations, findings } = await readDocument(documentUrl);
    expect(findings.filter(({ severity }) => severity === 'refused')).toEqual([]);
    expect(declarations.map(({ base_url, title }) => [base_url, title])).toEqual([[url, plan.title]]);
    const routes = declarations[0]?.routes ?? [];
    expect(routes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      plan.routes.map(({ method, path }) => `${method} ${path}`).sort(),
    );
    for (const { path, terms, example, output_schema } of routes) {
      const sold = plan.routes.find((route) => route.path === path);
      expect(terms.map(({ network, amount, pay_to }) => [network, amount, pay_to])).toEqual(
        plan.networks.map((network) => [
          network,
          sold?.price,
          network === 'base' ? payees.base.toLowerCase() : payees.solana,
        ]),
      );
      expect(example).not.toBeNull();
      expect(output_schema).not.toBeNull();
    }
  });

  it('has a feed of everything that is sold, by pages', async () => {
    const page: { items: { resource: string }[]; pagination: { total: number } } = await (
      await fetch(`${market.feedUrl}?limit=4&offset=8`)
    ).json();
    const sold = PLANS.flatMap(({ routes }) => routes).length;
    expect(page.pagination.total).toBe(sold);
    expect(page.items).toHaveLength(sold - 8);
  });
});

describe('the market', () => {
  it('answers nobody after it was stopped', async () => {
    const small = await startMarket({ solana: false, plans: PLANS.slice(3, 4) });
    const [provider] = small.providers;
    expect(provider?.plan.networks).toEqual(['base']);
    await small.stop();
    for (const url of [small.base.rpcUrl, small.facilitator.url, small.feedUrl, provider?.url ?? '']) {
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    }
  });
});
