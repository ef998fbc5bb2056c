import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../../src/model/network.ts';
import {
  listFindings,
  makeDocument,
  makeDocumentOf,
  makeOperation,
  readDocument,
  takeDocument,
  takeRoute,
} from './documents.ts';

const codesOf = (...input: Parameters<typeof listFindings>) => listFindings(...input).map(({ code }) => code);

describe('an OpenAPI document with payment information', () => {
  it('becomes a listing of its payable operations, as a bare claim', () => {
    const paths = {
      '/v1/heights/{port}': { post: makeOperation({ description: 'Heights at a port.' }) },
      '/v1/ports': { get: makeOperation({ 'x-payment-info': undefined }) },
      '/health': { get: {} },
    };
    const externalDocs = { url: '/docs' };
    const { declarations, findings, items } = takeDocument(makeDocument({ paths, externalDocs }));
    expect(declarations).toMatchObject([
      {
        source: { kind: 'openapi', name: 'https://api.tides-of-tests.com/openapi.json', observed_at: null },
        base_url: 'https://api.tides-of-tests.com',
        slug: null,
        service_name: 'Tides of Tests',
        title: 'Tides of Tests',
        tagline: 'Heights of tides.',
        description: 'Heights. For tests.',
        category: null,
        docs_url: 'https://api.tides-of-tests.com/docs',
        routes: [
          {
            method: 'POST',
            path: '/v1/heights/{port}',
            description: 'Heights of a day: Heights at a port.',
            terms: [{ amount: 20_000 }],
          },
        ],
      },
    ]);
    expect(items).toEqual({ received: 1, taken: 1, duplicates: 0, refused: 0 });
    expect(findings.find(({ code }) => code === 'no_payment_info')?.message).toMatch(/\(2\)\.$/);
  });

  it('of several hosts has for each the summary of its one operation as a name', () => {
    const at = (host: string) => [{ url: `https://${host}.tides-of-tests.com` }];
    const paths = {
      '/v1/moon': { get: makeOperation({ servers: at('moon'), summary: 'Moon phases', description: 'By month.' }) },
      '/v1/sea': { get: makeOperation({ servers: at('sea') }), post: makeOperation({ servers: at('sea') }) },
    };
    const { declarations } = takeDocument(makeDocument({ paths }));
    expect(declarations.map(({ title, tagline, provider_name }) => [title, tagline, provider_name])).toEqual([
      ['Moon phases', 'By month.', 'Tides of Tests'],
      ['', 'Heights of a day', 'Tides of Tests'],
    ]);
  });

  it('says the same as YAML', () => {
    const yaml = `
openapi: 3.0.3
info: { title: Tides of Tests, version: 1, summary: Heights of tides., description: Heights. For tests. }
servers: [{ url: https://api.tides-of-tests.com }]
paths:
  /v1/heights:
    get:
      summary: Heights of a day
      x-payment-info:
        price: { mode: fixed, currency: USD, amount: 0.02 }
        protocols: [{ x402: {} }]
      responses:
        200: { description: ok, content: { application/json: {} } }
`;
    expect(takeDocument(yaml).declarations).toEqual(takeDocument(makeDocument()).declarations);
  });

  it.each([
    ['its first server', {}, {}, 'https://api.tides-of-tests.com'],
    [
      'a server with a path',
      { servers: [{ url: 'https://api.tides-of-tests.com/v1/' }] },
      {},
      'https://api.tides-of-tests.com/v1',
    ],
    ['a server relative to the document', { servers: [{ url: '/v1' }] }, {}, 'https://api.tides-of-tests.com/v1'],
    ['the origin of the document', { servers: undefined }, {}, 'https://api.tides-of-tests.com'],
    ['the origin, of an empty list', { servers: [] }, {}, 'https://api.tides-of-tests.com'],
    [
      'variables at their defaults',
      {
        servers: [
          {
            url: 'https://{name}.tides-of-tests.com/{v}',
            variables: { name: { default: 'eu' }, v: { default: 'v2' } },
          },
        ],
      },
      {},
      'https://eu.tides-of-tests.com/v2',
    ],
    [
      'what was asked for, of a file without servers',
      { servers: undefined },
      { url: null, base_url: 'https://b.tides-of-tests.com/x' },
      'https://b.tides-of-tests.com/x',
    ],
  ])('is listed at %s', (_, document, options, base) => {
    const { declarations, findings } = takeDocument(makeDocument(document), options);
    expect(declarations.map(({ base_url }) => base_url)).toEqual([base]);
    expect(findings.map(({ code }) => code)).not.toContain('stand_in_server');
  });

  it('has a listing for each base address where operations name their own', () => {
    const own = makeOperation({ servers: [{ url: 'https://b.tides-of-tests.com' }] });
    const document = makeDocument({ paths: { '/a': { get: own }, '/b': { get: makeOperation() } } });
    const { declarations } = takeDocument(document);
    expect(declarations.map(({ base_url, routes }) => [base_url, routes.map(({ path }) => path)])).toEqual([
      ['https://api.tides-of-tests.com', ['/b']],
      ['https://b.tides-of-tests.com', ['/a']],
    ]);
  });

  it('speaks for its own host and hosts below it, and for others if the operator names them', () => {
    const servers = [{ url: 'https://api.tides-of-tests.com' }];
    const take = (speaker: string, base_url: string | null = null) => {
      const { declarations, findings, items } = takeDocument(makeDocument({ servers }), { speaker, base_url });
      const codes = findings.filter(({ severity }) => severity === 'refused').map(({ code }) => code);
      return [declarations[0]?.source.speaker, codes, items.taken, items.refused];
    };
    for (const own of ['https://api.tides-of-tests.com/x.json', 'https://www.tides-of-tests.com/openapi.json']) {
      expect(take(own)).toEqual([own, [], 1, 0]);
    }
    for (const other of ['https://evil.com/openapi.json', 'https://docs.tides-of-tests.com/openapi.json']) {
      expect(take(other)).toEqual([undefined, ['other_origin'], 0, 1]);
      expect(take(other, 'https://api.tides-of-tests.com')).toEqual([null, [], 1, 0]);
    }
  });

  it('is listed under the requested base address, and other operations are refused', () => {
    const elsewhere = makeOperation({ servers: [{ url: 'https://b.tides-of-tests.com' }] });
    const document = makeDocument({
      servers: [{ url: 'https://api.tides-of-tests.com/v1' }],
      paths: { '/heights/{port}': { get: makeOperation() }, '/a': { get: elsewhere } },
    });
    const { declarations, items, findings } = takeDocument(document, { base_url: 'https://api.tides-of-tests.com' });
    expect(declarations.map(({ base_url, routes }) => [base_url, routes.map(({ path }) => path)])).toEqual([
      ['https://api.tides-of-tests.com', ['/v1/heights/{port}']],
    ]);
    expect(items).toEqual({ received: 2, taken: 1, duplicates: 0, refused: 1 });
    expect(findings).toContainEqual(
      expect.objectContaining({
        code: 'outside_base_address',
        severity: 'refused',
        item: 'GET https://b.tides-of-tests.com/a',
      }),
    );
  });

  it.each([
    ['blocked_address', { servers: [{ url: 'https://10.0.0.1' }] }],
    ['not_https', { servers: [{ url: 'http://api.tides-of-tests.com:8080' }] }],
    ['ephemeral_host', { servers: [{ url: 'https://a1b2.ngrok.app' }] }],
    ['bad_url', { servers: [{ url: 'https://{region}.tides-of-tests.com' }] }],
    ['bad_url', { servers: [{ url: 'https://api.tides-of-tests.com/{tenant}' }] }],
    ['bad_url', { paths: { 'v1/heights': { get: makeOperation() } } }],
    [
      'outside_base_address',
      { servers: [{ url: 'https://api.tides-of-tests.com/v1' }], paths: { '/../x': { get: makeOperation() } } },
    ],
    ['bad_method', { paths: { '/v1/heights': { trace: makeOperation() } } }],
  ])('has operations refused for their address: %s', (code, overrides) => {
    const { items, findings, declarations } = takeDocument(makeDocument(overrides));
    expect([items.refused, declarations]).toEqual([1, []]);
    expect(findings.filter(({ severity }) => severity === 'refused').map((finding) => finding.code)).toEqual([code]);
  });

  it('of a file without servers is refused with a hint', () => {
    expect(readDocument(makeDocument({ servers: undefined }), { url: null })).toMatchObject({
      code: 'no_server',
      hint: expect.stringContaining('--base-url'),
    });
  });
});

