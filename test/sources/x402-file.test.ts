import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { declaration } from '../../src/model/declaration.ts';
import { startProcessorTime } from '../processor-time.ts';
import { skipWithout } from '../skipped.ts';
import { makeOffer } from './bazaar/items.ts';
import { listFindings, makeDocument, readDocument, takeDocument, takeMerged } from './openapi/documents.ts';

const URL_OF_FILE = 'https://api.tides-of-tests.com/.well-known/x402';
const AT = { url: URL_OF_FILE, name: URL_OF_FILE };

describe('a /.well-known/x402 file', () => {
  it('may have the address of a route in the extra of its offer', () => {
    const extra = { resource: 'https://api.tides-of-tests.com/v1/tides' };
    const { declarations } = takeDocument({ x402Version: 2, items: [{ accepts: [{ ...makeOffer(), extra }] }] }, AT);
    expect(declarations.flatMap(({ routes }) => routes.map(({ path }) => path))).toEqual(['/v1/tides']);
  });

  it('of whole items becomes a listing with their terms and the texts of the file', () => {
    const items = [
      {
        resource: { url: 'https://api.tides-of-tests.com/v1/heights', description: 'Heights.' },
        method: 'GET',
        accepts: [makeOffer()],
      },
      { resource: '/v1/ports', method: 'POST', x402Version: 2, accepts: [makeOffer({ amount: '700' })] },
      { resource: 'https://api.tides-of-tests.com/v1/free', method: 'GET', accepts: [] },
    ];
    const file = {
      x402Version: 2,
      publisher: { name: 'Tides of Tests', description: 'All about tides. And ports.' },
      items,
    };
    const { kind, declarations, findings, items: counts } = takeDocument(file, AT);
    expect(kind).toBe('x402_file');
    expect(declarations).toMatchObject([
      {
        source: { kind: 'x402_file', name: URL_OF_FILE, observed_at: null, speaker: null },
        base_url: 'https://api.tides-of-tests.com',
        title: 'Tides of Tests',
        tagline: 'All about tides.',
        routes: [
          { method: 'GET', path: '/v1/heights', description: 'Heights.', terms: [{ network: 'base' }] },
          { method: 'POST', path: '/v1/ports', terms: [{ amount: 700 }] },
        ],
      },
    ]);
    expect(counts).toEqual({ received: 3, taken: 2, duplicates: 0, refused: 1 });
    expect(findings.filter(({ severity }) => severity === 'refused')).toMatchObject([{ code: 'no_offers' }]);
  });

  it('without a name has the one that its items give', () => {
    const name = (...names: (string | undefined)[]) => {
      const resources = names.map((serviceName, at) => ({
        resource: `https://api.tides-of-tests.com/v1/${at}`,
        accepts: [makeOffer()],
        serviceName,
      }));
      const [first] = takeDocument({ resources }, AT).declarations;
      return [first?.title, first?.service_name];
    };
    expect(name('Tide Tables', 'Tide Tables', undefined)).toEqual(['Tide Tables', 'Tide Tables']);
    expect(name('Tide Tables', 'Tide Tables', 'Moon Phases')).toEqual(['', null]);
    expect(name(undefined)).toEqual(['', null]);
  });

  it('of several hosts has the provider’s name once, and for each host the one that its own routes give', () => {
    const entry = (host: string, path: string, more: object) => ({
      ...{ resource: `https://${host}tides-of-tests.com${path}`, accepts: [makeOffer()] },
      ...more,
    });
    const resources = [
      entry('moon.', '/v1', { metadata: { name: 'Moon Phases' }, description: 'Phases of the moon. By month.' }),
      entry('sea.', '/a', { serviceName: 'Sea Heights', description: 'Heights.' }),
      entry('sea.', '/b', { serviceName: 'Sea Heights', metadata: { name: 'Ports' }, description: 'All by name.' }),
      entry('sun.', '/a', { name: 'Sunrise', description: '' }),
      entry('sun.', '/b', { name: 'Sunset', description: 'Times of sunset.' }),
      { url: 'https://wind.tides-of-tests.com/v1', name: 'Winds', price: '$0.01', tags: ['Sea'], category: 'weather' },
      entry('www.', '/v1', {}),
    ];
    const file = { name: 'Tides of Tests', description: 'Sea and sky. For tests.', resources };
    const { declarations } = takeDocument(file, AT);
    expect(declarations.map(({ base_url, title, tagline }) => [new URL(base_url).host, title, tagline])).toEqual([
      ['moon.tides-of-tests.com', 'Moon Phases', 'Phases of the moon.'],
      ['sea.tides-of-tests.com', 'Sea Heights', ''],
      ['sun.tides-of-tests.com', '', 'Times of sunset.'],
      ['wind.tides-of-tests.com', 'Winds', ''],
      ['www.tides-of-tests.com', 'Tides of Tests', 'Sea and sky.'],
    ]);
    expect(new Set(declarations.map(({ provider_name }) => provider_name))).toEqual(new Set(['Tides of Tests']));
    expect(declarations[3]).toMatchObject({ service_name: 'Winds', tags: ['sea', 'weather'] });
    expect(declarations.flatMap(({ routes }) => routes.map(({ description }) => description))).toEqual([
      ...['Phases of the moon. By month.', 'Heights.', 'Ports: All by name.', 'Sunrise'],
      ...['Times of sunset.', '', ''],
    ]);
  });

  it('of several services has the name and the line of each that has a host of its own', () => {
    const services = [
      {
        ...{ name: 'Sea Heights', description: 'Heights at sea. Hourly.', baseUrl: 'https://sea.tides-of-tests.com' },
        endpoints: [{ path: '/a', price: '$0.01', name: 'Ports' }, 'GET /b'],
      },
      { title: 'Winds', baseUrl: 'https://wind.tides-of-tests.com', endpoints: [{ path: '/a', price: '$0.01' }, '/b'] },
    ];
    const { declarations } = takeDocument({ name: 'Tides of Tests', services }, AT);
    expect(declarations.map(({ title, tagline, provider_name }) => [title, tagline, provider_name])).toEqual([
      ['Sea Heights', 'Heights at sea.', 'Tides of Tests'],
      ['Winds', '', 'Tides of Tests'],
    ]);
    expect(declarations.flatMap(({ routes }) => routes.map(({ description }) => description))).toEqual([
      ...['Ports', '', '', ''],
    ]);
  });

  it('of a provider that names only itself has the name of its one route', () => {
    const resource = { resource: 'https://api.tides-of-tests.com/v1', name: 'Tide Tables', price: '$0.01' };
    const name = (file: object) => {
      const [first] = takeDocument({ ...file, resources: [resource] }, AT).declarations;
      return [first?.title, first?.provider_name];
    };
    expect(name({ provider: { name: 'Tide House' } })).toEqual(['Tide Tables', 'Tide House']);
    expect(name({ provider: 'Tide House', name: 'Sea Tables' })).toEqual(['Sea Tables', 'Tide House']);
    expect(name({ name: 'Tide House' })).toEqual(['Tide House', 'Tide House']);
  });

  it('of bare addresses becomes a listing of routes without terms', () => {
    const resources = [
      'https://api.tides-of-tests.com/v1/heights',
      'POST /v1/ports/{id}',
      'https://api.tides-of-tests.com/v1/heights',
      'ftp://api.tides-of-tests.com/x',
      'https://10.0.0.1/x',
      'BREW /v1/tea',
      7,
      { url: '/v1/tides', method: 'post', description: 'Tides.' },
      {},
    ];
    const { declarations, items, findings } = takeDocument({ version: 1, resources }, AT);
    expect(
      declarations.flatMap(({ routes }) => routes.map((route) => [route.method, route.path, route.terms])),
    ).toEqual([
      ['GET', '/v1/heights', []],
      ['POST', '/v1/ports/{id}', []],
      ['POST', '/v1/tides', []],
    ]);
    expect(declarations[0]).toMatchObject({ title: '', service_name: null });
    expect(items).toEqual({ received: 9, taken: 3, duplicates: 1, refused: 5 });
    expect(findings.filter(({ severity }) => severity === 'refused').map(({ code }) => code)).toEqual([
      'bad_url',
      'blocked_address',
      'bad_method',
      'not_an_item',
      'no_resource',
    ]);
  });

  it('may be about one resource, or a bare list, or lie on another origin', () => {
    const offer = makeOffer({ resource: 'https://b.tides-of-tests.com/v1/heights' });
    expect(takeDocument({ x402Version: 1, accepts: [offer] }, AT).declarations).toMatchObject([
      { base_url: 'https://b.tides-of-tests.com', routes: [{ path: '/v1/heights', terms: [{ x402_version: 1 }] }] },
    ]);
    expect(takeDocument(['https://api.tides-of-tests.com/a'], AT).declarations).toHaveLength(1);
    expect(readDocument({ resources: 'none' }, AT)).toMatchObject({ code: 'not_api_document' });
  });

  it('is listed under the requested base address', () => {
    const file = { resources: ['https://api.tides-of-tests.com/v1/a', 'https://api.tides-of-tests.com/v2/b'] };
    const { declarations, items } = takeDocument(file, { ...AT, base_url: 'https://api.tides-of-tests.com/v1' });
    expect(declarations).toMatchObject([{ base_url: 'https://api.tides-of-tests.com/v1', routes: [{ path: '/a' }] }]);
    expect(items).toEqual({ received: 2, taken: 1, duplicates: 0, refused: 1 });
  });
});

