import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import type { CheckLine } from '../../src/views/provider-check.ts';
import { makeDocumentOf } from '../sources/openapi/documents.ts';
import { encodeHeader, makeChallenge, makeChallengeV1, makeOffer, makeOfferV1, PAYEE } from '../x402/challenges.ts';
import { check, openIntake, openProvider, shareIntake } from './intake.ts';

const HOUR = 3_600_000;
const good = encodeHeader(makeChallenge());

describe('a check', () => {
  it('says of a route that is right what it asks, who can pay it, and what was asked of it', async () => {
    const intake = await openIntake();
    const { origin, asked } = await openProvider((request, response) => {
      response.writeHead(request.url === '/v1/quote' ? 402 : 404, { 'payment-required': good }).end();
    });
    const { status, headers, json } = await check(intake, { resource: `${origin}/v1/quote` });
    expect([status, headers.get('referrer-policy'), headers.get('x-robots-tag')]).toEqual([
      200,
      'no-referrer',
      'noindex',
    ]);
    expect(json).toMatchObject({
      ...{ resource: `${origin}/v1/quote`, state: 'done', valid: true, summary: '1 of 1 route can be listed.' },
      ...{ asked: [{ method: 'GET', url: `${origin}/v1/quote`, came: '402, 0 bytes' }] },
    });
    const name = `GET ${origin}/v1/quote`;
    expect(json.checks).toMatchObject([
      { check: 'returns_402', passed: true, severity: 'required', item: name, actual: 'valid 402 (x402 version 2)' },
      { check: 'terms', passed: true, actual: `0.01 USDC on base to ${PAYEE.toLowerCase()}, scheme exact` },
      { check: 'example', passed: true, severity: 'advisory' },
    ]);
    const needs = ['v2', 'evm', 'exact', 'eip3009'];
    expect(json.listings[0].routes).toEqual([
      { method: 'GET', url: `${origin}/v1/quote`, price_usdc: '0.01', networks: ['base'], needs, listable: true },
    ]);
    expect(json.report_url).toMatch(/^http:\/\/catalogue\.example\/submit\/[\w-]{24}$/);
    expect(asked).toEqual(['GET /robots.txt', 'GET /v1/quote']);
  });

  it('is refused for what nobody can call, and says what to send instead', async () => {
    const intake = await openIntake({ settings: { ALLOW_PRIVATE_NETWORKS: 'off' } });
    for (const url of [
      'http://127.0.0.1/',
      'https://localhost',
      'https://169.254.169.254/x',
      'ftp://a.example.com',
      'x',
      '',
    ])
      expect([url, (await check(intake, { url })).json.code]).toEqual([url, 'bad_address']);
    expect((await check(intake, { host: 'api.example.com' })).status).toBe(400);
    const plain = await fetch(`${intake.url}/providers/check`, { method: 'POST', body: 'x' });
    expect([plain.status, plain.headers.get('content-type')]).toEqual([400, 'application/problem+json']);
    const large = await fetch(`${intake.url}/providers/check`, { method: 'POST', body: `"${'x'.repeat(9_000)}"` });
    expect(large.status).toBe(413);
  });
});

/** Broken answers of one route: the code that names what is wrong, and its place. */
type Broken = [
  name: string,
  answer: { status?: number; header?: string; body?: string; headers?: object },
  code: string,
  place: string,
];
const ofOffer = (offer: object, challenge: object = {}) => ({
  header: encodeHeader(makeChallenge({ accepts: [makeOffer({ ...offer })], ...challenge })),
});
const ofOfferV1 = (offer: object) => ({
  body: JSON.stringify(makeChallengeV1({ accepts: [makeOfferV1({ ...offer })] })),
});
const twice = JSON.stringify(makeChallengeV1()).replace(
  '"maxAmountRequired"',
  '"maxAmountRequired":"7","maxAmountRequired"',
);