describe('the request of an operation', () => {
  const parameters = [
    { name: 'port', in: 'path', required: true, schema: { type: 'string' }, example: 'DEHAM' },
    { name: 'days', in: 'query', required: true, schema: { type: 'integer', default: 3 } },
    { name: 'unit', in: 'query', schema: { type: 'string', default: 'm' }, description: 'Unit of heights' },
    { name: 'kinds', in: 'query', example: ['high', 'low'] },
    { name: 'X-Trace', in: 'header', examples: { one: { value: 'abc' } } },
    { name: 'Authorization', in: 'header', example: 'Bearer secret' },
    { name: 'X-PAYMENT', in: 'header', required: true, example: 'eyJ' },
    { $ref: '#/components/parameters/Zone' },
  ];
  const components = { parameters: { Zone: { name: 'zone', in: 'query', schema: { const: 'UTC' } } } };

  it('is a schema with a property for each part, and an example of what the document gives', () => {
    const { input_schema, example } = takeRoute(makeDocumentOf({ parameters }, 'get', { components }));
    expect(input_schema).toEqual({
      type: 'object',
      properties: {
        queryParams: {
          type: 'object',
          properties: {
            days: { type: 'integer', default: 3 },
            unit: { type: 'string', default: 'm', description: 'Unit of heights' },
            kinds: { example: ['high', 'low'] },
            zone: { const: 'UTC', example: 'UTC' },
          },
          required: ['days'],
        },
        headers: { type: 'object', properties: { 'X-Trace': { example: 'abc' } } },
        pathParams: { type: 'object', properties: { port: { type: 'string', example: 'DEHAM' } }, required: ['port'] },
      },
    });
    expect(example).toEqual({ query: { days: '3', kinds: 'high,low', zone: 'UTC' }, headers: { 'x-trace': 'abc' } });
  });

  it.each([
    ['the example of the media type', { example: { a: 1 } }, { a: 1 }],
    ['the first of its examples', { examples: { one: { value: { b: 2 } } } }, { b: 2 }],
    ['the example of the schema', { schema: { type: 'object', example: { c: 3 } } }, { c: 3 }],
    [
      'the examples of its fields',
      {
        schema: {
          type: 'object',
          required: ['q'],
          properties: { q: { example: 'tides' }, n: { default: 5 }, unit: { enum: ['m'] } },
        },
      },
      { q: 'tides' },
    ],
    [
      'defaults and first choices of what is required',
      { schema: { required: ['n', 'unit'], properties: { n: { default: 5 }, unit: { enum: ['m', 'ft'] } } } },
      { n: 5, unit: 'm' },
    ],
    [
      'objects inside',
      { schema: { required: ['at'], properties: { at: { required: ['lat'], properties: { lat: { const: 54 } } } } } },
      { at: { lat: 54 } },
    ],
  ])('has the body from %s', (_, media, body) => {
    const requestBody = { content: { 'application/json': media } };
    expect(takeRoute(makeDocumentOf({ requestBody }, 'post')).example).toEqual({ body });
  });

  it('has no example body if a required field has no value', () => {
    const schema = { type: 'object', required: ['q', 'n'], properties: { q: { type: 'string' }, n: { default: 5 } } };
    const route = takeRoute(makeDocumentOf({ requestBody: { content: { 'application/json': { schema } } } }, 'post'));
    expect(route.example).toBeNull();
    expect(route.input_schema).toMatchObject({ properties: { body: { required: ['q', 'n'] } } });
  });

  it('sends a form as a form', () => {
    const requestBody = { content: { 'application/x-www-form-urlencoded': { example: { q: 'a b', n: 2 } } } };
    expect(takeRoute(makeDocumentOf({ requestBody }, 'post')).example).toEqual({
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'q=a+b&n=2',
    });
  });

  it('has no body if the method cannot send one, with a note', () => {
    const document = makeDocumentOf({ requestBody: { content: { 'application/json': { example: { a: 1 } } } } });
    expect(takeRoute(document)).toMatchObject({ input_schema: null, example: null });
    expect(codesOf(document)).toContain('body_ignored');
  });

  it('takes parameters of the path, which those of the operation replace', () => {
    const operation = makeOperation({ parameters: [{ name: 'a', in: 'query', example: '2' }] });
    const shared = [
      { name: 'a', in: 'query', example: '1' },
      { name: 'b', in: 'query', example: '1' },
    ];
    const document = makeDocument({ paths: { '/v1/heights': { parameters: shared, get: operation } } });
    expect(takeRoute(document).example).toEqual({ query: { a: '2', b: '1' } });
  });
});

