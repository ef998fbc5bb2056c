import { describe, expect, it } from 'vitest';
import type { Terms } from '../../src/model/terms.ts';
import { makeDeclaration, makeRoute, makeTerms, NOW, recordReceiptFor } from '../builders.ts';
import { connectModern } from '../mcp/clients.ts';
import { serveMcp } from '../mcp/serving.ts';
import { openPages } from '../pages/site.ts';
import { recordProbed } from '../sampled.ts';
import { CALLED } from './checking.ts';
import { serveLive } from './serving.ts';

const SLUG = 'example-prices';
const ROUTE = `${SLUG} GET /v1/price/:symbol`;
const PROVED = [makeTerms({ amount: 10_000 })];
const RISEN = [makeTerms({ amount: 50_000 })];
/** The price as every surface says it, beside when it was verified. */
const SAID = / ?at 0\.01 USDC/;

/** Serves a listing whose one route was verified at 0.01 USDC, and was then seen for 20 days to ask `now`. */
async function serveRoute(now: Terms[]) {
  const source = { kind: 'manifest' as const, name: 'prices.yaml', observed_at: '2026-10-15T00:00:00.000Z' };
  const { catalogue, url } = await serveMcp([makeDeclaration({ source, routes: [makeRoute({ terms: PROVED })] })]);
  await recordProbed(catalogue, SLUG, [{ at: '2026-10-19T00:00:00.000Z', terms: PROVED }]);
  await recordReceiptFor(catalogue, SLUG, { amount: 10_000, settled_at: '2026-10-20T00:00:00.000Z' });
  const days = ['2026-10-31T12:00:00.000Z', '2026-11-15T12:00:00.000Z', '2026-11-19T12:00:00.000Z'];
  for (const at of days) await recordProbed(catalogue, SLUG, [{ at, terms: now }]);
  const { get, fetch, reading } = await serveLive(catalogue, () => new Date(NOW));
  return {
    url,
    reading,
    getText: async (path: string) => (await get(path)).text(),
    getJson: async (path: string) => JSON.parse(await (await get(path)).text()),
    search: async () => {
      const body = JSON.stringify({ query: { text: 'price of one symbol' } });
      return (await fetch('/search', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).json();
    },
  };
}

const COMPARE = `?${new URLSearchParams([
  ['routes', ROUTE],
  ['routes', `${SLUG} GET /other`],
])}`;
const PAGES = [
  '/',
  '/verified',
  '/search',
  '/search?q=price+of+one+symbol',
  `/api/${SLUG}`,
  `/api/${SLUG}.md`,
  `/compare${COMPARE}`,
];
const TEXTS = [`/badge/${SLUG}.svg`, '/llms-full.txt', '/openapi.json'];

describe('a route that asks another price than was verified', () => {
  it('says on each page and in each text at what price it was verified, though no caution speaks of it', async () => {
    const { reading, getText, getJson } = await serveRoute(RISEN);
    expect((await getJson('/agent/list')).listings[0].cautions).toEqual([]);
    const pages = await openPages(reading);
    for (const path of PAGES) expect((await pages.get(path)).text, path).toMatch(/2026-10-20 ?at 0\.01 USDC/);
    for (const path of TEXTS) expect(await getText(path), path).toContain('2026-10-20 at 0.01 USDC');
    const { text } = await pages.get(`/api/${SLUG}`);
    expect(text.match(/2026-10-20 ?at 0\.01 USDC/g), 'in the header and in the row').toHaveLength(2);
    expect(text).toContain('asks 0.05 USDC now');
  });

  it('carries the price in JSON that names no proof', async () => {
    const { getJson, search } = await serveRoute(RISEN);
    const [item] = (await getJson('/agent/list?q=price+of+one+symbol')).listings;
    expect(item).toMatchObject({ price_min_usdc: 0.05, verified_price_usdc: 0.01 });
    expect(item.route).toMatchObject({ verified: true, verified_price_usdc: 0.01 });
    expect((await getJson(`/agent/listings/${SLUG}`)).listing).toMatchObject({ verified_price_usdc: 0.01 });
    const check = await getJson(`/agent/check?url=${encodeURIComponent(CALLED)}`);
    expect(check.route).toMatchObject({ verification: 'settlement-verified', verified_price_usdc: '0.01' });
    expect(JSON.stringify(await getJson('/discovery/resources'))).toContain('"verified_amount":"10000"');
    expect((await search()).results[0].metadata).toMatchObject({
      verified_price_usdc: 0.01,
      route_verified_price_usdc: 0.01,
    });
  });

  it('is told over MCP', async () => {
    const client = await connectModern((await serveRoute(RISEN)).url);
    const find = async (args: object) => (await client.call('search_listings', { ...args })).structured;
    const { structured: listing } = await client.call('get_listing', { slug: SLUG });
    for (const answer of [await find({}), await find({ q: 'price of one symbol' }), listing]) {
      expect(JSON.stringify(answer)).toContain('2026-10-20 at 0.01 USDC');
    }
  });
});

it('says nothing of a price that is asked still', async () => {
  const served = await serveRoute(PROVED);
  const pages = await openPages(served.reading);
  for (const path of PAGES) expect((await pages.get(path)).text, path).not.toMatch(SAID);
  for (const path of TEXTS) expect(await served.getText(path), path).not.toMatch(SAID);
  const documents = ['/agent/list?q=price+of+one+symbol', '/discovery/resources'];
  for (const path of documents) expect(await served.getText(path), path).not.toMatch(/"verified_(price_usdc|amount)"/);
});