const BROKEN: Broken[] = [
  ['an amount in dollars', ofOffer({ amount: '$0.01' }), 'bad_amount', '/accepts/0/amount'],
  ['a decimal amount', ofOffer({ amount: '0.01' }), 'bad_amount', '/accepts/0/amount'],
  ['an amount as number', ofOffer({ amount: 10_000 }), 'bad_amount', '/accepts/0/amount'],
  ['18 decimals', ofOffer({ amount: '10000000000000000' }), 'implausible_price', '/accepts/0/amount'],
  ['a negative amount', ofOffer({ amount: '-5' }), 'bad_amount', '/accepts/0/amount'],
  ['no amount', ofOffer({ amount: undefined }), 'no_amount', '/accepts/0/amount'],
  ['a price of zero', ofOffer({ amount: '0' }), 'zero_amount', '/accepts/0/amount'],
  [
    'the amount of version 1',
    ofOffer({ amount: undefined, maxAmountRequired: '10000' }),
    'no_amount',
    '/accepts/0/amount',
  ],
  ['the wrong network', ofOffer({ network: 'eip155:1' }), 'unsupported_network', '/accepts/0/network'],
  ['the network of version 1', ofOffer({ network: 'base' }), 'not_conforming', '/accepts/0/network'],
  ['a test network', ofOffer({ network: 'eip155:84532' }), 'test_network_mainnet_asset', '/accepts/0/network'],
  ['no network', ofOffer({ network: undefined }), 'no_network', '/accepts/0/network'],
  ['a token by its symbol', ofOffer({ asset: 'USDC' }), 'asset_not_an_address', '/accepts/0/asset'],
  ['no token', ofOffer({ asset: undefined }), 'no_asset', '/accepts/0/asset'],
  ['another token', ofOffer({ asset: `0x${'5'.repeat(40)}` }), 'not_usdc', '/accepts/0/asset'],
  ['no payee', ofOffer({ payTo: '' }), 'bad_pay_to', '/accepts/0/payTo'],
  ['two payees', ofOffer({ recipient: `0x${'9'.repeat(40)}` }), 'pay_to_differs', '/accepts/0/recipient'],
  ['no time-out', ofOffer({ maxTimeoutSeconds: undefined }), 'bad_timeout', '/accepts/0/maxTimeoutSeconds'],
  ['no scheme', ofOffer({ scheme: '' }), 'bad_scheme', '/accepts/0/scheme'],
  ['no resource', ofOffer({}, { resource: undefined }), 'not_conforming', '/resource'],
  ['a version as text', ofOffer({}, { x402Version: '2' }), 'bad_version', '/x402Version'],
  ['no list of offers', { header: encodeHeader(makeChallenge({ accepts: makeOffer() })) }, 'no_accepts', '/accepts'],
  ['version 2 in the body', { body: JSON.stringify(makeChallenge()) }, 'header_missing', 'header PAYMENT-REQUIRED'],
  ['version 1 in the header', { header: encodeHeader(makeChallengeV1()) }, 'version_1_in_header', '/x402Version'],
  ['JSON in the header', { header: JSON.stringify(makeChallenge()) }, 'bad_base64', 'header PAYMENT-REQUIRED'],
  ['no description in version 1', ofOfferV1({ description: undefined }), 'not_conforming', '/accepts/0/description'],
  ['the network of version 2', ofOfferV1({ network: NETWORKS.base.id }), 'network_spelling', '/accepts'],
  ['a key twice', { body: twice }, 'duplicate_key', '/accepts/0/maxAmountRequired'],
  ['a comma too many', { body: JSON.stringify(makeChallengeV1()).replace(/\}$/, ',}') }, 'not_json', 'body'],
  ['a web page', { body: '<h1>Pay' }, 'html_page', 'body'],
  ['nothing in it', {}, 'no_challenge', 'body'],
  [
    'an HTML 404',
    { status: 404, body: '<h1>Not found', headers: { 'content-type': 'text/html' } },
    'not_found',
    'status',
  ],
  [
    'a redirect to another host',
    { status: 302, headers: { location: 'https://example.com/' } },
    'redirected_elsewhere',
    'header Location',
  ],
  ['input checked before the 402', { status: 422, body: '{}' }, 'status_422', 'status'],
  ['another method', { status: 405, headers: { allow: 'POST' } }, 'wrong_method', 'header Allow'],
  ['a login', { status: 401 }, 'status_401', 'status'],
  ['a free answer', { body: '{"a": 1}', status: 200 }, 'answered_unpaid', 'status'],
];

