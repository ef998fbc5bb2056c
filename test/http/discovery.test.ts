import { isPaymentRequirements } from '@x402/core/schemas';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec, withBazaar } from '@x402/extensions/bazaar';
import { describe, expect, it } from 'vitest';
import { buildSyntheticDeclaration } from '../../scripts/bench/synthetic.ts';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { withdrawDeclarations } from '../../src/catalogue/write/declarations.ts';
import { discoveryFindings, discoveryResources } from '../../src/views/discovery.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW, recordVerified } from '../builders.ts';
import { openCoinbase } from '../coinbase.ts';
import { connectModern } from '../mcp/clients.ts';
import { makeCopied } from '../recorded.ts';
import { recordProbed } from '../sampled.ts';
import { declareListings, recordDeclaration } from '../written.ts';
import { serveOnLoopback } from './loopback.ts';
import { serveLive } from './serving.ts';

const SOLANA = {
  network: 'solana',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  pay_to: 'CKPKJWNdJEqa81x7CkZ14BVPiY6y16Sxs7owznqtWYp5',
} as const;

const BODY = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

/** Two listings: one with routes of every kind, one of version 1 alone. */
function makeMarket(): Promise<Catalogue> {
  const routes = [
    makeRoute({
      example: { query: { days: '7' } },
      input_schema: { properties: { queryParams: { properties: { days: { type: 'integer' } } } } },
    }),
    makeRoute({
      method: 'POST',
      path: '/v1/translate?mode=fast',
      description: 'Translates a text.',
      input_schema: { type: 'object', properties: { body: BODY } },
      example: { body: { text: 'hello' } },
      output_schema: { type: 'object', properties: { text: { type: 'string' } }, examples: [{ text: 'hallo' }] },
      terms: [makeTerms(), makeTerms({ ...SOLANA, amount: 2500, max_timeout_seconds: null })],
    }),
    makeRoute({ path: '/v1/unknown-payee', terms: [makeTerms({ pay_to: null })] }),
    makeRoute({
      method: 'POST',
      path: '/v1/summary',
      description: 'Sums up.',
      terms: [makeTerms({ scheme: 'upto', amount: 9000 })],
    }),
  ];
  const old = makeDeclaration({
    slug: 'old-weather',
    title: 'Старая погода',
    tagline: 'Of one city.',
    base_url: 'https://weather.example-provider.com/base',
    description: 'The weather of one city.',
    routes: [
      makeRoute({
        path: '/weather/{city}',
        description: '',
        terms: [makeTerms({ x402_version: 1, pay_to: `0x${'3'.repeat(40)}` })],
      }),
    ],
  });
  return makeCopied('a market of every kind', async (made) => {
    await declareListings(made, [makeDeclaration({ routes }), old]);
    await recordVerified(made, 'example-prices', '/v1/price/:symbol');
  });
}

/** The x402 SDK's own client of a facilitator, pointed at the catalogue. */
async function openBazaar(catalogue: Catalogue) {
  const { url } = await serveOnLoopback(catalogue);
  return withBazaar(new HTTPFacilitatorClient({ url })).extensions.bazaar;
}

