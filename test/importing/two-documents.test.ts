import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { makeCommands } from '../cli/running.ts';
import { makeDocumentOf } from '../sources/openapi/documents.ts';
import { serveDocuments } from './document-server.ts';

const PAYEE = '7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK';

/** Serves an OpenAPI document and an x402 file of one host, and imports them in an order. Returns the listing. */
async function importBoth(openapi: object, file: object, order: readonly Document[]) {
  const { origin } = await serveDocuments({
    '/openapi.json': { body: openapi },
    '/.well-known/x402': { body: file },
  });
  let time = Date.parse('2026-11-20T00:00:00.000Z');
  const { runJson } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' }, () => {
    time += 1000;
    return new Date(time);
  });
  let slug = '';
  for (const path of order) {
    const { json } = await runJson('import', '--openapi', `${origin}/${path}`);
    slug = json.outcomes[0].slug;
  }
  const { listing } = (await runJson('show', slug)).json;
  return { ...listing, origin };
}

type Document = 'openapi.json' | '.well-known/x402';
const ORDERS: [Document, Document][] = [
  ['openapi.json', '.well-known/x402'],
  ['.well-known/x402', 'openapi.json'],
];

describe('two documents of one provider', () => {
  it.each(ORDERS)('%s, then %s: an offer that is stated stands before an assumed network', async (...order) => {
    const openapi = makeDocumentOf({ 'x-payment-info': { price: '0.02' } }, 'get', { servers: undefined });
    const offer = { scheme: 'exact', network: NETWORKS.solana.id, asset: NETWORKS.solana.usdc, payTo: PAYEE };
    const listing = await importBoth(
      openapi,
      { items: [{ resource: '/v1/heights', method: 'GET', accepts: [{ ...offer, amount: '20000' }] }] },
      order,
    );
    expect(listing.routes).toHaveLength(1);
    const current = listing.routes[0].terms.filter(({ current }: { current: boolean }) => current);
    expect(current).toMatchObject([{ network: 'solana', pay_to: PAYEE, amount: 20_000 }]);
    expect(listing.networks).toMatchObject([{ key: 'base', advertised: false }, { key: 'solana' }]);
    expect(listing).toMatchObject({ primary_network: 'solana', state: 'live' });
  });

  it.each(ORDERS)('%s, then %s: a contradiction in price is a notice that names both', async (...order) => {
    const openapi = makeDocumentOf({ 'x-payment-info': { price: '0.02' } }, 'get', { servers: undefined });
    const file = { items: [{ url: '/v1/heights', method: 'GET', price: '0.03', currency: 'USDC', network: 'base' }] };
    const { routes, origin } = await importBoth(openapi, file, order);
    expect(routes[0].cautions).toMatchObject([
      {
        code: 'prices_differ',
        severity: 'notice',
        since: expect.any(String),
        evidence: {
          ...{ amount: 30_000, source: `${origin}/.well-known/x402` },
          ...{ amount_other: 20_000, source_other: `${origin}/openapi.json` },
        },
      },
      { code: 'never_seen' },
    ]);
  });

  it('read as one say their contradiction, too, and the same import again changes nothing', async () => {
    const openapi = makeDocumentOf({ 'x-payment-info': { price: '0.02' } }, 'get', { servers: undefined });
    const file = { openapi: '/openapi.json', items: [{ url: '/v1/heights', method: 'GET', price: '0.03' }] };
    const { origin } = await serveDocuments({
      '/openapi.json': { body: openapi },
      '/.well-known/x402': { body: file },
    });
    const { run, runJson } = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
    const { json } = await runJson('import', '--openapi', `${origin}/.well-known/x402`);
    expect(json.findings).toContainEqual({
      ...{ code: 'prices_differ', severity: 'noted', item: `GET ${origin}/v1/heights` },
      message: `The two documents state different prices: 0.03 USDC by ${origin}/.well-known/x402, 0.02 USDC by ${origin}/openapi.json.`,
    });
    expect((await run(['show', json.outcomes[0].slug])).stdout).toContain(
      'Two documents of its provider state different prices',
    );
    const again = await runJson('import', '--openapi', `${origin}/.well-known/x402`);
    expect(again.json.revision).toEqual({ before: 1, after: 1 });
  });

  it('say nothing against each other where they agree, or where somebody else contradicts', async () => {
    const openapi = makeDocumentOf({ 'x-payment-info': { price: '0.03' } }, 'get', { servers: undefined });
    const file = { items: [{ url: '/v1/heights', method: 'GET', price: '0.03', currency: 'USDC', network: 'solana' }] };
    const { routes } = await importBoth(openapi, file, ['openapi.json', '.well-known/x402']);
    expect(routes[0].cautions.map(({ code }: { code: string }) => code)).toEqual(['never_seen']);
  });
});