describe('of a broken 402', () => {
  const getIntake = shareIntake();

  it.each(BROKEN)('%s has its own line and place, and says how to mend it', async (_, broken, code, place) => {
    const intake = getIntake();
    const { origin } = await openProvider((request, response) => {
      if (request.url !== '/v1/quote') return void response.writeHead(404).end();
      const { status = 402, header, body = '', headers = {} } = broken;
      response.writeHead(status, { ...(header !== undefined && { 'payment-required': header }), ...headers }).end(body);
    });
    const url = `${origin}/v1/quote`;
    const { checks, valid } = (await check(intake, { url })).json;
    const line = checks.find(
      (one: { code?: string; place?: string }) => one.code === code && (one.place ?? '') === place,
    );
    expect(line, JSON.stringify(checks)).toMatchObject({
      passed: false,
      item: `GET ${url}`,
      fix: expect.stringMatching(/^[A-Z].+\.$/),
    });
    if (broken.status !== undefined) expect(JSON.stringify(checks)).not.toContain('Not found');
    expect(valid).toBe(checks.every((one: CheckLine) => one.check !== 'returns_402' || one.passed));
  });
});

/** Documents with a fault: the code, and its place. */
const resources = (...entries: object[]) => ({ '/.well-known/x402': { version: 1, resources: entries } });
const entry = {
  url: '/v1/heights',
  method: 'GET',
  price: '0.01',
  currency: 'USDC',
  network: NETWORKS.base.id,
  payTo: PAYEE,
};
const payment = {
  protocols: ['x402'],
  network: NETWORKS.base.id,
  payTo: PAYEE,
  price: { mode: 'fixed', currency: 'USDC', amount: '0.02' },
};
const openapi = (info: object, document: object = {}) => ({
  '/openapi.json': makeDocumentOf({ 'x-payment-info': { ...payment, ...info } }, 'get', {
    servers: undefined,
    ...document,
  }),
});
const ON_TEST_NETWORK = { network: 'base-sepolia' };

const DOCUMENTS: [name: string, documents: Record<string, object>, code: string, place: string][] = [
  ['a resource on a test network', resources({ ...entry, ...ON_TEST_NETWORK }), 'test_network', '/resources/0/price'],
  ['a price in atomic units', resources({ ...entry, price: '0' }), 'zero_amount', '/resources/0/price'],
  ['an unknown method', resources({ ...entry, method: 'BREW' }), 'bad_method', '/resources/0/method'],
  ['an entry without address', resources({ method: 'GET', price: '0.01' }), 'no_resource', '/resources/0'],
  ['a price in euro', resources({ ...entry, currency: 'EUR' }), 'other_currency', '/resources/0/price'],
  [
    'an offer on a test network',
    resources({ url: '/v1/heights', accepts: [makeOffer(ON_TEST_NETWORK)] }),
    'test_network_mainnet_asset',
    '/resources/0/accepts/0/network',
  ],
  [
    'an operation on a test network',
    openapi(ON_TEST_NETWORK),
    'test_network',
    '/paths/~1v1~1heights/get/x-payment-info/network',
  ],
  [
    'an operation without network',
    openapi({ network: undefined }),
    'network_assumed',
    '/paths/~1v1~1heights/get/x-payment-info',
  ],
  [
    'a server of a template',
    openapi({}, { servers: [{ url: 'https://api.example.com' }] }),
    'stand_in_server',
    '/servers',
  ],
  [
    'a server with a variable',
    openapi({}, { servers: [{ url: 'https://{host}.tides.dev' }] }),
    'bad_url',
    '/paths/~1v1~1heights/get',
  ],
];