describe('the answer of an operation', () => {
  it('is the media type and the schema of its success, with an example', () => {
    const components = {
      responses: {
        Heights: {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Heights' }, example: [1] } },
        },
      },
      schemas: {
        Heights: { type: 'array', items: { $ref: '#/components/schemas/Height' } },
        Height: { type: 'number' },
      },
    };
    const responses = { 402: { description: 'Pay' }, 201: { $ref: '#/components/responses/Heights' } };
    expect(takeRoute(makeDocumentOf({ responses }, 'get', { components }))).toMatchObject({
      mime_type: 'application/json',
      output_schema: { type: 'array', items: { type: 'number' }, examples: [[1]] },
    });
  });

  it('is unknown if there is only a default, which describes the error', () => {
    const schema = { type: 'object', required: ['error'], properties: { error: { type: 'string' } } };
    const responses = { 402: { description: 'Pay' }, default: { content: { 'application/json': { schema } } } };
    expect(takeRoute(makeDocumentOf({ responses }))).toMatchObject({ mime_type: null, output_schema: null });
  });

  it('is unknown if the schema says nothing', () => {
    const responses = { 200: { content: { 'text/html': { schema: { type: 'string' } } } } };
    expect(takeRoute(makeDocumentOf({ responses }))).toMatchObject({ mime_type: 'text/html', output_schema: null });
  });
});

