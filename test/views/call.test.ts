import { execFileSync } from 'node:child_process';
import { stripTypeScriptTypes } from 'node:module';
import { x402Client } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { buildCurl, buildPython, buildTypescript, PYTHON_SDK } from '../../src/views/call/code.ts';
import { buildBareCall, buildRouteCall, findTellingRoute } from '../../src/views/call/guide.ts';
import { buildCallRequest, type CallRequest } from '../../src/views/call/request.ts';
import type { PublicRoute } from '../../src/views/listing/route-record.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../records.ts';
import { skipWithout } from '../skipped.ts';
import { makePublicListing } from './listings.ts';
import { runPython } from './python.ts';
import { X402_SDK } from './x402-sdk.ts';

const PRICE = { network: 'base', amount: 1000, scheme: 'exact' } as const;
const HOSTILE = [
  '\'; touch x; "',
  '`id`',
  '$(id)',
  '\x24{process.exit(1)}',
  'a\nb',
  'a\\',
  '</script>',
  '\u202eabc',
  "it's",
  '@/etc/passwd',
  '*/ //',
];

/** Runs a command in a real shell with a `curl` that only says what it was given. */
function listShellWords(command: string): string[] {
  const said = execFileSync('/bin/sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], { encoding: 'utf8' });
  return said.split('\0').slice(0, -1);
}

/** Runs a module's request with a `fetch` that only says what it was given. */
function findFetchArguments(code: string): { url: string; init: RequestInit } {
  const text = stripTypeScriptTypes(code);
  const call = text.slice(text.indexOf('fetchWithPayment('), text.indexOf('console.log(response'));
  const said: unknown[] = [];
  new Function('fetchWithPayment', 'process', call.trim())((...given: unknown[]) => said.push(...given), undefined);
  return { url: String(said[0]), init: said[1] as RequestInit };
}

function makeHostileRoute(text: string): PublicRoute {
  const { terms: _terms, ...facts } = makeRoute({
    method: 'POST',
    path: `/v1/${text}/x`,
    example: { query: { q: text }, headers: { 'x-note': text, [text]: 'x' }, body: { [text]: text } },
  });
  return {
    ...facts,
    id: 'b2c0ffee-0000-5000-8000-000000000000',
    url: 'https://api.prices.example/v1/x',
    verification: 'unverified',
    proof: null,
    proofs: [],
    said_by: {},
    cautions: [],
    undelivered: null,
    payee: null,
    probe: null,
    terms: [],
  };
}

describe('the example request', () => {
  it.each(HOSTILE)('hands %j on as data, in the shell and in TypeScript', (text) => {
    const request = buildCallRequest('https://api.example.com', makeHostileRoute(text));
    const words = listShellWords(buildCurl(request));
    const { url, init } = findFetchArguments(buildTypescript(request, PRICE));

    const sent = words[words.indexOf('--url') + 1] ?? '';
    expect(words.slice(0, 4)).toEqual(['--include', '--globoff', '--request', 'POST']);
    expect(sent).toBe(url);
    expect(url).toMatch(/^https:\/\/api\.example\.com\/[\x21-\x7e]*$/);
    expect(new URL(url).searchParams.get('q')).toBe(text);
    expect(JSON.parse(words[words.indexOf('--data-raw') + 1] ?? '')).toEqual({ [text]: text });
    expect(JSON.parse(String(init.body))).toEqual({ [text]: text });
    expect(init).toMatchObject({ method: 'POST', redirect: 'error' });
    const headers = words.flatMap((word, at) => (words[at - 1] === '--header' ? word : []));
    expect(Object.entries(init.headers ?? {}).map(([name, value]) => `${name}: ${value}`)).toEqual(headers);
    expect(headers.every((header) => /^[a-z0-9$`'*&-]+: /i.test(header))).toBe(true);
  });

  it('names what to fill in of a query and of the rest of a path, too', () => {
    const route = { ...makeHostileRoute('y'), example: null, path: '/v1/{rest+}?of=:coin' };
    expect(buildCallRequest('https://api.example.com', route)).toMatchObject({
      url: 'https://api.example.com/v1/<rest>?of=<coin>',
      replace: [{ name: 'rest' }, { name: 'coin' }],
    });
  });

  it('shows templates of both kinds as placeholders to fill in', () => {
    const route = { ...makeHostileRoute('y'), path: '/v1/:user-id/{token}/x:y{not a name}', example: null };
    expect(buildCallRequest('https://api.example.com/base/', route)).toMatchObject({
      url: 'https://api.example.com/base/v1/<user-id>/<token>/x:y%7Bnot%20a%20name%7D',
      replace: [
        { name: 'user-id', shown: '<user-id>' },
        { name: 'token', shown: '<token>' },
      ],
      headers: [],
      body: null,
    });
  });

  it('adds the example query to one that the path carries, and sends no body with a GET', () => {
    const route = {
      ...makeHostileRoute('y'),
      method: 'GET' as const,
      path: '/x?a=1',
      example: { query: { b: '2 3' }, body: {} },
    };
    const request = buildCallRequest('https://api.example.com', route);
    expect(request).toMatchObject({ url: 'https://api.example.com/x?a=1&b=2%203', body: null });
    expect(listShellWords(buildCurl(request))).toEqual(['--include', '--globoff', '--url', request.url]);
  });

  it('sends what is no JSON as the text that it is, in a shell and in TypeScript', () => {
    const text = "q=it's&a=1\\n";
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const route = { ...makeHostileRoute('y'), path: '/v1/x', example: { headers, body: text } };
    const request = buildCallRequest('https://api.example.com', route);
    const words = listShellWords(buildCurl(request));
    expect(words[words.indexOf('--data-raw') + 1]).toBe(text);
    expect(findFetchArguments(buildTypescript(request, PRICE)).init.body).toBe(text);
  });

  it('leaves out headers that carry a payment or a secret', () => {
    const headers = {
      authorization: 'x',
      'X-PAYMENT': 'x',
      'payment-signature': 'x',
      cookie: 'x',
      host: 'x',
      'x-ok': 'y',
    };
    const route = { ...makeHostileRoute('y'), method: 'GET' as const, example: { headers } };
    expect(buildCallRequest('https://api.example.com', route).headers).toEqual([['x-ok', 'y']]);
  });
});

/** Builds the call of the route of a listing that shows most. */
async function buildGuide(
  declared: Parameters<typeof makeDeclaration>[0],
  options?: Parameters<typeof makePublicListing>[1],
) {
  const listing = await makePublicListing(makeDeclaration(declared), options);
  const route = findTellingRoute(listing.routes);
  return route ? buildRouteCall(listing, route) : buildBareCall(listing);
}

describe('the call of a route', () => {
  it('is that of the verified route first, at its price and on its network', async () => {
    const solana = makeTerms({ network: 'solana', amount: 2500 });
    const routes = [makeRoute(), makeRoute({ path: '/v1/other?of=x', terms: [solana] })];
    const guide = await buildGuide({ routes }, { verified: '/v1/other?of=x' });
    expect(guide).toMatchObject({ route: 'GET /v1/other?of=x', price: '0.0025', network: 'Solana', replace: [] });
    expect(guide.paying?.typescript).toContain("maxAmountPerPayment: '$0.0025'");
    expect(guide.paying?.typescript).toContain("networks: ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp']");
    expect(guide.paying?.install).toContain('@x402/svm');
  });

  it('is that of a route with an example first, and of the base address where none is itemised', async () => {
    const routes = [makeRoute(), makeRoute({ path: '/z', example: { query: { q: 'x' } } })];
    expect((await buildGuide({ routes })).route).toBe('GET /z');
    const bare = { routes: [], networks: ['base' as const], price: { min: 1000, max: 50_000 } };
    expect(await buildGuide(bare)).toMatchObject({
      route: 'GET https://api.prices.example-provider.com',
      price: '0.05',
    });
  });

  it('names what is to be replaced, in the address, the body and of another type than text', async () => {
    const body = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 7 }, unit: { enum: ['c', 'f'] } },
      required: ['city', 'days', 'unit'],
    };
    const queryParams = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };
    const input_schema = { type: 'object', properties: { queryParams, body } };
    const guide = await buildGuide({ routes: [makeRoute({ method: 'POST', path: '/v1/:id', input_schema })] });
    expect(guide.replace).toEqual([
      { name: 'id', shown: '<id>' },
      { name: 'key', shown: '<key>' },
      { name: 'city', shown: '<city>' },
      { name: 'days', shown: '7' },
    ]);
    const { url, init } = findFetchArguments(guide.paying?.typescript ?? '');
    expect(url).toBe('https://api.prices.example-provider.com/v1/<id>?key=<key>');
    expect(JSON.parse(String(init.body))).toEqual({ city: '<city>', days: 7, unit: 'c' });
    expect(guide.curl).toContain('/v1/<id>?key=<key>');
  });

  it.each([
    ['nothing on record says what it takes', { method: 'POST' }],
    ['it takes a file', { method: 'POST', input_schema: bodyOf({ file: { format: 'file' } }) }],
    [
      'no text fits the pattern of "code"',
      { method: 'POST', input_schema: bodyOf({ code: { type: 'string', pattern: '^zz\\d{9}$' } }) },
    ],
    ['it declares a body, which GET cannot carry', { method: 'GET', input_schema: bodyOf({ q: { type: 'string' } }) }],
    ['a scheme that no code here pays by', { terms: [makeTerms({ scheme: 'deferred' })] }],
    ['needs what no code here does (sign-in-with-x)', { terms: [makeTerms({ extra_needs: ['sign-in-with-x'] })] }],
    [
      'needs what no code here does (facilitator)',
      { terms: [makeTerms({ scheme: 'upto', extra_needs: ['facilitator'] })] },
    ],
  ] as [string, Parameters<typeof makeRoute>[0]][])(
    'is not made to pay where %s, and says so',
    async (words, declared) => {
      const guide = await buildGuide({ routes: [makeRoute({ path: '/v1/x', ...declared })] });
      expect(guide.paying).toBeNull();
      expect(guide.lack).toContain(words);
      expect(guide.curl).toContain('curl --include');
    },
  );

  it('is not made to pay for a route whose price is unknown beside others', async () => {
    const listing = await makePublicListing(makeDeclaration({ routes: [makeRoute(), makeRoute({ path: '/z' })] }));
    const [, route] = listing.routes;
    const free = { ...listing, routes: listing.routes.map((one) => (one === route ? { ...one, terms: [] } : one)) };
    const guide = buildRouteCall(free, { ...(route as PublicRoute), terms: [] });
    expect([guide.price, guide.paying, guide.lack]).toEqual([
      null,
      null,
      expect.stringContaining('No price is on record'),
    ]);
  });
});

function bodyOf(properties: Record<string, unknown>) {
  const body = { type: 'object', properties, required: Object.keys(properties) };
  return { type: 'object', properties: { body } };
}

const REQUEST: CallRequest = {
  ...{ route: 'POST /v1/x', method: 'POST', url: 'https://api.example.com/v1/x?q=%27', replace: [] },
  headers: [['x-note', 'it\'s "quoted" \\ and \\n']],
  body: {
    isJson: true,
    text: JSON.stringify({ text: `'''""" \\ \n ü 語 \${x} {y} %s`, ends: "'", flag: true, none: null }, null, 2),
  },
};

it('names the version of the Python package that its calls are checked by', () => {
  expect(PYTHON_SDK).toBe(X402_SDK.version);
});

describe('the call in Python', () => {
  skipWithout('python');

  it('sends what is no JSON as the text that it is', async () => {
    const body = "q=it's&a=1\\n";
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const route = { ...makeHostileRoute('y'), path: '/v1/x', example: { headers, body } };
    const request = buildCallRequest('https://api.example.com', route);
    expect((await runPython(buildPython(request, PRICE))).options).toMatchObject({ data: body });
  });

  it.each([
    ['base', 'exact', 'exact eip155:8453'],
    ['base', 'upto', 'UptoEvmScheme eip155:8453'],
    ['solana', 'exact', 'exact solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ] as const)(
    'asks for what the request says, up to the price in USDC and without following a redirect: %s, %s',
    async (network, scheme, registered) => {
      const said = await runPython(buildPython(REQUEST, { network, amount: 2500, scheme }));
      const { data, ...options } = said.options;
      expect(JSON.parse(String(data))).toEqual(JSON.parse(REQUEST.body?.text ?? ''));
      expect({ ...said, options }).toEqual({
        ...{ cap: 2500, payable: [`0 ${NETWORKS[network].usdc}`], registered: [registered] },
        ...{ method: 'POST', url: REQUEST.url },
        options: { headers: Object.fromEntries(REQUEST.headers), allow_redirects: false },
      });
    },
  );

  it('is checked by the version of the package that it names, and fails by any name or argument that this lacks', async () => {
    const code = buildPython(REQUEST, PRICE);
    await runPython(code);
    for (const [known, unknown] of [
      ['.exact.register import', '.upto.register import'],
      ['import EthAccountSigner', 'import Signer'],
      ['networks=', 'network='],
      ['.set_spend_controls(', '.set_spend_limit('],
      ['allow_redirects=', 'follow_redirects='],
      ['response =', 'from x402 import x402Client\nx402Client().create_payment_payload(None)\nresponse ='],
    ] as const) {
      expect(code).toContain(known);
      await expect(runPython(code.replace(known, unknown))).rejects.toThrow(
        /(?:Import|Type|Attribute|ModuleNotFound)Error: |never awaited/,
      );
    }
  });
});

it('pays on the network of the offer, and says what to install for it', async () => {
  const guide = async (network: 'base' | 'solana') =>
    buildGuide({ routes: [makeRoute({ terms: [makeTerms({ network })] })] });
  expect((await guide('base')).paying).toMatchObject({
    python: expect.stringContaining('register_exact_evm_client(client, signer, networks="eip155:8453")'),
    python_install: 'pip install "x402[requests,evm]>=2.20.0"',
  });
  expect((await guide('solana')).paying).toMatchObject({
    python: expect.stringContaining('networks="solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"'),
    python_install: 'pip install "x402[requests,svm]>=2.20.0"',
  });
});

it('says whether the request is known to work, an example, or neither', async () => {
  const example = { query: { q: 'x' } };
  const guide = async (declared: Parameters<typeof makeRoute>[0]) => buildGuide({ routes: [makeRoute(declared)] });
  expect(await guide({ example })).toMatchObject({ known_good_on: null, basis: 'example' });
  expect(await guide({})).toMatchObject({ known_good_on: null, basis: 'none' });
});

/** Builds the payment client of a module that calls a tool, as the module sets it up. */
function openToolClient(code: string): x402Client {
  const setUp = code.slice(code.indexOf('const client ='), code.indexOf('const server ='));
  const given = {
    ...{ x402Client, registerExactEvmScheme, UptoEvmScheme, privateKeyToAccount },
    process: { env: { EVM_PRIVATE_KEY: generatePrivateKey() } },
  };
  return new Function(...Object.keys(given), `${stripTypeScriptTypes(setUp)} return client;`)(...Object.values(given));
}

it.each(['exact', 'upto'])(
  'pays a tool by %s no more than the price on record, whatever stands before it',
  async (scheme) => {
    const terms = [makeTerms({ scheme, amount: 1000 })];
    const guide = await buildGuide({
      routes: [makeRoute({ method: 'POST', path: '/mcp#report', terms, example: {} })],
    });
    const client = openToolClient(guide.paying?.typescript ?? '');
    const offer = {
      ...{ scheme, network: NETWORKS.base.id, asset: NETWORKS.base.usdc, payTo: `0x${'1'.repeat(40)}` },
      ...{
        maxTimeoutSeconds: 60,
        extra: { name: 'USD Coin', version: '2', facilitatorAddress: `0x${'2'.repeat(40)}` },
      },
    };
    const pay = (...accepts: object[]) =>
      client.createPaymentPayload({
        ...{ x402Version: 2, resource: { url: 'mcp://tool/report' }, accepts },
      } as PaymentRequired);
    expect((await pay({ ...offer, amount: '1000' })).accepted.amount).toBe('1000');
    const bait = { ...offer, network: 'eip155:1', amount: '1' };
    await expect(pay(bait, { ...offer, amount: '1001' })).rejects.toThrow('spendControls');
  },
);