describe("the x402 SDK's discovery client", () => {
  it('is not offered what every source has withdrawn, unless it was seen in a 402', async () => {
    const catalogue = await makeMarket();
    const { source } = makeDeclaration();
    await writeCatalogue(catalogue, NOW, (writing) => withdrawDeclarations(writing, source, new Set()));
    const bazaar = await openBazaar(catalogue);
    expect((await bazaar.listResources()).pagination.total).toBe(0);
    await recordProbed(catalogue, 'example-prices', [{ at: NOW, terms: [makeTerms({ max_timeout_seconds: null })] }]);
    const { items } = await (await openBazaar(catalogue)).listResources();
    expect(items.map(({ resource }) => resource)).toEqual(['https://api.prices.example-provider.com/v1/price/:symbol']);
    // The 402 asked for longer than a day, which is not the default of those who say nothing.
    expect(items[0]?.accepts).toMatchObject([{ amount: '1000', maxTimeoutSeconds: 86_400 }]);
  });

  it('lists every route that can be paid for, each as the SDK knows resources', async () => {
    const { items, pagination, x402Version } = await (await openBazaar(await makeMarket())).listResources();
    expect(x402Version).toBe(2);
    expect(pagination).toEqual({ limit: 100, offset: 0, total: 4 });
    expect(items.map(({ resource, x402Version: version }) => [resource, version])).toEqual([
      ['https://api.prices.example-provider.com/v1/price/:symbol', 2],
      ['https://api.prices.example-provider.com/v1/summary', 2],
      ['https://api.prices.example-provider.com/v1/translate?mode=fast', 2],
      ['https://weather.example-provider.com/base/weather/{city}', 1],
    ]);
    for (const { accepts, extensions = {} } of items) {
      expect(accepts.every((offer) => isPaymentRequirements(offer))).toBe(true);
      const { bazaar } = extensions as { bazaar: Parameters<typeof validateDiscoveryExtension>[0] };
      expect(validateDiscoveryExtension(bazaar)).toEqual({ valid: true });
      expect(validateDiscoveryExtensionSpec({ ...bazaar })).toEqual({ valid: true });
    }
  });

  it('is told how to call a route, what it costs and what is known of it', async () => {
    const { items } = await (await openBazaar(await makeMarket())).listResources({ limit: 3 });
    const [price, summary, translate] = items;
    expect(price).toMatchObject({
      serviceName: 'Example Prices',
      tags: ['finance'],
      lastUpdated: '2026-11-01T00:00:00.000Z',
      extensions: {
        bazaar: { info: { input: { queryParams: { days: 7 } } }, routeTemplate: '/v1/price/:symbol' },
        'agent-payable': {
          info: {
            slug: 'example-prices',
            page_url: 'https://catalogue.example/api/example-prices',
            verification: 'settlement-verified',
            receipt_url: expect.stringContaining('https://catalogue.example/agent/receipts/'),
            terms: 'declared',
          },
        },
      },
    });
    expect(summary?.accepts).toMatchObject([{ scheme: 'upto', amount: '9000', extra: {} }]);
    expect(summary?.extensions?.bazaar).not.toHaveProperty('info.input.body');
    expect(translate).toMatchObject({
      accepts: [
        { scheme: 'exact', network: 'eip155:8453', amount: '1000', extra: { name: 'USD Coin', version: '2' } },
        { network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', amount: '2500', maxTimeoutSeconds: 300 },
      ],
      extensions: {
        bazaar: {
          info: {
            input: { type: 'http', method: 'POST', bodyType: 'json', body: { text: 'hello' } },
            output: { type: 'json', example: { text: 'hallo' } },
          },
          schema: { properties: { input: { properties: { body: BODY } } } },
        },
        'agent-payable': { info: { verification: 'unverified', receipt_url: null } },
      },
    });
  });

  it('filters by what one and the same offer is', async () => {
    const bazaar = await openBazaar(await makeMarket());
    const count = async (params: Parameters<typeof bazaar.listResources>[0]) =>
      (await bazaar.listResources(params)).pagination.total;
    expect(await count({ type: 'http', extensions: 'bazaar' })).toBe(4);
    expect(await count({ extensions: 'agent-payable' })).toBe(4);
    expect(await count({ type: 'mcp' })).toBe(0);
    expect(await count({ extensions: 'sign-in-with-x' })).toBe(0);
    expect(await count({ network: 'eip155:8453' })).toBe(4);
    expect(await count({ network: SOLANA.network })).toBe(1);
    expect(await count({ network: 'eip155:84532' })).toBe(0);
    expect(await count({ scheme: 'upto' })).toBe(1);
    expect(await count({ payTo: `0x${'3'.repeat(40)}` })).toBe(1);
    expect(await count({ payTo: SOLANA.pay_to })).toBe(1);
    expect(await count({ payTo: SOLANA.pay_to.toLowerCase() })).toBe(0);
    expect(await count({ payTo: SOLANA.pay_to, network: 'eip155:8453' })).toBe(0);
  });

  it('searches in plain words, the route that says most of them first', async () => {
    const bazaar = await openBazaar(await makeMarket());
    const { resources, partialResults, pagination } = await bazaar.search({ query: 'price of a symbol, translated' });
    expect(resources.map(({ resource }) => new URL(resource).pathname)).toEqual([
      '/v1/price/:symbol',
      '/v1/translate',
      '/v1/summary',
    ]);
    expect(partialResults).toBe(false);
    expect(pagination).toEqual({ limit: 3, cursor: null });
    const filtered = await bazaar.search({ query: 'price', scheme: 'upto', network: 'eip155:8453', type: 'http' });
    expect(filtered.resources.map(({ resource }) => new URL(resource).pathname)).toEqual(['/v1/summary']);
    expect((await bazaar.search({ query: 'zeppelin' })).resources).toEqual([]);
  });

  it('follows pages to the end, of the list by offset and of a search by cursor, and meets everything once', async () => {
    const catalogue = await makeCatalogue();
    await writeCatalogue(catalogue, NOW, async (writing) => {
      for (let index = 0; index < 150; index += 1) await recordDeclaration(writing, buildSyntheticDeclaration(index));
    });
    const bazaar = await openBazaar(catalogue);
    const all = (await bazaar.listResources({ limit: 100_000 })).items;
    for (const network of [undefined, 'solana']) {
      const wanted = all.filter(
        ({ accepts }) => !network || accepts.some((offer) => offer.network.startsWith(network)),
      );
      const listed: typeof all = [];
      for (let offset = 0, total = 1; offset < total; offset += 37) {
        const page = await bazaar.listResources({ limit: 37, offset, ...(network && { network }) });
        listed.push(...page.items);
        total = page.pagination.total;
      }
      expect(listed).toEqual(wanted);
    }
    expect(new Set(all.map((item) => JSON.stringify(item))).size).toBe(all.length);
    expect((await bazaar.listResources({ offset: 5000 })).items).toEqual([]);

    const found: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await bazaar.search({ query: 'weather', limit: 6, ...(cursor && { cursor }) });
      expect(page.resources.length).toBeLessThanOrEqual(6);
      expect(page.partialResults || !page.pagination?.cursor).toBe(true);
      found.push(
        ...page.resources.map(({ resource, extensions = {} }) => `${JSON.stringify(extensions.bazaar)} ${resource}`),
      );
      cursor = page.pagination?.cursor;
    } while (cursor);
    const whole = await bazaar.search({ query: 'weather', limit: 100 });
    const { pagination } = await bazaar.search({ query: 'weather', limit: 6 });
    // A page of one search is not in the middle of another.
    await expect(
      bazaar.search({ query: 'weather', network: 'eip155:8453', limit: 6, cursor: String(pagination?.cursor) }),
    ).rejects.toThrow(/cursor/);
    expect(new Set(found).size).toBe(found.length);
    expect(Math.min(found.length, 100)).toBe(whole.resources.length);
  });
});

