import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeOffer } from './bazaar/items.ts';
import { listFindings, readDocument, takeDocument } from './openapi/documents.ts';

const URL_OF_FILE = 'https://api.tides-of-tests.com/.well-known/x402';
const AT = { url: URL_OF_FILE, name: URL_OF_FILE };

describe('a /.well-known/x402 file', () => {
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
        source: { kind: 'openapi', name: URL_OF_FILE, observed_at: null },
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
    expect(declarations[0]).toMatchObject({ title: 'api.tides-of-tests.com', service_name: null });
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
    expect(listFindings({ accepts: [offer] }, AT).map(({ code }) => code)).toContain('other_origin');
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

const CORPUS = resolve(import.meta.dirname, '../../../shared/corpus/provider-openapi');
const isThere = existsSync(CORPUS);
if (!isThere)
  console.info("Not run: reading a real provider's documents, because the corpus is not beside the project.");

describe.skipIf(!isThere)("a real provider's documents", () => {
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
