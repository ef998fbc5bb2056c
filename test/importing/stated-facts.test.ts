import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCommands } from '../cli/running.ts';
import { makeDocumentOf } from '../sources/openapi/documents.ts';

const SOURCE = 'https://api.tides-of-tests.com/.well-known/x402.json';

/** Imports a document that was saved from an address. Returns the report, and the only listing. */
async function importSaved(document: object, source = SOURCE) {
  const { folder, runJson } = makeCommands();
  const file = join(folder, 'saved.json');
  writeFileSync(file, JSON.stringify(document));
  const { json } = await runJson('import', '--openapi', file, '--source', source);
  const slug = json.outcomes[0]?.slug;
  return { report: json, listing: slug ? (await runJson('show', slug)).json.listing : undefined };
}

function listRoutes({ routes }: { routes: { method: string; path: string; terms: { amount: number }[] }[] }) {
  return routes.map(({ method, path, terms }) => `${method} ${path} ${terms.map(({ amount }) => amount).join()}`);
}

describe('a saved file', () => {
  it('has the addresses that are relative to the one it was saved from, as the operator’s word', async () => {
    const { report, listing } = await importSaved({
      resources: [{ url: '/v1/heights', method: 'GET', price: '$0.01' }],
    });
    expect(report).toMatchObject({ feed: SOURCE, items: { taken: 1, refused: 0 } });
    expect(listing).toMatchObject({ base_url: 'https://api.tides-of-tests.com', state: 'live' });
    expect(listing.sources).toMatchObject([{ authority: 'operator' }]);
  });

  it('of OpenAPI has relative servers, too', async () => {
    const { listing } = await importSaved(
      makeDocumentOf({}, 'get', { servers: [{ url: '/api' }] }),
      'https://api.tides-of-tests.com/openapi.json',
    );
    expect(listing.base_url).toBe('https://api.tides-of-tests.com/api');
  });
});

describe('what an entry of a file says', () => {
  it('of decimals beside an amount is its price', async () => {
    const price = { amount: '10000', currency: 'USDC', decimals: 6 };
    const { report, listing } = await importSaved({ resources: [{ url: '/v1/heights', method: 'GET', price }] });
    expect(listing).toMatchObject({ state: 'live', price_min: 10_000, price_max: 10_000 });
    expect(report.findings.map(({ code }: { code: string }) => code)).not.toContain('ambiguous_price');
  });

  it('of decimals in an OpenAPI document is its price', async () => {
    const price = { mode: 'fixed', amount: '10000', currency: 'USDC', decimals: 6 };
    const payment = { 'x-payment-info': { price, protocols: ['x402'] } };
    expect((await importSaved(makeDocumentOf(payment))).listing).toMatchObject({ price_min: 10_000 });
  });

  it('of its purpose is its description, and each of its methods a route', async () => {
    const entry = { url: '/v1/heights', methods: ['GET', 'POST'], purpose: 'Heights of tides.', price: '$0.01' };
    const { report, listing } = await importSaved({ resources: [entry] });
    expect(listRoutes(listing)).toEqual(['GET /v1/heights 10000', 'POST /v1/heights 10000']);
    expect(listing.routes[0].description).toBe('Heights of tides.');
    expect(report.items).toEqual({ received: 2, taken: 2, duplicates: 0, refused: 0 });
  });

  it.each([
    [{ description: 'OpenAPI spec (free)' }],
    [{ free: true }],
    [{ paid: false }],
    [{ price: 'free' }],
    [{ price: 0 }],
  ])('of being free keeps it from being sold: %j', async (words) => {
    const file = {
      price: '$0.001',
      resources: [
        { url: '/v1/heights', method: 'GET' },
        { url: '/openapi.json', method: 'GET', ...words },
      ],
    };
    const { report, listing } = await importSaved(file);
    expect(listRoutes(listing)).toEqual(['GET /v1/heights 1000']);
    expect(report.findings).toContainEqual(
      expect.objectContaining({
        ...{ code: 'zero_amount', severity: 'refused', item: 'https://api.tides-of-tests.com/openapi.json' },
        place: expect.stringMatching(/^\/resources\/1/),
      }),
    );
  });
});