describe('the paths that clients of a facilitator ask', () => {
  it('have nothing settled and nothing bundled, as the SDK and Coinbase’s client read it', async () => {
    const { url } = await serveOnLoopback(await makeMarket());
    const nothing = { kinds: [], extensions: [], signers: {} };
    for (const base of [url, `${url}/v2/x402`])
      expect(await withBazaar(new HTTPFacilitatorClient({ url: base })).getSupported()).toEqual(nothing);
    expect(await (await fetch(`${url}/discovery/supported`)).json()).toEqual(nothing);
    const coinbase = await openCoinbase(url);
    expect(await coinbase.listX402Bundles()).toEqual({ bundles: [] });
    expect(await (await fetch(`${url}/discovery/bundles`)).json()).toEqual({ bundles: [] });
  });

  it('are those of MCP, too, with the same answers, methods and refusals at each', async () => {
    const { url } = await serveOnLoopback(await makeMarket());
    const coinbase = await openCoinbase(url);
    const params = { name: 'search_listings', arguments: { q: 'weather' } };
    const { result } = await coinbase.postX402DiscoveryMcp({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    expect(result.structuredContent).toMatchObject({ listings: [{ slug: 'old-weather' }] });
    for (const path of ['/mcp', '/discovery/mcp', '/v2/x402/discovery/mcp']) {
      const client = await connectModern(new URL(path, url));
      expect([path, (await client.call('search_listings', { q: 'weather' })).structured]).toEqual([
        path,
        result.structuredContent,
      ]);
      const got = await fetch(url + path);
      expect([path, got.status, got.headers.get('allow')]).toEqual([path, 405, 'POST, OPTIONS']);
    }
  });
});

describe('the discovery endpoints', () => {
  it('find a part of an address wherever it is, page by page, in the list and in a search without words', async () => {
    const catalogue = await makeCatalogue();
    await writeCatalogue(catalogue, NOW, async (writing) => {
      for (let index = 0; index < 120; index += 1) await recordDeclaration(writing, buildSyntheticDeclaration(index));
    });
    const { get } = await serveLive(catalogue);
    const read = async (path: string, query: object) =>
      (await get(`/discovery/${path}?${new URLSearchParams({ ...query })}`)).json();
    const all: { resource: string }[] = [];
    for (let total = 1; all.length < total; ) {
      const { items, pagination } = await read('resources', { limit: '200', offset: String(all.length) });
      all.push(...items);
      total = pagination.total;
    }
    // Of every listing, of some, of the last alone, and of none.
    const { host } = new URL(all.at(-1)?.resource ?? '');
    for (const urlSubstring of ['/V1/', 'weather', host, 'zeppelin']) {
      const wanted = all.filter(({ resource }) => resource.toLowerCase().includes(urlSubstring.toLowerCase()));
      expect([urlSubstring, wanted.length > 0]).toEqual([urlSubstring, urlSubstring !== 'zeppelin']);
      const listed: typeof all = [];
      for (let offset = 0, total = 1; offset < total; offset += 80) {
        const page = await read('resources', { urlSubstring, limit: '80', offset: String(offset) });
        listed.push(...page.items);
        total = page.pagination.total;
        expect(total).toBe(wanted.length);
      }
      expect(listed).toEqual(wanted);
      const found: typeof all = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await read('search', { urlSubstring, limit: '20', ...(cursor && { cursor }) });
        found.push(...page.resources);
        cursor = page.pagination.cursor;
      }
      expect(found).toEqual(wanted);
    }
  });

  it('answer in the documented shape, compressed, and with 304 until something changes', async () => {
    const { get } = await serveLive(await makeMarket());
    const list = await get('/discovery/resources', { 'Accept-Encoding': 'gzip' });
    expect(list.headers.get('content-encoding')).toBe('gzip');
    expect(list.headers.get('x-catalogue-revision')).toBe('2');
    expect(discoveryResources.parse(await (await get('/discovery/resources')).json()).items).toHaveLength(4);
    expect(discoveryFindings.parse(await (await get('/discovery/search?query=price')).json()).resources).toHaveLength(
      3,
    );
    const etag = list.headers.get('etag') ?? '';
    expect((await get('/discovery/resources', { 'If-None-Match': etag })).status).toBe(304);
    expect((await get('/discovery/resources?offset=1', { 'If-None-Match': etag })).status).toBe(200);
  });

  it.each([
    ['/discovery/resources?ofset=1', 'unknown_parameter', 'Did you mean offset?'],
    ['/discovery/resources?limit=0', 'bad_parameter', 'limit takes a whole number from 1 on.'],
    ['/discovery/resources?offset=-1', 'bad_parameter', 'offset takes a whole number from 0 on.'],
    ['/discovery/resources?type=htpp', 'bad_parameter', 'Did you mean http?'],
    ['/discovery/resources?network=bas', 'bad_parameter', 'eip155:8453'],
    ['/discovery/resources?payTo=me', 'bad_parameter', 'an account on Base'],
    ['/discovery/search?query=', 'bad_parameter', 'query takes 1 to 2000 characters.'],
    ['/discovery/search?query=a&cursor=zzz', 'bad_cursor', 'next_cursor'],
    ['/discovery/search?urlSubstring=weather&cursor=zzz', 'bad_cursor', 'next_cursor'],
    ['/discovery/search?query=a&query=b', 'repeated_parameter', 'once'],
  ])('refuse %s as %s', async (path, code, hint) => {
    const response = await (await serveLive(await makeMarket())).get(path);
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ code, hint: expect.stringContaining(hint) });
  });
});