describe('of a broken document', () => {
  const getIntake = shareIntake();

  it.each(DOCUMENTS)('%s has its line and place, and says how to mend it', async (_, documents, code, place) => {
    const intake = getIntake();
    const [[path, document] = ['', {}]] = Object.entries(documents);
    const { origin } = await openProvider((request, response) => {
      if (request.url === path)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
      else response.writeHead(request.url === '/v1/heights' ? 402 : 404, { 'payment-required': good }).end();
    });
    const { checks } = (await check(intake, { url: origin })).json;
    const line = checks.find((one: { code?: string }) => one.code === code);
    expect(line, JSON.stringify(checks)).toMatchObject({
      check: 'parse',
      passed: false,
      place,
      fix: expect.any(String),
    });
  });

  it('that is not JSON has the line and column where it breaks off', async () => {
    const intake = getIntake();
    const text = JSON.stringify(resources(entry)['/.well-known/x402'], null, 1).replace(/\n\}$/, ',\n}');
    const { origin } = await openProvider((request, response) => {
      if (request.url === '/.well-known/x402') response.writeHead(200).end(text);
      else response.writeHead(request.url === '/v1/heights' ? 402 : 404, { 'payment-required': good }).end();
    });
    const { checks } = (await check(intake, { url: origin })).json;
    expect(checks).toContainEqual(expect.objectContaining({ code: 'document_unreadable', place: 'line 13, column 1' }));
  });

  it('says where was looked where there is none, and what came', async () => {
    const intake = getIntake();
    const { origin, asked } = await openProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html; x="secret"' }).end('<h1>A secret of this host');
    });
    const { json } = await check(intake, { url: origin });
    expect(json).toMatchObject({ valid: false, listings: [] });
    expect(json.checks).toContainEqual(
      expect.objectContaining({ check: 'documents', code: 'no_document', passed: false }),
    );
    expect(json.asked[0]).toEqual({
      method: 'GET',
      url: `${origin}/.well-known/x402`,
      came: '200, text/html, 25 bytes',
    });
    expect(JSON.stringify(json)).not.toContain('secret');
    expect(asked.every((one) => one.startsWith('GET '))).toBe(true);
  });
});

describe('a stranger', () => {
  const paid = (method: string) => ({ ...entry, method, url: `/v1/${method.toLowerCase()}` });
  const serve = (files: Record<string, object>) =>
    openProvider((request, response) => {
      const file = files[request.url ?? ''];
      if (file) response.writeHead(200).end(JSON.stringify(file));
      else response.writeHead(request.url?.startsWith('/v1/') ? 402 : 404, { 'payment-required': good }).end();
    });

  it('has POST sent only to what the host says is paid, and other methods only with the file of its provider', async () => {
    const intake = await openIntake();
    const files: Record<string, object> = resources(paid('GET'), paid('POST'), paid('DELETE'));
    const { origin, asked } = await serve(files);
    const { json } = await check(intake, { url: origin });
    expect(asked.filter((one) => one.includes('/v1/'))).toEqual(['GET /v1/get', 'POST /v1/post']);
    expect(json.checks.at(-1)).toMatchObject({ check: 'limits', actual: '2 of 3 routes were asked.' });
    files['/.well-known/agent-payable.json'] = { version: 1, listings: [{ listed: true }] };
    await check(intake, { url: origin });
    expect(asked).toContain('DELETE /v1/delete');
    await check(intake, { url: `${origin}/v1/other` });
    expect(asked.at(-1)).toBe('GET /v1/other');
  });

  it('is kept to one host, to its robots.txt, and away from ourselves', async () => {
    const other = await serve({});
    const { origin, asked } = await openProvider((request, response) => {
      if (request.url === '/robots.txt') response.writeHead(200).end('User-agent: *\nDisallow: /private');
      else if (request.url === '/.well-known/x402') response.writeHead(302, { location: `${other.origin}/x` }).end();
      else if (request.url === '/openapi.json') response.writeHead(302, { location: '/moved.json' }).end();
      else if (request.url === '/moved.json') response.writeHead(200).end(JSON.stringify(openapi({})['/openapi.json']));
      else response.writeHead(402, { 'payment-required': good }).end();
    });
    const intake = await openIntake();
    const { json } = await check(intake, { url: origin });
    expect([json.valid, other.asked]).toEqual([true, []]);
    const forbidden = (await check(intake, { url: `${origin}/private/x` })).json;
    expect(forbidden.checks[0]).toMatchObject({ passed: false, code: 'robots_disallowed', place: '/robots.txt' });
    expect(asked.some((one) => one.includes('/private'))).toBe(false);
    const own = (await check(intake, { url: 'http://catalogue.example/v1/x' })).json;
    expect([own.valid, own.asked[0].came]).toEqual([false, 'This service does not check itself.']);
  });

  it('gets no more than 32 routes, 64 requests, 5 MB and 30 seconds of a host', async () => {
    const many = Array.from({ length: 40 }, (_, at) => ({ ...entry, url: `/v1/${at}` }));
    const { origin, asked } = await openProvider((request, response) => {
      if (request.url === '/.well-known/x402')
        response.writeHead(200).end(JSON.stringify(resources(...many)['/.well-known/x402']));
      else if (request.url?.endsWith('.json')) response.writeHead(200).end('x'.repeat(6_000_000));
      else response.writeHead(402, { 'payment-required': good }).end();
    });
    const { json } = await check(await openIntake(), { url: origin });
    expect(asked.length).toBeLessThanOrEqual(64);
    expect(asked.filter((one) => one.includes('/v1/')).length).toBeLessThanOrEqual(32);
    expect(json.checks.at(-1)).toMatchObject({ check: 'limits', passed: false });
  });
});

