import { HTTPFacilitatorClient } from '@x402/core/server';
import { withBazaar } from '@x402/extensions/bazaar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, openBuyer } from '../../scripts/market/buyer.ts';
import { buildExample } from '../../scripts/market/feed.ts';
import { type Market, startMarket } from '../../scripts/market/market.ts';
import { type Catalogue, openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { listPayableTerms } from '../../src/evidence/terms.ts';
import { getRouteUrl } from '../../src/model/route.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { serveOnLoopback } from '../http/loopback.ts';
import { buy, openSdkClient } from '../market/sdk-buyer.ts';
import { declareListings } from '../written.ts';

const SOLANA = {
  network: 'solana',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  pay_to: 'CKPKJWNdJEqa81x7CkZ14BVPiY6y16Sxs7owznqtWYp5',
} as const;

/** What a buyer needs of every payable route of a catalogue, by method and address. */
async function listSold(catalogue: Catalogue) {
  return (await listListings(catalogue))
    .flatMap(({ base_url, routes }) =>
      routes.map((route) => ({
        key: `${route.method} ${getRouteUrl(base_url, route.path)}`,
        offers: listPayableTerms(route)
          .map(({ network, scheme, asset, amount, pay_to, max_timeout_seconds, x402_version }) =>
            [network, scheme, asset, amount, pay_to, max_timeout_seconds, x402_version].join(' '),
          )
          .sort(),
        input: route.input_schema,
        output: route.output_schema,
        example: route.example,
        description: route.description,
        mime_type: route.mime_type,
      })),
    )
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

describe('a catalogue that another one imports from', () => {
  it('brings over the same routes, prices, payees and declarations', async () => {
    const catalogue = await makeCatalogue();
    const body = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    const query = { type: 'object', properties: { days: { type: 'integer' }, all: { type: 'boolean' } } };
    await declareListings(catalogue, [
      makeDeclaration({
        routes: [
          makeRoute({
            input_schema: { type: 'object', properties: { queryParams: query } },
            example: { query: { days: '7', all: 'true' } },
          }),
          makeRoute({
            path: '/v1/days/{day}?unit=c',
            terms: [makeTerms({ amount: 1 }), makeTerms({ ...SOLANA, amount: 2 })],
          }),
          makeRoute({
            method: 'POST',
            path: '/v1/days/{day}?unit=c',
            input_schema: { type: 'object', properties: { body } },
            output_schema: { ...body, examples: [{ text: 'hallo' }] },
            example: { body: { text: 'hello' }, headers: { 'x-tier': 'gold' } },
          }),
          makeRoute({ method: 'DELETE', path: '/v1/days', description: '', mime_type: null }),
        ],
      }),
      makeDeclaration({
        slug: 'old-weather',
        title: 'Погода',
        base_url: 'https://weather.example-provider.com/base?tier=1',
        routes: [makeRoute({ method: 'PUT', path: '/now', terms: [makeTerms({ x402_version: 1, scheme: 'upto' })] })],
      }),
    ]);
    const { url } = await serveOnLoopback(catalogue);
    const { file, runJson } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
    const { json } = await runJson('import', '--bazaar', `${url}/discovery/resources`);
    expect(json).toMatchObject({ complete: true, items: { received: 5, taken: 5, duplicates: 0, refused: 0 } });
    const copy = await openCatalogueForReading(file);
    expect(await listSold(copy)).toEqual(await listSold(catalogue));
    await copy.close();
  });
});

describe('a buyer with nothing but the x402 SDK', () => {
  let market: Market;
  let buyer: Buyer;
  beforeAll(async () => {
    market = await startMarket({ solana: false });
    buyer = await openBuyer(market);
  });
  afterAll(() => market.stop());

  it('finds a resource here, pays its seller and has the product, whichever version the seller speaks', async () => {
    const { file, runJson } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
    expect((await runJson('import', '--bazaar', market.feedUrl)).code).toBe(0);
    const catalogue = await openCatalogueForReading(file);
    const { url } = await serveOnLoopback(catalogue);
    const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url })).extensions;
    const { items } = await bazaar.listResources({ network: 'eip155:8453', scheme: 'exact' });
    // One seller takes the money before it works, and then fails. Ports are chosen anew, so any may be the first.
    const failing = market.providers.find(({ plan }) => plan.settlesFirst)?.url ?? '';
    expect(failing).not.toBe('');
    for (const version of [1, 2]) {
      const wanted = items.find((item) => item.x402Version === version && !item.resource.startsWith(`${failing}/`));
      const words = `${wanted?.description} ${wanted?.resource.replace(/.*\//, '')}`;
      const { resources } = await bazaar.search({ query: words.slice(0, 200), network: 'eip155:8453' });
      const found = resources[0];
      if (!found) throw new Error('the search finds nothing');
      expect(found).toEqual(wanted);
      const { required, response, receipt } = await buy(openSdkClient(buyer), buildRequest(market, found));
      expect(required.x402Version).toBe(version);
      expect(found.accepts.map(formatOffer)).toContain(formatOffer(required.accepts[0]));
      expect(response.status).toBe(200);
      expect(receipt).toMatchObject({ success: true });
    }
    await catalogue.close();
  });
});

interface Declared {
  info: { input: { method: string; queryParams?: Record<string, unknown>; body?: unknown } };
}

/** Builds the request that a resource declares; sellers of version 1 describe theirs and give no example, so theirs is known. */
function buildRequest(
  { providers }: Market,
  { resource, extensions = {} }: { resource: string; extensions?: Record<string, unknown> },
): [string, RequestInit] {
  const { method, queryParams, body } = (extensions.bazaar as Declared).info.input;
  for (const { url, plan } of providers) {
    const route = plan.routes.find(({ path }) => `${url}${path}` === resource);
    if (route && !queryParams && body === undefined) return buildExample(url, route);
  }
  const url = new URL(resource);
  for (const [name, value] of Object.entries(queryParams ?? {})) url.searchParams.set(name, String(value));
  if (body === undefined) return [url.href, { method }];
  return [url.href, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }];
}

/** Writes what is paid and to whom; version 1 has the amount under another name, and accounts may differ in case. */
function formatOffer(offer: object | undefined): string {
  const fields: { amount?: unknown; maxAmountRequired?: unknown; asset?: unknown; payTo?: unknown } = { ...offer };
  return `${fields.amount ?? fields.maxAmountRequired} ${fields.asset} ${fields.payTo}`.toLowerCase();
}
