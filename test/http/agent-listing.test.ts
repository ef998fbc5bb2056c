import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { agentListing } from '../../src/views/listing/record.ts';
import { makeCatalogue, makeDeclaration, makeRoute, NOW, recordVerified } from '../builders.ts';
import { expectGolden } from '../golden.ts';
import { declareListings, removeListing } from '../written.ts';
import { SITE, serveLive } from './serving.ts';

it('shows a listing whole: routes with terms, networks, evidence and decisions', async () => {
  const catalogue = await makeCatalogue();
  await declareListings(catalogue, [makeDeclaration()]);
  await recordVerified(catalogue, 'example-prices', '/v1/price/:symbol');
  const { get } = await serveLive(catalogue);
  const body = await (await get('/agent/listings/example-prices')).json();
  expect(agentListing.parse(body)).toEqual(body);
  await expectGolden(body, 'agent-listing.json');
});

it('shows no media type that is none, though one may be on record', async () => {
  const catalogue = await makeCatalogue();
  const routes = ['text/html; a=\u202Eb', `text/html${'; a=b'.repeat(40_000)}`, 'text/csv; header=present'].map(
    (mime_type, at) => makeRoute({ path: `/v1/${at}`, mime_type }),
  );
  await declareListings(catalogue, [makeDeclaration({ routes })]);
  const { listing } = await (await (await serveLive(catalogue)).get('/agent/listings/example-prices')).json();
  const types = agentListing.shape.listing.parse(listing).routes.map(({ mime_type }) => mime_type);
  expect(types).toEqual([null, null, 'text/csv; header=present']);
});

it.each([
  { length: 'a short one', routes: 2, least: 0 },
  { length: 'one that is unpacked while it is sent', routes: 200, least: 128 * 1024 },
])(
  'is sent compressed as it lies, the same as page by page, and plain to whoever takes no gzip: $length',
  async ({ routes: count, least }) => {
    const catalogue = await makeCatalogue();
    const routes = Array.from({ length: count }, (_, number) => makeRoute({ path: `/é/😀/${number}` }));
    await declareListings(catalogue, [makeDeclaration({ routes })]);
    const { get } = await serveLive(catalogue);
    const ask = async (path: string, accepted: string) => {
      const response = await get(path, { 'Accept-Encoding': accepted });
      const [encoding, etag] = ['Content-Encoding', 'ETag'].map((name) => response.headers.get(name));
      const body = Buffer.from(await response.arrayBuffer());
      return { encoding, etag, text: String(encoding === 'gzip' ? gunzipSync(body) : body) };
    };
    const packed = await ask('/agent/listings/example-prices', 'gzip, br');
    expect(packed.encoding).toBe('gzip');
    expect(packed.text.length).toBeGreaterThan(least);
    for (const accepted of ['identity', 'br', 'gzip;q=0']) {
      expect(await ask('/agent/listings/example-prices', accepted)).toEqual({ ...packed, encoding: null });
    }
    expect(await ask('/agent/listings/example-prices?limit=500', 'gzip')).toEqual(packed);
  },
);

it('tells a delisted listing from one that never was', async () => {
  const catalogue = await makeCatalogue();
  await declareListings(catalogue, [makeDeclaration()]);
  await removeListing(catalogue, 'example-prices', { by: 'provider', reason: 'asked_to_be_removed' });
  const { get } = await serveLive(catalogue);
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

it('is the same while other listings change, and its header names the revision of the catalogue', async () => {
  const catalogue = await makeCatalogue();
  const record = (slug: string, tagline: string) =>
    declareListings(catalogue, [makeDeclaration({ slug, tagline, base_url: `https://${slug}.example.com` })]);
  await record('one', 'First words.');
  const { get } = await serveLive(catalogue);
  const ask = async () => {
    const response = await get('/agent/listings/one');
    const [etag, revision] = ['ETag', 'X-Catalogue-Revision'].map((name) => response.headers.get(name) ?? '');
    return { etag, revision, body: agentListing.parse(await response.json()) };
  };
  const first = await ask();
  expect(first.body).toMatchObject({ revision: 1, listing: { tagline: 'First words.' } });
  await record('other', 'Other words.');
  expect(await ask()).toEqual({ ...first, revision: '2' });
  expect((await get('/agent/listings/one', { 'If-None-Match': String(first.etag) })).status).toBe(304);
  await record('one', 'Second words.');
  const changed = await ask();
  expect(changed.body).toMatchObject({ revision: 3, listing: { tagline: 'Second words.' } });
  expect(changed.body.decisions.length).toBeGreaterThan(first.body.decisions.length);
  expect(changed.etag).not.toBe(first.etag);
});

it('has another ETag at another address of the service, which it names', async () => {
  const catalogue = await makeCatalogue();
  await declareListings(catalogue, [makeDeclaration({ slug: 'one' })]);
  const ask = async (baseUrl: string) => {
    const response = await (await serveLive(catalogue, undefined, { ...SITE, baseUrl })).get('/agent/listings/one');
    return { etag: response.headers.get('ETag'), text: await response.text() };
  };
  const [here, there] = [await ask(SITE.baseUrl), await ask('https://other.example')];
  expect(there.text).toBe(here.text.replaceAll(SITE.baseUrl, 'https://other.example'));
  expect(there.text).not.toBe(here.text);
  expect(there.etag).not.toBe(here.etag);
});
