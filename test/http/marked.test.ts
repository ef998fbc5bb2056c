import { expect, it } from 'vitest';
import type { AgentItem } from '../../src/views/listing/item.ts';
import { makeDeclaration, makeFolder, makeRoute, recordVerified } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { declareListings } from '../written.ts';
import { ask, serveSiteFixture } from './running.ts';

const REASON = 'Its host, staging.harbour-a.com, is named as one for development or tests.';

/** Makes one of several listings that answer a request alike. */
function makeTides(slug: string, host: string, description = `Tides, as ${slug} has them.`) {
  return makeDeclaration({
    ...{
      slug,
      base_url: `https://${host}`,
      title: 'Tides',
      tagline: 'Tides at a harbour.',
      description,
      category: 'Data',
    },
    routes: [makeRoute({ path: '/tides', description: 'Tides of the day.' })],
  });
}

async function serve() {
  const fixture = await makeSiteFixture(makeFolder(), { count: 0 });
  await declareListings(fixture.catalogue, [
    makeTides('a', 'staging.harbour-a.com', 'Tides and eclipses.'),
    makeTides('b', 'api.harbour-b.com'),
    makeTides('c', 'api.harbour-c.com'),
  ]);
  const server = await serveSiteFixture({ fixture, written: false });
  const list = async (query: string): Promise<AgentItem[]> =>
    JSON.parse((await ask(server, `/agent/list?${query}`)).text).listings;
  return { ...server, list, read: async (path: string) => (await ask(server, path)).text };
}

it('a host for tests comes after others that fit as well, verified or not, and nowhere else in the order', async () => {
  const { list, fixture, catchUp } = await serve();
  const order = async (query: string) => (await list(query)).map(({ slug }) => slug);
  expect(await order('q=tides')).toEqual(['b', 'c', 'a']);
  expect(await order('q=tides&sort=price')).toEqual(['a', 'b', 'c']);
  expect(await order('')).toEqual(['a', 'b', 'c']);
  await recordVerified(fixture.catalogue, 'a', '/tides', '2026-11-21T12:00:00.000Z');
  await catchUp();
  expect(await order('q=tides')).toEqual(['b', 'c', 'a']);
  expect((await order('q=tides+eclipses'))[0]).toBe('a');
});

it('says what it is and why', async () => {
  const { list, read } = await serve();
  const marked = { as: 'test', because: REASON };
  expect((await list('q=tides')).map((item) => [item.slug, item.marked])).toEqual([
    ['b', undefined],
    ['c', undefined],
    ['a', marked],
  ]);
  expect(JSON.parse(await read('/agent/listings/a')).listing.marked).toEqual(marked);
  expect(await read('/api/a.md')).toContain(`Marked as a test: ${REASON}`);
  expect(await read('/api/a')).toContain(REASON);
  for (const path of ['/api/b', '/api/b.md']) expect((await read(path)).includes('Marked as')).toBe(false);
  const category = await read('/category/data');
  const hosts = [...category.matchAll(/<span class="host">([^<]+)</g)].map(([, host]) => host);
  expect(hosts).toEqual(['api.harbour-b.com', 'api.harbour-c.com', 'staging.harbour-a.com']);
  expect(category.match(/<b title="Its host, staging[^>]*>test</g)).toHaveLength(1);
});
