import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { delistListing } from '../../src/catalogue/delisting.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { createKeptParts } from '../../src/live/kept-parts.ts';
import { buildPart } from '../../src/snapshot/part.ts';
import { agentListing } from '../../src/views/agent-listing.ts';
import { makeCatalogue, makeDeclaration, makeRoute, NOW, recordVerified } from '../builders.ts';
import { serveLive } from './serving.ts';

it('shows a listing whole: routes with terms, networks, evidence and decisions', async () => {
  const catalogue = makeCatalogue();
  writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
  recordVerified(catalogue, 'example-prices', '/v1/price/:symbol');
  const { get } = serveLive(catalogue);
  const body = await (await get('/agent/listings/example-prices')).json();
  expect(agentListing.parse(body)).toEqual(body);
  await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot('../golden/agent-listing.json');
});

it('tells a delisted listing from one that never was', async () => {
  const catalogue = makeCatalogue();
  writeCatalogue(catalogue, NOW, (writing) => recordDeclaration(writing, makeDeclaration()));
  writeCatalogue(catalogue, NOW, (writing) =>
    delistListing(writing, 'example-prices', { by: 'provider', reason: 'asked_to_be_removed' }),
  );
  const { get } = serveLive(catalogue);
  const gone = await get('/agent/listings/example-prices');
  expect(gone.status).toBe(410);
  expect(await gone.json()).toMatchObject({
    code: 'gone',
    tombstone: { slug: 'example-prices', delisted_by: 'provider', reason: 'asked_to_be_removed', delisted_at: NOW },
    decisions: expect.arrayContaining([expect.objectContaining({ kind: 'delisted' })]),
  });
  expect((await get('/agent/listings/never-was')).status).toBe(404);
  expect((await get('/agent/listings/never-was?x=1')).status).toBe(400);
  expect((await get('/agent/nothing')).status).toBe(404);
});

it('builds the answer once for each revision of the listing, and always says the revision of the catalogue', async () => {
  const catalogue = makeCatalogue();
  const routes = Array.from({ length: 3000 }, (_, n) => makeRoute({ path: `/v1/route-${n}/:symbol` }));
  const record = (slug: string, tagline: string) =>
    writeCatalogue(catalogue, NOW, (writing) =>
      recordDeclaration(writing, makeDeclaration({ slug, tagline, routes, base_url: `https://${slug}.example.com` })),
    );
  record('large', 'First.');
  const { get } = serveLive(catalogue);
  const ask = async (headers: Record<string, string> = {}) => {
    const started = performance.now();
    const response = await get('/agent/listings/large', headers);
    const bytes = Buffer.from(await response.arrayBuffer());
    const ms = performance.now() - started;
    const text = (headers['Accept-Encoding'] ? gunzipSync(bytes) : bytes).toString();
    return { ms, etag: response.headers.get('ETag'), body: agentListing.parse(JSON.parse(text)) };
  };
  const first = await ask();
  expect(first.body).toMatchObject({ revision: 1, listing: { tagline: 'First.' } });
  const again = await Promise.all([1, 2, 3, 4, 5].map(() => ask()));
  expect(again.map(({ body }) => body)).toEqual(Array(5).fill(first.body));
  const times: number[] = [];
  for (let time = 0; time < 10; time += 1) {
    const started = performance.now();
    await (await get('/agent/listings/large')).arrayBuffer();
    times.push(performance.now() - started);
  }
  expect(Math.min(...times)).toBeLessThan(first.ms / 4);

  record('other', 'Another.');
  const beside = await ask({ 'Accept-Encoding': 'gzip' });
  expect(beside).toEqual({ ms: beside.ms, etag: first.etag, body: { ...first.body, revision: 2 } });
  record('large', 'Second.');
  const changed = await ask();
  expect(changed.body).toMatchObject({ revision: 3, listing: { tagline: 'Second.' } });
  expect(changed.body.decisions.length).toBeGreaterThan(first.body.decisions.length);
  expect(changed.etag).not.toBe(first.etag);
});

it('keeps the answers asked for last, up to a number of bytes', () => {
  const kept = createKeptParts(250);
  const built: string[] = [];
  const get = (key: string, bytes = 100) =>
    kept.get(key, () => {
      built.push(key);
      return buildPart('x'.repeat(bytes));
    });
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) get(key);
  expect(built).toEqual(['a', 'b', 'c', 'b']);
  expect(get('large', 1000).length).toBe(1000);
  get('large');
  get('a');
  get('large');
  expect(built).toEqual(['a', 'b', 'c', 'b', 'large', 'a', 'large']);
});