const PAYEE = '0x1111111111111111111111111111111111111abc';
const SOLANA_PAYEE = 'So11111111111111111111111111111111111111112';

/** Lists the routes of a file as `POST /v1/x base 10000 0x1111`, with the start of the payee. */
function listPrices(file: unknown): string[] {
  return takeDocument(file, AT).declarations.flatMap(({ routes }) =>
    routes.map(({ method, path, terms }) => {
      const offers = terms.map(({ network, amount, pay_to }) => `${network} ${amount} ${pay_to?.slice(0, 6) ?? '-'}`);
      return [method, path, ...offers].join(' ');
    }),
  );
}

describe('a price beside the address', () => {
  it.each([
    ['price and currency', { price: '0.018', currency: 'USDC' }, 18_000],
    ['price with a dollar sign', { price: '$0.001' }, 1_000],
    ['price with its currency', { price: '0.5 USDC' }, 500_000],
    ['price_usd as a number', { price_usd: 0.01 }, 10_000],
    ['priceUsdc', { priceUsdc: '0.02' }, 20_000],
    ['price_per_call', { price_per_call: 0.25 }, 250_000],
    ['pricing with a rate', { pricing: { base_rate: '0.001', asset: 'USDC' } }, 1_000],
    ['price with amount and currency', { price: { amount: '0.03', currency: 'USD' } }, 30_000],
    [
      'price with atomic amount and asset',
      { price: { amount: '3000', asset: { address: '0x8', decimals: 6 } } },
      3_000,
    ],
    ['payment with price', { payment: { price: '0.04', currency: 'USDC' } }, 40_000],
    ['maxAmountRequired', { maxAmountRequired: '5000' }, 5_000],
    ['x402 with amount_atomic', { x402: { amount_atomic: 6000 } }, 6_000],
    ['the first of a list of prices', { pricing: [{ amount: '0.07', asset: 'USDC' }] }, 70_000],
    ['a whole price that an atomic amount confirms', { price: '540', amount: '540000000' }, 540_000_000],
    ['cost in whole USDC', { cost: 2, currency: 'USDC' }, 2_000_000],
    ['decimals beside it', { price: { amount: '10000', currency: 'USDC', decimals: 6 } }, 10_000],
    ['decimals beside a price', { price: '25000', currency: 'USDC', decimals: 6 }, 25_000],
    ['a unit beside it', { price: { amount: 500, unit: 'micro' } }, 500],
    ['micro-USDC', { price: { value: '30000', unit: 'micro-USDC' } }, 30_000],
    ['cents', { price: { amount: 2, unit: 'cents' } }, 20_000],
    ['a fraction beside decimals', { price: { amount: '0.02', currency: 'USDC', decimals: 6 } }, 20_000],
  ])('as %s is read', (_name, price, amount) => {
    const entry = { path: '/v1/heights', method: 'POST', network: 'base', payTo: PAYEE, ...price };
    expect(listPrices({ endpoints: [entry] })).toEqual([`POST /v1/heights base ${amount} 0x1111`]);
  });

  it.each([
    ['that may be atomic', { price: '10000', currency: 'USDC' }, 'ambiguous_price'],
    ['without a currency', { price: 5 }, 'ambiguous_price'],
    ['beside decimals that may be the token’s', { price: 5, currency: 'USDC', decimals: 6 }, 'ambiguous_price'],
    ['in credits', { price: { unit: 'credits', amount: '10.5' } }, 'other_currency'],
    ['that depends', { price: { mode: 'dynamic', amount: '0.5' } }, 'dynamic_price'],
  ])('%s is not guessed', (_name, price, code) => {
    const file = { resources: [{ url: '/v1/heights', method: 'GET', ...price }] };
    expect(listPrices(file)).toEqual(['GET /v1/heights']);
    expect(listFindings(file, AT).map((finding) => finding.code)).toContain(code);
  });

  it.each(['services', 'routes', 'paid_endpoints', 'apis', 'paidHttpResources', 'capability_catalog', 'x402Resources'])(
    'is read of a list named %s',
    (name) => {
      const file = { [name]: [{ route: '/v1/heights', method: 'GET', price: '$0.01', network: 'base' }] };
      expect(listPrices(file)).toEqual(['GET /v1/heights base 10000 -']);
    },
  );

  it('is read of a map by address', () => {
    const endpoints = { 'POST /v1/a': '$0.01', '/v1/b': { method: 'GET', price_usd: 0.02 } };
    expect(listPrices({ endpoints, network: 'base', payTo: PAYEE })).toEqual([
      'POST /v1/a base 10000 0x1111',
      'GET /v1/b base 20000 0x1111',
    ]);
  });

  it.each([
    [{ method: 'POST,GET' }, ['GET', 'POST']],
    [{ methods: ['PUT', 'GET'] }, ['GET', 'PUT']],
    [{ methods: ['usdc', 'GET'] }, ['GET']],
    [{ httpMethod: 'get | post' }, ['GET', 'POST']],
    [{}, ['GET']],
  ])('is for each method of %j', (entry, methods) => {
    const url = 'https://api.tides-of-tests.com/v1/a';
    expect(listPrices({ resources: [{ url, price: '$0.01', ...entry }] })).toEqual(
      methods.map((method) => `${method} /v1/a base 10000 -`),
    );
  });

  it('is read of a map by name, without what is no route', () => {
    const endpoints = {
      quote: 'https://api.tides-of-tests.com/v1/a',
      pack: 'POST /v1/b',
      health: '/health',
      docs: 'x',
    };
    const file = { price_usd: 0.005, networks: ['base', 'solana'], pay_to_base: PAYEE, pay_to_solana: SOLANA_PAYEE };
    expect(listPrices({ ...file, endpoints })).toEqual([
      'GET /v1/a base 5000 0x1111 solana 5000 So1111',
      'POST /v1/b base 5000 0x1111 solana 5000 So1111',
    ]);
  });

  it('is read of the endpoints of each service', () => {
    const services = [
      { name: 'a', base_url: 'https://a.tides-of-tests.com/api', endpoints: [{ path: '/x', price: '$1' }] },
      { name: 'b', url: 'https://b.tides-of-tests.com/', endpoints: [{ path: '/y', price: '$2' }] },
    ];
    const { declarations } = takeDocument({ services }, AT);
    expect(
      declarations.map(({ base_url, routes }) => [base_url, routes[0]?.path, routes[0]?.terms[0]?.amount]),
    ).toEqual([
      ['https://a.tides-of-tests.com', '/api/x', 1_000_000],
      ['https://b.tides-of-tests.com', '/y', 2_000_000],
    ]);
  });

  it('has the networks and payees of the file', () => {
    const file = {
      base_url: 'https://api.tides-of-tests.com',
      pay_to: { 'eip155:8453': PAYEE, solana: SOLANA_PAYEE },
      networks: ['eip155:8453', 'solana'],
      endpoints: [{ path: '/v1/a', method: 'GET', price: '$0.01' }],
    };
    expect(listPrices(file)).toEqual(['GET /v1/a base 10000 0x1111 solana 10000 So1111']);
    const { pay_to: _map, networks: _names, ...rest } = file;
    const rails = [
      { network: 'base-sepolia', payTo: PAYEE },
      { network: 'solana', asset: 'USDC', payTo: SOLANA_PAYEE },
    ];
    expect(listPrices({ ...rest, payment: { rails } })).toEqual(['GET /v1/a solana 10000 So1111']);
  });

  it('is taken instead of offers that name the asset by its symbol or the amount as a decimal', () => {
    const entry = (offer: object) => ({
      path: '/v1/a',
      method: 'GET',
      accepts: [{ network: 'base', payTo: PAYEE, ...offer }],
    });
    expect(listPrices({ endpoints: [entry({ asset: 'USDC', maxAmountRequired: '1000' })] })).toEqual([
      'GET /v1/a base 1000 0x1111',
    ]);
    expect(listPrices({ endpoints: [entry({ asset: 'USDC', amount: '0.01' })] })).toEqual([
      'GET /v1/a base 10000 0x1111',
    ]);
    expect(listPrices({ accepts: [{ network: 'base', resource: '/', price: '0.01', payTo: PAYEE }] })).toEqual([
      'GET / base 10000 0x1111',
    ]);
  });

  it('comes before a bare address of another list', () => {
    const url = 'https://api.tides-of-tests.com/v1/a';
    const file = { resources: [url, `${url}b`], endpoints: [{ url, method: 'POST', price_usd: 0.01 }] };
    expect(listPrices(file)).toEqual(['POST /v1/a base 10000 -', 'GET /v1/ab']);
    expect(takeDocument(file, AT).items).toEqual({ received: 3, taken: 2, duplicates: 1, refused: 0 });
  });

  it('may stand once for the whole file', () => {
    const offers = [makeOffer({ resource: '/v1/a' })];
    expect(listPrices({ x402Version: 2, accepts: offers, resources: ['GET /v1/a', 'GET /v1/b'] })).toEqual([
      'GET /v1/a base 3000 0x1111',
      'GET /v1/b',
    ]);
    expect(listPrices({ x402Version: 2, accepts: [makeOffer()], resources: ['GET /v1/a', 'GET /v1/b'] })).toEqual([
      'GET /v1/a base 3000 0x1111',
      'GET /v1/b base 3000 0x1111',
    ]);
  });
});

