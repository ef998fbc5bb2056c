import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCommands } from '../cli/running.ts';
import { skipWithout } from '../skipped.ts';
import { makeDocument, makeOperation } from '../sources/openapi/documents.ts';
import { serveDocuments } from './document-server.ts';

const ON_LOOPBACK = { ALLOW_PRIVATE_NETWORKS: 'on' };

describe("importing a provider's document", () => {
  it('lists it with its routes and prices as a bare claim, and the same again changes nothing', async () => {
    const { origin } = await serveDocuments({ '/openapi.json': { body: makeDocument({ servers: undefined }) } });
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('import', '--openapi', `${origin}/openapi.json`);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      feed: `${origin}/openapi.json`,
      complete: true,
      next: null,
      items: { received: 1, taken: 1, duplicates: 0, refused: 0 },
      listings: { added: 1 },
      revision: { before: 0, after: 1 },
      outcomes: [{ outcome: 'added', slug: 'tides-of-tests', base_url: origin }],
    });
    const { listing } = (await runJson('show', 'tides-of-tests')).json;
    expect(listing).toMatchObject({
      state: 'live',
      price_min: 20_000,
      networks: [{ key: 'base', advertised: false, last_seen_at: null }],
      routes: [{ method: 'GET', path: '/v1/heights' }],
      sources: [{ kind: 'openapi', observed_at: null }],
    });
    const again = await runJson('import', '--openapi', `${origin}/openapi.json`);
    expect(again.json).toMatchObject({ listings: { added: 0, unchanged: 1 }, revision: { before: 1, after: 1 } });
    expect((await run(['why', 'tides-of-tests'])).stdout).toContain('an OpenAPI document says so');
  });

  it('drops routes that are gone, and withdraws the declaration of a listing that moved', async () => {
    const paths = { '/v1/a': { get: makeOperation() }, '/v1/b': { get: makeOperation() } };
    const { origin, pages } = await serveDocuments({
      '/openapi.json': { body: makeDocument({ servers: undefined, paths }) },
    });
    const { runJson } = makeCommands(ON_LOOPBACK);
    await runJson('import', '--openapi', `${origin}/openapi.json`);
    pages['/openapi.json'] = { body: makeDocument({ servers: undefined, paths: { '/v1/b': paths['/v1/b'] } }) };
    expect((await runJson('import', '--openapi', `${origin}/openapi.json`)).json.listings).toMatchObject({
      changed: 1,
    });
    const { listing } = (await runJson('show', 'tides-of-tests')).json;
    expect(listing.routes.map(({ path }: { path: string }) => path)).toEqual(['/v1/b']);

    pages['/openapi.json'] = { body: makeDocument({ servers: [{ url: '/v2' }], paths }) };
    const { json } = await runJson('import', '--openapi', `${origin}/openapi.json`);
    expect(json).toMatchObject({
      ...{ complete: true, listings: { added: 1 } },
      outcomes: [
        { base_url: `${origin}/v2`, outcome: 'added' },
        { base_url: origin, outcome: 'withdrawn' },
      ],
    });
    const { declarations } = (await runJson('show', 'tides-of-tests')).json;
    expect(declarations).toMatchObject([{ withdrawn_at: expect.any(String) }]);
  });

  it('recognises a /.well-known/x402 file', async () => {
    const { origin } = await serveDocuments({ '/.well-known/x402': { body: { version: 1, resources: ['/v1/a'] } } });
    const { runJson } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('import', '--openapi', `${origin}/.well-known/x402`);
    expect(code).toBe(0);
    expect(json).toMatchObject({ items: { received: 1, taken: 1 }, listings: { held: 1 } });
    expect(json.reasons.map(({ code: reason }: { code: string }) => reason)).toEqual([
      'method_assumed',
      'resource_without_terms',
    ]);
  });

  it('reads a file, and lists it where the operator says', async () => {
    const { folder, run, runJson } = makeCommands();
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(makeDocument({ servers: undefined })));
    const without = await run(['import', '--openapi', file]);
    expect(without.code).toBe(1);
    expect(without.stderr).toMatch(
      /^error: The document openapi\.json#\w+ does not say .*\nhint: Give it with --base-url/,
    );
    const base = 'https://api.tides-of-tests.com/';
    expect((await runJson('import', '--openapi', file, '--base-url', base)).json).toMatchObject({
      feed: expect.stringMatching(/^openapi\.json#/),
      outcomes: [{ outcome: 'added', base_url: 'https://api.tides-of-tests.com' }],
    });
  });

  it('keeps why an operation is not listed', async () => {
    const { folder, run, runJson } = makeCommands();
    const file = join(folder, 'openapi.json');
    const paths = {
      '/v1/a': { get: makeOperation() },
      '/v1/b': { get: makeOperation({ 'x-payment-info': { price: '0.01', protocols: ['mpp'] } }) },
    };
    writeFileSync(file, JSON.stringify(makeDocument({ paths })));
    const { code, json } = await runJson('import', '--openapi', file);
    expect(code).toBe(0);
    expect(json).toMatchObject({ items: { received: 2, taken: 1, refused: 1 }, listings: { added: 1 } });
    expect((await run(['why', 'https://api.tides-of-tests.com/v1/b'])).stdout).toContain('refused not_x402');
  });

  it('ends with 1 and advice if nothing in it is payable', async () => {
    const { folder, runJson } = makeCommands();
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(makeDocument({ paths: { '/a': { get: {} } } })));
    const { code, json } = await runJson('import', '--openapi', file);
    expect(code).toBe(1);
    expect(json).toMatchObject({
      complete: false,
      next: expect.stringContaining('x-payment-info'),
      items: { received: 0 },
    });
  });

  it.each([
    ['bad_status', { status: 500 }],
    ['document_html', { type: 'text/html', body: '<!doctype html>' }],
    ['not_api_document', { body: { hello: 'world' } }],
    ['other_list', { body: { type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1', services: [] } }],
    ['openapi_version', { body: { swagger: '2.0' } }],
    ['too_large', { body: Buffer.alloc(10 * 1024 * 1024 + 1, ' ') }],
  ])('records nothing and says why: %s', async (reason, page) => {
    const { origin } = await serveDocuments({ '/openapi.json': page });
    const { runJson } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('import', '--openapi', `${origin}/openapi.json`);
    expect([code, json.error.reason]).toEqual([1, reason]);
    expect((await runJson('status')).json.listings).toMatchObject({ live: 0, held: 0 });
  });

  it('does not reach private addresses, and takes no base address there', async () => {
    const { origin, asked } = await serveDocuments({ '/openapi.json': { body: makeDocument() } });
    const { folder, runJson } = makeCommands();
    expect((await runJson('import', '--openapi', `${origin}/openapi.json`)).json.error.reason).toMatch(
      /not_https|blocked/,
    );
    expect(asked).toEqual([]);
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(makeDocument()));
    expect((await runJson('import', '--openapi', file, '--base-url', 'https://10.0.0.1')).json.error.reason).toBe(
      'blocked_address',
    );
    expect((await runJson('import', '--openapi', join(folder, 'none.json'))).json.error.reason).toBe('no_such_file');
    expect((await runJson('import', '--openapi', folder)).json.error.reason).toBe('not_a_file');
  });

  it.each([
    [['import', '--base-url', 'https://a.example', 'x.yaml']],
    [['import', '--openapi', 'x.json', '--bazaar', 'y.json']],
    [['import', '--openapi', 'x.json', 'z.yaml']],
    [['import']],
  ])('is wrong usage: %j', async (args) => {
    expect((await makeCommands().run(args)).code).toBe(2);
  });
});

const FILE = resolve(import.meta.dirname, '../../../shared/corpus/provider-openapi/openapi.json');

it("a real provider's document is imported, sound, and again changes nothing", async (context) => {
  skipWithout('corpus', context);
  const { runJson } = makeCommands();
  expect((await runJson('import', '--openapi', FILE)).json).toMatchObject({
    listings: { added: 1 },
    items: { taken: 10 },
  });
  const again = await runJson('import', '--openapi', FILE);
  expect(again.json).toMatchObject({ listings: { unchanged: 1 }, revision: { before: 1, after: 1 } });
  const { checks } = (await runJson('check')).json;
  expect(checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ name }: { name: string }) => name)).toEqual([
    'published',
    'pages',
  ]);
});
