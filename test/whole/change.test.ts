import { expect, it } from 'vitest';
import { makeFolder } from '../builders.ts';
import { ask, serveSiteFixture } from '../http/running.ts';
import { connectModern } from '../mcp/clients.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { removeListing } from '../written.ts';

/** The link of its card; the news of its removal names it, too. */
const CARD = '"><a href="/api/api-77"';

it('a new listing is in every live document and at its page once it is published, and on the home page after the rebuild', async () => {
  const fixture = await makeSiteFixture(makeFolder(), { count: 3 });
  const server = await serveSiteFixture({ fixture, rebuilding: true });
  const has = async (path: string, what: string) => (await ask(server, path)).text.includes(what);
  expect(await has('/', '/api/api-77')).toBe(false);

  await fixture.put([77], 'new');
  await server.catchUp();

  expect(await has('/openapi.json', '"name":"api-77"')).toBe(true);
  expect(await has('/agent/list', '"slug":"api-77"')).toBe(true);
  const agent = await connectModern(new URL(`${server.url}/mcp`));
  expect((await agent.call('get_listing', { slug: 'api-77' })).structured).toMatchObject({ slug: 'api-77' });
  const page = await ask(server, '/api/api-77');
  expect([page.status, page.text.includes('<h1')]).toEqual([200, true]);
  await expect.poll(() => has('/', CARD), { interval: 200 }).toBe(true);
  expect((await ask(server, '/api/api-77')).text).toBe(page.text);

  await removeListing(
    fixture.catalogue,
    'api-77',
    { by: 'operator', reason: 'asked_to_be_removed' },
    new Date().toISOString(),
  );
  await server.catchUp();
  expect(await has('/openapi.json', '"name":"api-77"')).toBe(false);
  expect((await ask(server, '/api/api-77')).status).toBe(410);
  await expect.poll(() => has('/', CARD), { interval: 200 }).toBe(false);
});
