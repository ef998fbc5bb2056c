import { expect, it } from 'vitest';
import { makeFolder } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { ask, serveSiteFixture, shareServer, type TestServer } from './running.ts';

const getServer = shareServer();

/** Asks for results as a browser does, and gives the paths of the listings on the page. */
async function search(server: TestServer, path: string) {
  const { status, text } = await ask(server, path);
  const next = /<a href="([^"]+)" rel="next nofollow">/
    .exec(text)?.[1]
    ?.replaceAll('&#38;', '&')
    .replaceAll('&amp;', '&');
  return {
    status,
    text,
    next,
    found: [...text.matchAll(/<h3[^>]*><a href="([^"#]+)/g)].map(([, href]) => href ?? ''),
  };
}

it('shows every listing once, page after page, in the order asked for', async () => {
  const server = await serveSiteFixture({
    fixture: await makeSiteFixture(makeFolder(), { count: 60 }),
    written: false,
  });
  const all: string[] = [];
  let path: string | undefined = '/search?sort=name';
  for (let pages = 0; path !== undefined && pages < 9; pages += 1) {
    const page: Awaited<ReturnType<typeof search>> = await search(server, path);
    expect(page.status).toBe(200);
    expect(page.text).toContain(`–${Math.min(60, all.length + 25)} of 60 listings`);
    all.push(...page.found);
    path = page.next;
  }
  expect(all).toHaveLength(60);
  expect(all).toEqual([...new Set(all)].sort());

  const tools = await search(server, '/search?category=Tools&sort=updated&q=&network=');
  expect(tools.text).toContain('12 listings');
  expect(tools.text).toContain('<meta name="robots" content="noindex">');
});

it('answers from the catalogue as it is now, each search for itself', async () => {
  const server = await serveSiteFixture();
  expect((await search(server, '/search?q=zebra')).found).toEqual([]);
  await server.fixture.put([99], 'zebra');
  await server.catchUp();
  expect((await search(server, '/search?q=zebra')).found).toEqual(['/api/api-99']);
  expect((await search(server, '/search?q=first')).found).not.toContain('/api/api-99');
  expect((await ask(server, '/search?q=first', { method: 'HEAD' })).status).toBe(200);
});

it('keeps what its form has no field for when the form is sent again', async () => {
  const server = getServer();
  const { text } = await search(server, '/search?q=first&can=exact&host=example.com&path=/v1&page=1&network=base');
  const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
  expect(hidden.map(([, name, value]) => `${name}=${value}`).sort()).toEqual([
    'can=exact',
    'host=example.com',
    'path=/v1',
  ]);
});

it('says how to find something where nothing matches', async () => {
  const server = getServer();
  const { text } = await search(server, '/search?q=first&network=solana&max_price_usdc=$1');
  expect(text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')).toContain(
    'Nothing matches all of this. Nearest: 8 listings if you drop Solana 8 listings if you drop all filters',
  );
});

it('says where nothing fits well, leads to the nearest categories, and folds the results', async () => {
  const server = getServer();
  const read = async (query: string) => {
    const { text } = await search(server, `/search?${query}`);
    const links = /<p>Nearest: (.*?)<\/p>/s.exec(text)?.[1]?.match(/href="[^"]+"/g) ?? [];
    return { text, links, isFolded: text.includes('Listings that do not fit all of this') };
  };
  const weak = await read('q=first+zanzibar+dentistry+%3Cb%3Epizza');
  expect(weak.text).toContain('Nothing fits all of this; the nearest are listed. No listing mentions');
  expect(weak.isFolded).toBe(true);
  expect(weak.links.length).toBeGreaterThan(0);
  for (const link of weak.links) expect(link).toMatch(/^href="\/category\/[a-z]+"$/);
  expect(await read('q=first')).toMatchObject({ isFolded: false, links: [] });
});

it('names what answers more of the request outside the filters, and only that', async () => {
  const server = await serveSiteFixture();
  await server.fixture.put([99], 'zebra');
  await server.catchUp();
  const say = async (query: string) => {
    const { text } = await search(server, `/search?${query}`);
    return /<p class="soft">\s*(Outside these filters.*?)\s*<\/p>/
      .exec(text)?.[1]
      ?.replace(/<[^>]+>/g, '')
      .trim();
  };
  // Within the first filter are other listings that have some of the words, within the second one none.
  const outside = expect.stringMatching(
    /^Outside these filters, GET \S+ of Title99 zebra answers more of the request: 0\.\d+ USDC, Base\.$/,
  );
  const { category: own } = JSON.parse((await ask(server, '/agent/listings/api-99')).text);
  const category = own === 'Data' ? 'Tools' : 'Data';
  expect(await say(`q=zebra+first&category=${category}`)).toEqual(outside);
  expect(await say('q=zebra&network=solana')).toEqual(outside);
  // Words do not filter, so nothing is outside.
  expect(await say('q=zebra+on+solana')).toBeUndefined();
  expect(await say('q=zebra&network=base')).toBeUndefined();
  expect(await say('q=zebra')).toBeUndefined();
  expect(await say('q=zebra&network=solana&sort=price')).toBeUndefined();
});

it('says with status 400 what is wrong with a search, and keeps what was asked in the form', async () => {
  const server = getServer();
  for (const [query, words] of [
    ['category=tools', 'Did you mean Tools?'],
    ['max_price_usdc=cheap', 'The parameter max_price_usdc cannot be &quot;cheap&quot;.'],
    ['catgory=Tools', 'Did you mean category?'],
    ['q=a&q=b', 'The parameter q is given more than once.'],
    ['limit=5', 'There is no parameter &quot;limit&quot; here.'],
    ['page=2', 'There is no page 2 of this search.'],
    ['page=0', 'page takes a whole number from 1'],
    ['q=%3Cscript%3E&band=x', '&lt;script&gt;'],
  ] as const) {
    const { status, text, found } = await search(server, `/search?${query}`);
    expect([query, status, found]).toEqual([query, 400, []]);
    expect([query, text.replaceAll('&#34;', '&quot;').includes(words)]).toEqual([query, true]);
    // Within the quotes of an attribute `<` is plain text.
    expect(text.replace(/"[^"]*"/g, '')).not.toContain('<script>');
  }
});