describe('the limits', () => {
  const busy = (delayMs = 0) =>
    openProvider((_, response) => void setTimeout(() => response.writeHead(404).end(), delayMs));
  const from = (client: string) => ({ 'X-Forwarded-For': client });

  it('are five at once for a client, then one each 20 seconds, whoever else asks', async () => {
    let time = 0;
    const intake = await openIntake({ now: () => time });
    const providers = await Promise.all(Array.from({ length: 7 }, () => busy()));
    const ask = async (at: number, client: string) =>
      (await check(intake, { url: `${providers[at]?.origin}/v1/x` }, from(client))).status;
    const burst = await Promise.all(providers.slice(0, 6).map((_, at) => ask(at, '203.0.113.9')));
    expect(burst.toSorted()).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await ask(6, '203.0.113.10')).toBe(200);
    time += 20_000;
    expect([await ask(6, '203.0.113.9'), await ask(0, '203.0.113.9')]).toEqual([200, 429]);
    expect(intake.counted.filter((one) => one === 'rate_limited')).toHaveLength(2);
  });

  it('are ten an hour for a client and a host, for all 20 a day, more with its own file, and one at a time', async () => {
    let time = 0;
    const intake = await openIntake({ now: () => time });
    const slow = await busy(300);
    const ask = (origin: string) => check(intake, { url: `${origin}/v1/x` });
    const both = await Promise.all([ask(slow.origin), ask(slow.origin)]);
    expect(both.map(({ status, json }) => [status, json.code]).toSorted()).toEqual([
      [200, undefined],
      [429, 'domain_busy'],
    ]);
    /** Counts the checks that begin, each three of them for a client of another network. */
    const countOf = async (origin: string, checks: number, network?: (at: number) => number, path = '/v1/x') => {
      let done = 0;
      for (let at = 0; at < checks; at += 1) {
        time += 20_000;
        const headers = network && { 'X-Forwarded-For': `203.0.${network(Math.floor(at / 3))}.1` };
        done += (await check(intake, { url: `${origin}${path}` }, headers)).status === 200 ? 1 : 0;
      }
      return done;
    };
    const count = (origin: string, checks: number) => countOf(origin, checks);
    const { origin } = await busy();
    expect(await count(origin, 12)).toBe(10);
    const refused = await ask(origin);
    expect([refused.json.code, Number(refused.headers.get('retry-after'))]).toEqual([
      'domain_limit',
      expect.any(Number),
    ]);
    time += HOUR;
    expect(await count(origin, 3)).toBe(0);
    expect(await countOf(origin, 12, (at) => 100 + at)).toBe(10);
    time += HOUR;
    expect(await countOf(origin, 3, (at) => 200 + at)).toBe(0);
    time += 24 * HOUR;
    expect(await count(origin, 1)).toBe(1);
    const own = await openProvider((request, response) => {
      response
        .writeHead(request.url === '/.well-known/agent-payable.json' ? 200 : 404)
        .end('{"version": 1, "listings": []}');
    });
    // How many more, a test of the limits alone counts.
    expect(await countOf(own.origin, 12, (at) => 100 + at, '')).toBe(12);
  });
});