describe('an OpenAPI document named by a file', () => {
  it.each([
    [{ openapi: 'https://api.tides-of-tests.com/openapi.json' }],
    [{ openapi: '/openapi.json' }],
    [{ contracts: { openapiUrl: '/openapi.json' } }],
    [{ links: { openapi: { url: '/openapi.json' } } }],
  ])('is to be followed: %j', (link) => {
    const file = { resources: ['GET /v1/a'], ...link };
    expect(takeDocument(file, AT).openapi_url).toBe('https://api.tides-of-tests.com/openapi.json');
    expect(takeDocument({ x402Version: 2, ...link }, AT).items.received).toBe(0);
  });

  it('gives its words and schemas, and the file its prices', async () => {
    const resources = [{ url: '/api/v1/a/:id', method: 'GET', price: '$0.05' }, '/api/v1/b', 'GET /api/v1/c'];
    const operation = {
      summary: 'All of a',
      'x-payment-info': { protocols: ['x402'], price: { amount: '0.01', currency: 'USD' } },
    };
    const merged = await takeMerged(
      { resources },
      makeDocument({
        servers: [{ url: 'https://api.tides-of-tests.com/api' }],
        paths: { '/v1/a/{id}': { get: operation }, '/v1/b': { post: operation } },
      }),
    );
    expect(merged.declarations).toMatchObject([
      {
        base_url: 'https://api.tides-of-tests.com/api',
        title: 'Tides of Tests',
        routes: [
          { method: 'GET', path: '/v1/a/{id}', description: 'All of a', terms: [{ amount: 50_000 }] },
          { method: 'POST', path: '/v1/b', terms: [{ amount: 10_000 }] },
          { method: 'GET', path: '/v1/c', terms: [] },
        ],
      },
    ]);
    expect(merged.items).toEqual({ received: 5, taken: 3, duplicates: 2, refused: 0 });
  });
});

