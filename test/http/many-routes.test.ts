import { expect, it } from 'vitest';
import { agentListing } from '../../src/views/listing/record.ts';
import { makeCatalogue, makeDeclaration, makeFolder, makeRoute } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { declareListings } from '../written.ts';
import { ask, serveSiteFixture } from './running.ts';
import { serveLive } from './serving.ts';

const ROUTES = 1203;
const LARGE = makeDeclaration({
  slug: 'large',
  base_url: 'https://large.example.com',
  routes: Array.from({ length: ROUTES }, (_, number) =>
    makeRoute({ path: `/v1/items/${number}`, description: `Says all of item ${number}.` }),
  ),
});

it('the document of a listing has 500 routes a page, or fewer, and says how many there are', async () => {
  const catalogue = await makeCatalogue();
  await declareListings(catalogue, [LARGE]);
  const { get } = await serveLive(catalogue);
  for (const [limit, counts] of [
    ['', [500, 500, 203]],
    ['&limit=401', [401, 401, 401]],
  ] as const) {
    const paths = new Set<string>();
    const etags = new Set<string | null>();
    let cursor = '';
    for (const count of counts) {
      const response = await get(`/agent/listings/large?${cursor}${limit}`.replace(/[?&]+/, '?'));
      etags.add(response.headers.get('ETag'));
      const body = agentListing.parse(await response.json());
      expect([body.routes_total, body.listing.routes.length]).toEqual([ROUTES, count]);
      for (const { path } of body.listing.routes) paths.add(path);
      cursor = body.next_cursor === undefined ? '' : `cursor=${body.next_cursor}`;
    }
    expect([cursor, paths.size, etags.size]).toEqual(['', ROUTES, counts.length]);
  }
  const { next_cursor } = await (await get('/agent/listings/large')).json();
  for (const query of ['limit=501', 'limit=0', 'cursor=x', 'offset=3'])
    expect([query, (await get(`/agent/listings/large?${query}`)).status]).toEqual([query, 400]);
  expect((await get(`/agent/listings/other?cursor=${next_cursor}`)).status).toBe(400);
});

it('the document of a listing has the ten routes that fit a request best first, and all of them page by page', async () => {
  const catalogue = await makeCatalogue();
  await declareListings(catalogue, [LARGE]);
  const { get } = await serveLive(catalogue);
  const read = async (query: string) => agentListing.parse(await (await get(`/agent/listings/large?${query}`)).json());
  const first = await read('q=item+1107');
  expect(first.listing.routes).toHaveLength(10);
  expect(first).toMatchObject({ routes_total: ROUTES, listing: { routes: { 0: { path: '/v1/items/1107' } } } });
  const paths = new Set(first.listing.routes.map(({ path }) => path));
  for (let cursor = first.next_cursor; cursor !== undefined; ) {
    const next = await read(`query=item+1107&limit=500&cursor=${cursor}`);
    for (const { path } of next.listing.routes) paths.add(path);
    cursor = next.next_cursor;
  }
  expect(paths.size).toBe(ROUTES);
  expect((await get(`/agent/listings/large?cursor=${first.next_cursor}`)).status).toBe(400);
});

it('the pages of a listing have 500 routes, and where the others are', async () => {
  const fixture = await makeSiteFixture(makeFolder());
  await declareListings(fixture.catalogue, [LARGE], '2026-11-21T12:00:00.000Z');
  const server = await serveSiteFixture({ fixture, written: false });
  const findNext = (text: string) => /\/api\/large\.md\?page=\d+/.exec(text)?.[0] ?? '';
  const listItems = (text: string) => [...text.matchAll(/\/v1\/items\/(\d+)`: 0/g)].map(([, number]) => number);

  const page = (await ask(server, '/api/large')).text;
  expect(page.match(/id="(?:get|post)-/g)).toHaveLength(500);
  const first = await ask(server, '/api/large.md');
  expect(findNext(first.text)).toBe(findNext(page));
  const texts = [first.text];
  for (let next = findNext(first.text); next !== ''; next = findNext(texts.at(-1) ?? ''))
    texts.push((await ask(server, next)).text);
  expect(texts.map((text) => listItems(text).length)).toEqual([500, 500, 203]);
  expect(new Set(texts.flatMap(listItems)).size).toBe(ROUTES);
  for (const text of texts) expect(text).toContain(`Endpoints: ${ROUTES}`);
  const twin = await ask(server, findNext(first.text).replace('.md', ''), { headers: { Accept: 'text/markdown' } });
  expect(listItems(twin.text)).toEqual(listItems(texts[1] ?? ''));
  expect(twin.headers['content-location']).toBe('/api/large.md?page=2');
  for (const [page, status] of [
    ['0', 400],
    ['x', 400],
    ['4', 404],
    ['99999', 400],
    ['01', 200],
  ] as const)
    expect([page, (await ask(server, `/api/large.md?page=${page}`)).status]).toEqual([page, status]);
  expect((await ask(server, '/api/large.md?from=elsewhere')).text).toBe(first.text);
});
