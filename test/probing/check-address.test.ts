import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCommands, writeManifest } from '../cli/running.ts';
import { serveDocuments } from '../importing/document-server.ts';
import { serveFeed } from '../importing/feed-server.ts';
import { makeDocument } from '../sources/openapi/documents.ts';
import { encodeHeader, makeChallenge, makeOffer } from '../x402/challenges.ts';

const ON_LOOPBACK = { ALLOW_PRIVATE_NETWORKS: 'on' };
const ENTRY = { method: 'GET', network: 'base', payTo: '0x1111111111111111111111111111111111111abc' };

/** Lists the lines of a check that are about what a document or a challenge says. */
const listFindings = ({ checks }: { checks: { check: string }[] }) => checks.filter(({ check }) => check === 'parse');

describe('checking an address', () => {
  it('of a host prints what its documents would list, and each finding with place and fix', async () => {
    const { origin, asked } = await serveDocuments({
      '/.well-known/x402': {
        body: {
          version: 1,
          resources: [
            { ...ENTRY, url: '/v1/a', price: '$0.01' },
            { ...ENTRY, url: '/v1/b', price: '10000' },
            { ...ENTRY, url: '/v1/c', price: '0' },
          ],
        },
      },
    });
    const { run, runJson, file } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('check', origin);
    expect(code).toBe(0);
    expect(json.listings).toEqual([
      {
        base_url: origin,
        title: new URL(origin).host,
        tagline: expect.any(String),
        category: expect.any(String),
        routes: [
          {
            method: 'GET',
            url: `${origin}/v1/a`,
            price_usdc: '0.01',
            networks: ['base'],
            needs: ['evm', 'exact', 'eip3009'],
            listable: false,
          },
          { method: 'GET', url: `${origin}/v1/b`, networks: [], needs: [], listable: false },
        ],
      },
    ]);
    expect(listFindings(json)).toMatchObject([
      { code: 'usd_as_usdc', place: '/resources/0/price' },
      {
        code: 'ambiguous_price',
        severity: 'advisory',
        place: '/resources/1/price',
        fix: expect.stringContaining('decimals'),
      },
      { code: 'zero_amount', severity: 'required', place: '/resources/2/price', example: expect.any(String) },
    ]);
    expect(asked).toEqual(expect.arrayContaining(['/.well-known/x402', '/openapi.json', '/v1/a', '/v1/b']));
    const text = (await run(['check', origin])).stdout;
    expect(text).toContain(`, ${origin}\n0.01 USDC on base\tGET ${origin}/v1/a\n`);
    expect(text).toMatch(/^problem .*\/v1\/c at \/resources\/2\/price: zero_amount: .*\n {2}Fix: /m);
    const shown = (await run(['check', origin], { columns: 200 })).stdout;
    expect(shown).toMatch(/problem .*\/v1\/c at \/resources\/2\/price: zero_amount: /);
    expect(shown).toContain('Fix: ');
    // Nothing was written: there is no catalogue.
    expect(existsSync(file)).toBe(false);
  });

  it('of a host with two documents prints what importing the host would list', async () => {
    const { origin } = await serveDocuments({
      '/.well-known/x402': { body: { resources: ['GET /v1/heights', 'GET /v1/ports'] } },
      '/openapi.json': { body: makeDocument({ servers: undefined }) },
    });
    const { runJson } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('check', origin);
    expect(code).toBe(0);
    expect(json.listings).toMatchObject([{ title: 'Tides of Tests', routes: [{ price_usdc: '0.02' }, {}] }]);
    expect(json.listings[0].routes[1]).not.toHaveProperty('price_usdc');
    await runJson('import', '--openapi', origin);
    const { listing } = (await runJson('show', 'tides-of-tests')).json;
    expect(listing.routes.map(({ path }: { path: string }) => `${origin}${path}`)).toEqual(
      json.listings[0].routes.map(({ url }: { url: string }) => url),
    );
  });

  it('of a document reads that document, feeds included', async () => {
    const { origin } = await serveDocuments({ '/feed': { body: { items: [{ url: 'ftp://x', accepts: [{}] }] } } });
    const { runJson } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('check', `${origin}/feed`);
    expect(code).toBe(1);
    expect(json).toMatchObject({ ok: false, listings: [] });
    expect(listFindings(json)).toMatchObject([
      { code: 'no_payable_operation' },
      { code: 'bad_url', place: '/items/0/url' },
    ]);
  });

  it('of a list without prices says that nothing goes live', async () => {
    const { origin } = await serveDocuments({ '/x402': { body: { resources: ['GET /v1/a'] } } });
    const { code, json } = await makeCommands(ON_LOOPBACK).runJson('check', `${origin}/x402`);
    expect([code, json.listings[0].routes[0].price_usdc]).toEqual([1, undefined]);
    expect(listFindings(json)).toMatchObject([{ code: 'resource_without_terms' }, { code: 'no_price', item: origin }]);
  });

  it('of an unreadable document names the line', async () => {
    const { origin } = await serveDocuments({ '/x402': { body: '{\n "resources": [,]\n}' } });
    const { json } = await makeCommands(ON_LOOPBACK).runJson('check', `${origin}/x402`);
    expect(listFindings(json)).toMatchObject([{ code: 'document_unreadable', place: 'line 2, column 16' }]);
  });

  it('of a route says what its 402 lacks, and where', async () => {
    let offer: object = makeOffer({ payTo: 'me' });
    const { address } = await serveFeed((_request, response) => {
      response.writeHead(402, { 'payment-required': encodeHeader(makeChallenge({ accepts: [offer] })) });
      response.end();
    });
    const { runJson } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('check', address);
    expect(code).toBe(1);
    expect(listFindings(json)).toMatchObject([
      {
        code: 'bad_pay_to',
        severity: 'required',
        place: '/accepts/0/payTo',
        example: expect.stringContaining('payTo'),
      },
    ]);
    offer = makeOffer({ recipient: `0x${'9'.repeat(40)}` });
    expect(listFindings((await runJson('check', address)).json)).toMatchObject([
      { code: 'pay_to_differs', severity: 'required', place: '/accepts/0/recipient', fix: expect.any(String) },
    ]);
    offer = makeOffer({ amount: '1e3' });
    expect(listFindings((await runJson('check', address)).json)).toMatchObject([
      { code: 'bad_amount', place: '/accepts/0/amount' },
    ]);
    offer = makeOffer();
    const fixed = await runJson('check', address);
    expect([fixed.code, listFindings(fixed.json)]).toEqual([0, []]);
    expect(fixed.json.listings).toMatchObject([{ routes: [{ price_usdc: '0.01', networks: ['base'] }] }]);
  });

  it('of a host names what its documents are of another protocol, and by which another 402 asks', async () => {
    const card = { protocolVersion: '0.3.0', url: 'https://a.example.com/a2a', skills: [], capabilities: {} };
    const { origin } = await serveDocuments({ '/.well-known/x402': { body: card } });
    const { code, json } = await makeCommands(ON_LOOPBACK).runJson('check', origin);
    expect([code, json.listings]).toEqual([1, []]);
    expect(listFindings(json)).toMatchObject([{ code: 'other_list', severity: 'required', fix: expect.any(String) }]);
    expect(json.checks[2].actual).toContain('an agent card of A2A: it names the endpoint https://a.example.com/a2a,');
    const { address } = await serveFeed((_request, response) => {
      response.writeHead(402, { 'www-authenticate': 'Payment id="a", realm="a", method="tempo", intent="charge"' });
      response.end();
    });
    expect(listFindings((await makeCommands(ON_LOOPBACK).runJson('check', address)).json)).toMatchObject([
      { code: 'other_payment_scheme', detail: expect.stringContaining('by MPP (Machine Payments Protocol) and not') },
    ]);
  });

  it('of a file prints what importing it would list', async () => {
    const { folder, run, runJson, file } = makeCommands();
    const manifest = writeManifest(folder, 'alpha.yaml');
    expect(await runJson('check', manifest)).toMatchObject({
      code: 0,
      json: {
        checks: [{ item: 'alpha.yaml', passed: true }],
        listings: [
          { title: 'The alpha service', routes: [{ method: 'GET', price_usdc: '0.002', networks: ['base'] }] },
        ],
      },
    });
    writeFileSync(manifest, 'name: Broken\n');
    const broken = await runJson('check', manifest);
    expect(broken).toMatchObject({ code: 1, json: { ok: false, listings: [] } });
    expect(broken.json.checks[0].passed).toBe(false);
    expect(listFindings(broken.json)[0]).toMatchObject({
      severity: 'required',
      place: 'line 1',
      fix: expect.any(String),
    });
    const document = join(folder, 'openapi.json');
    writeFileSync(document, JSON.stringify(makeDocument()));
    const read = await runJson('check', document);
    expect([read.code, read.json.checks[0].item]).toEqual([0, 'openapi.json']);
    writeFileSync(document, '{"hello": "world"}');
    expect(listFindings((await runJson('check', document)).json)).toMatchObject([{ code: 'not_api_document' }]);
    expect((await run(['check', document, '--method', 'POST'])).code).toBe(2);
    expect((await run(['check', join(folder, 'none.yaml')])).code).toBe(2);
    expect(existsSync(file)).toBe(false);
  });

  it('of a host takes its name without https://, and nothing that is none', async () => {
    const { run } = makeCommands();
    const { code, stderr } = await run(['check', 'none.yaml']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('a file, a host such as api.example.com')]);
    const { stdout } = await run(['check', 'nobody.example.com/v1/x']);
    expect(stdout).toMatch(/^problem GET https:\/\/nobody\.example\.com\/v1\/x at /);
  });

  it('of a host with nothing says what the host answers', async () => {
    const { origin } = await serveDocuments({ '/': { body: '<p>Hello', type: 'text/html' } });
    const { code, json } = await makeCommands(ON_LOOPBACK).runJson('check', origin);
    expect(code).toBe(1);
    expect(json.checks).toMatchObject([
      { check: 'reachable', item: origin, passed: true },
      { check: 'documents', passed: false, actual: expect.stringContaining('/.well-known/x402: nothing; ') },
      { check: 'returns_402', item: `GET ${origin}/`, passed: false, code: 'answered_unpaid', place: 'status' },
    ]);
  });
});

describe('importing', () => {
  it('a host alone takes the file at its usual place, with the OpenAPI document that it names', async () => {
    const { origin } = await serveDocuments({
      '/.well-known/x402.json': {
        body: { endpoints: [{ ...ENTRY, path: '/v1/a', price: '$0.01' }], openapi: '/api.json' },
      },
      '/api.json': {
        body: {
          openapi: '3.1.0',
          info: { title: 'Tides' },
          paths: { '/v1/a': { get: { summary: 'All', 'x-payment-info': {} } } },
        },
      },
    });
    const { runJson } = makeCommands(ON_LOOPBACK);
    expect((await runJson('import', '--openapi', origin)).json).toMatchObject({
      items: { received: 2, taken: 1, duplicates: 1, refused: 0 },
      listings: { added: 1 },
    });
    const { listing } = (await runJson('show', 'tides')).json;
    expect(listing).toMatchObject({ price_min: 10_000, routes: [{ path: '/v1/a', description: 'All' }] });
  });

  it('a feed by an unknown name names those that are known', async () => {
    const { code, stderr } = await makeCommands().run(['import', '--feed', 'nobody']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('cdp, payai')]);
  });
});