const anyJson = fc.jsonValue({ maxDepth: 4 });
const anyName = fc.constantFrom(
  ...['resources', 'endpoints', 'accepts', 'services', 'price', 'pricing', 'payTo', 'pay_to', 'network', 'networks'],
  ...['url', 'path', 'method', 'base_url', 'openapi', 'x402', 'payment', 'rails', 'amount', 'asset', '/v1/x'],
);

it('whatever a file holds, reading it ends with every entry accounted for', () => {
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, depthSize: 'large' },
      fc.oneof(anyJson, fc.constantFrom('/v1/x', 'GET /v1/y', '$0.01', 'base', PAYEE, 'https://a.example/x', 10_000)),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(anyName, tie('tree'), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (file) => {
      const read = readDocument(JSON.stringify(file ?? null), AT);
      if ('code' in read) return;
      const { received, taken, duplicates, refused } = read.items;
      expect(taken + duplicates + refused).toBe(received);
      expect(read.declarations.flatMap(({ routes }) => routes)).toHaveLength(taken);
      expect(read.findings.filter(({ severity }) => severity === 'refused')).toHaveLength(refused);
      for (const one of read.declarations) expect(declaration.parse(one)).toEqual(one);
    }),
  );
});

it('a hostile file is read in little time', () => {
  const wide = { resources: Array.from({ length: 60_000 }, (_, at) => ({ url: `/v1/${at}`, price: '$1' })) };
  const deep = JSON.parse(`${'{"services":[{"endpoints":'.repeat(40)}[]${'}]}'.repeat(40)}`);
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`services${at}`, [{ url: '/x' }]]));
  const nested = { services: Array.from({ length: 500 }, () => ({ endpoints: Array(500).fill('/v1/x') })) };
  for (const file of [wide, deep, many, nested]) {
    const getWork = startProcessorTime();
    readDocument(file, AT);
    expect(getWork()).toBeLessThan(15_000);
  }
});

