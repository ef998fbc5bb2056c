import { describe, expect, it } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { recordDeclaration } from '../../src/catalogue/write/declarations.ts';
import { agentComparison } from '../../src/views/compare.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW, recordVerified } from '../builders.ts';
import { expectGolden } from '../golden.ts';
import { recordPaid } from '../paid.ts';
import { ask, serveSiteFixture } from './running.ts';
import { serveLive } from './serving.ts';

const VERIFIED = 'example-prices GET /v1/price/:symbol';
const LOST = 'other-prices GET /quote';
const GONE = 'gone-prices GET /v1/price/:symbol';

/** A verified route, one that was paid for in vain, and one whose listing was removed. */
async function serveThree() {
  const catalogue = await makeCatalogue();
  const terms = [makeTerms(), makeTerms({ amount: 1200, network: 'solana' })];
  await writeCatalogue(catalogue, NOW, async (writing) => {
    await recordDeclaration(writing, makeDeclaration());
    await recordDeclaration(
      writing,
      makeDeclaration({
        slug: 'other-prices',
        base_url: 'https://other.example-provider.com/api',
        routes: [
          makeRoute({
            path: '/quote',
            terms,
            input_schema: { properties: { symbol: { type: 'string' } }, required: ['symbol'] },
            output_schema: { properties: { price: { type: 'number' } } },
          }),
        ],
      }),
    );
    await recordDeclaration(
      writing,
      makeDeclaration({ slug: 'gone-prices', base_url: 'https://gone.example-provider.com' }),
    );
    await delistListing(writing, 'gone-prices', { by: 'provider', reason: 'asked_to_be_removed' });
  });
  await recordVerified(catalogue, 'example-prices', '/v1/price/:symbol', '2026-11-17T12:00:00.000Z');
  await recordPaid(catalogue, 'other-prices', {
    path: '/quote',
    id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b02',
    status: 500,
  });
  return await serveLive(catalogue);
}

function buildQuery(...routes: string[]): string {
  return `?${new URLSearchParams(routes.map((name) => ['routes', name]))}`;
}

describe('GET /agent/compare', () => {
  it('shows routes side by side in the order asked for, and says of each that is not there why', async () => {
    const { get } = await serveThree();
    const response = await get(`/agent/compare${buildQuery(LOST, VERIFIED, GONE, 'example-prices GET /v1/prices')}`);
    const body = await response.json();
    expect(agentComparison.parse(body)).toEqual(body);
    expect(body.routes.map(({ name, state }: { name: string; state: string }) => [name, state])).toEqual([
      [LOST, 'live'],
      [VERIFIED, 'live'],
      [GONE, 'removed'],
      ['example-prices GET /v1/prices', 'unknown'],
    ]);
    const [lost, verified, gone, unknown] = body.routes;
    expect(lost.route).toMatchObject({
      price_min_usdc: 0.001,
      price_max_usdc: 0.0012,
      verified: false,
      proof_age_days: null,
      inputs: ['symbol'],
      outputs: ['price'],
      cautions: [{ code: 'undelivered', severity: 'danger', since: NOW }],
    });
    expect(verified.route).toMatchObject({ verified: true, proof_age_days: 3, recorded_price_max_usdc: 0.001 });
    expect(gone).toMatchObject({ tombstone: { slug: 'gone-prices', delisted_by: 'provider' } });
    expect(unknown).toMatchObject({ notice: expect.stringContaining('no route GET /v1/prices'), nearest: [VERIFIED] });
    await expectGolden(body, 'agent-compare.json');
  });

  it('takes the address that a route is called at in place of its path', async () => {
    const { get } = await serveThree();
    const called = 'other-prices GET https://other.example-provider.com/api/quote';
    const { routes } = await (await get(`/agent/compare${buildQuery(called, VERIFIED)}`)).json();
    expect(routes[0]).toMatchObject({ name: called, state: 'live', route: { path: '/quote' } });
  });

  it('says with status 400 how many routes it takes, and how they are written', async () => {
    const { get } = await serveThree();
    const more = Array.from({ length: 5 }, (_, at) => `api-${at} GET /x`);
    for (const [query, detail, hint] of [
      ['', 'The parameter routes is missing.', 'Give routes 2 to 4 times.'],
      [buildQuery(VERIFIED), 'The parameter routes is given once.', 'Give routes 2 to 4 times.'],
      [buildQuery(...more), 'The parameter routes is given 5 times.', 'Give routes 2 to 4 times.'],
      [buildQuery(VERIFIED, VERIFIED), 'The parameter routes takes each route once.', 'Give routes 2 to 4 times.'],
      [buildQuery(VERIFIED, 'GET /x'), 'The parameter routes cannot be "GET /x".', 'a slug, a method and a path'],
      [`${buildQuery(VERIFIED, LOST)}&route=x`, 'There is no parameter "route" here.', 'Did you mean routes?'],
    ] as const) {
      const response = await get(`/agent/compare${query}`);
      expect([query, response.status]).toEqual([query, 400]);
      expect(await response.json()).toMatchObject({ detail, hint: expect.stringContaining(hint) });
    }
  });

  it('answers 304 while nothing changed, and HEAD without a body', async () => {
    const { get, fetch } = await serveThree();
    const path = `/agent/compare${buildQuery(VERIFIED, LOST)}`;
    const etag = (await get(path)).headers.get('etag') ?? '';
    expect((await get(path, { 'If-None-Match': etag })).status).toBe(304);
    const head = await fetch(path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});

describe('the page of a comparison', () => {
  it('shows routes side by side, keeps out of search engines, and offers others while there is room', async () => {
    const server = await serveSiteFixture();
    const [first, second] = ['api-1', 'api-2'].map((slug) => `${slug} GET /v1/price/:symbol`) as [string, string];
    const both = await ask(server, `/compare${buildQuery(first, second)}`);
    expect([both.status, both.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(both.text).toContain('<meta name="robots" content="noindex">');
    expect(both.text).toContain('href="/agent/compare?routes=api-1');
    expect(both.text.match(/<th scope="col"/g)).toHaveLength(2);
    const one = await ask(server, `/compare${buildQuery(first)}`);
    expect(one.text).toContain('Add to the comparison');
    const none = await ask(server, `/compare${buildQuery(first, 'nobody GET /x')}`);
    expect([none.status, none.text.includes('There is no listing &quot;nobody&quot;.')]).toEqual([200, true]);
    await server.fixture.put([1], 'second');
    await server.catchUp();
    expect((await ask(server, `/compare${buildQuery(first, second)}`)).text).toContain('Title1 second');
  });

  it('answers HEAD and 304, refuses other methods, and says with status 400 what is wrong', async () => {
    const server = await serveSiteFixture();
    const path = `/compare${buildQuery('api-1 GET /v1/price/:symbol')}`;
    const { etag = '' } = (await ask(server, path)).headers;
    expect((await ask(server, path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    expect((await ask(server, path, { method: 'HEAD' })).status).toBe(200);
    expect((await ask(server, path, { method: 'POST' })).status).toBe(405);
    for (const [query, words] of [
      ['', 'Choose up to four routes to compare.'],
      ['?routes=x', 'The parameter routes cannot be &quot;x&quot;.'],
      [
        `${buildQuery('a GET /1', 'a GET /2', 'a GET /3', 'a GET /4', 'a GET /5')}`,
        'Choose up to four routes to compare.',
      ],
    ] as const) {
      const refused = await ask(server, `/compare${query}`);
      expect([query, refused.status, refused.text.includes(words)]).toEqual([query, 400, true]);
    }
  });
});