describe('the servers of a document', () => {
  const LOCAL = { url: 'http://localhost:3000' };
  const [FIRST, SECOND] = ['https://api.tides-of-tests.com', 'https://eu.tides-of-tests.com/v2'];
  const getBase = (servers: unknown, base_url: string | null = null) =>
    takeDocument(makeDocument({ servers }), { base_url }).declarations.map((one) => one.base_url);

  it.each([
    [
      'the first that can be listed',
      [LOCAL, { url: 'https://{region}.x' }, { url: FIRST }, { url: SECOND }],
      null,
      FIRST,
    ],
    ['the first', [{ url: FIRST }, { url: SECOND }], null, FIRST],
    ['the one that was asked for', [{ url: FIRST }, { url: SECOND }], SECOND, SECOND],
    [
      'the one above what was asked for',
      [{ url: FIRST }, { url: 'https://eu.tides-of-tests.com/' }],
      SECOND,
      undefined,
    ],
    ['one with http as https', [{ url: 'http://api.tides-of-tests.com' }], null, FIRST],
    ['the host that was read for a local one', [{ url: 'http://127.0.0.1:8000/v1/' }], null, `${FIRST}/v1`],
    ['the host that was read for that of a template', [{ url: 'https://api.yourdomain.com' }], null, FIRST],
    ['what was asked for instead of a local one', [LOCAL], FIRST, FIRST],
    ['what was asked for instead of an example', [{ url: 'https://example.com/v3' }], FIRST, FIRST],
    ['what was asked for instead of an open variable', [{ url: 'https://{region}.x.com/{v}' }], SECOND, SECOND],
    ['one that is no object beside a good one', [7, {}, { url: SECOND }], null, SECOND],
  ])('give %s', (_name, servers, asked, base) => {
    expect(getBase(servers, asked)).toEqual(base === undefined ? [] : [base]);
  });
});

describe('payment discovery', () => {
  it('gives documentation and a category by x-service-info', () => {
    const info = { categories: ['maps', 'Data'], docs: { apiReference: 'https://docs.tides-of-tests.com' } };
    expect(takeDocument(makeDocument({ 'x-service-info': info })).declarations).toMatchObject([
      { category: 'Data', docs_url: 'https://docs.tides-of-tests.com/' },
    ]);
    for (const odd of [7, { categories: 'Data', docs: 7 }, { categories: [null, {}] }])
      expect(takeDocument(makeDocument({ 'x-service-info': odd })).declarations).toMatchObject([{ category: null }]);
  });

  it.each([
    [
      'one offer of several',
      {
        offers: [
          { method: 'tempo', amount: '75' },
          { method: 'x402', amount: '3000' },
        ],
      },
      3000,
    ],
    ['an asset as the currency', { offers: [{ method: 'x402', amount: '3000', currency: NETWORKS.base.usdc }] }, 3000],
    ['a decimal amount', { offers: [{ method: 'x402', amount: '0.01', currency: 'USD' }] }, 10_000],
    ['one payment alone', { method: 'x402', intent: 'charge', amount: '0.01', currency: 'USD' }, 10_000],
  ])('gives the price by x-payment-info with %s', (_name, info, amount) => {
    expect(takeRoute(makeDocumentOf({ 'x-payment-info': info })).terms).toMatchObject([{ network: 'base', amount }]);
  });
});