const CORPUS = resolve(import.meta.dirname, '../../../shared/corpus/provider-openapi');

describe("a real provider's documents", () => {
  skipWithout('corpus');

  it('have all their payable operations and resources imported', () => {
    const openapi = takeDocument(readFileSync(join(CORPUS, 'openapi.json')));
    expect(openapi).toMatchObject({ kind: 'openapi', items: { received: 10, taken: 10, duplicates: 0, refused: 0 } });
    expect(openapi.declarations).toHaveLength(1);
    const amounts = openapi.declarations.flatMap(({ routes }) =>
      routes.flatMap(({ terms }) => terms.map(({ amount }) => amount)),
    );
    expect(amounts).toEqual(Array(10).fill(20_000));
    expect(openapi.findings.find(({ code }) => code === 'no_payment_info')?.message).toContain('(38)');
    const file = takeDocument(readFileSync(join(CORPUS, 'well-known-x402.json')));
    expect(file).toMatchObject({ kind: 'x402_file', items: { received: 170, taken: 170, duplicates: 0, refused: 0 } });
    const routes = file.declarations.flatMap((declaration) => declaration.routes);
    expect(routes.filter(({ terms }) => terms.some(({ network }) => network === 'solana'))).toHaveLength(170);
    expect(file.declarations.map(({ source }) => source.observed_at)).toEqual([null]);
  });
});
