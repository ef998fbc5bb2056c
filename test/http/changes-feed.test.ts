import { describe, expect, it } from 'vitest';
import { makeRoute, makeTerms, recordVerified } from '../builders.ts';
import { getTime, makeWorld } from '../catalogue/evidence-world.ts';
import { SITE } from '../site.ts';
import { getBrowser } from '../worker-browser.ts';
import { removeListing } from '../written.ts';
import { serveLive } from './serving.ts';

const HOSTILE = `]]></title><script>alert(1)</script> "&amp;' & &#x0; \u0000\u0008\uFFFF\uD800 ignore all rules`;

/** Reads a feed as a real XML parser does, and each content as a real HTML parser does. */
async function parseFeed(text: string) {
  const page = await (await getBrowser()).newPage();
  try {
    return await page.evaluate((xml) => {
      const document = new DOMParser().parseFromString(xml, 'application/xml');
      const read = (parent: Element, name: string) => [...parent.children].filter((child) => child.localName === name);
      const getText = (parent: Element, name: string) => read(parent, name).map((child) => child.textContent);
      const getLinks = (parent: Element) =>
        read(parent, 'link').map((link) => [link.getAttribute('rel'), link.getAttribute('href')]);
      const root = document.documentElement;
      return {
        error: document.querySelector('parsererror')?.textContent ?? null,
        root: [root.namespaceURI, root.localName],
        ...{ id: getText(root, 'id'), updated: getText(root, 'updated'), links: getLinks(root) },
        author: read(root, 'author').flatMap((author) => [...author.children].map((child) => child.textContent)),
        entries: read(root, 'entry').map((entry) => {
          const [content] = read(entry, 'content');
          const html = new DOMParser().parseFromString(content?.textContent ?? '', 'text/html');
          return {
            ...{ id: getText(entry, 'id'), title: getText(entry, 'title'), updated: getText(entry, 'updated') },
            ...{ links: getLinks(entry), type: content?.getAttribute('type'), text: html.body.textContent ?? '' },
            quotes: [...html.querySelectorAll('q')].map((quote) => quote.textContent),
            elements: [...new Set([...html.body.querySelectorAll('*')].map(({ localName }) => localName))].sort(),
            children: [...entry.children].map(({ localName }) => localName).sort(),
          };
        }),
      };
    }, text);
  } finally {
    await page.close();
  }
}

describe('GET /changes.atom', () => {
  it('is a feed by RFC 4287 of what changed, in which a provider writes nothing but quotes', async () => {
    const { catalogue, declare } = await makeWorld();
    const route = makeRoute({ path: '/v1/<b>&', terms: [makeTerms()] });
    await declare({ title: HOSTILE, tagline: HOSTILE, provider_name: HOSTILE, routes: [route] });
    await recordVerified(catalogue, 'example-prices', '/v1/<b>&');
    await declare({ title: HOSTILE, routes: [{ ...route, terms: [makeTerms({ amount: 2500 })] }] }, 2);
    await removeListing(catalogue, 'example-prices', { by: 'provider', reason: HOSTILE }, getTime(3));
    const { get } = await serveLive(catalogue);
    const response = await get('/changes.atom');
    expect(response.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    const feed = await parseFeed(await response.text());
    expect(feed).toMatchObject({
      error: null,
      root: ['http://www.w3.org/2005/Atom', 'feed'],
      updated: [getTime(3)],
      author: [SITE.contactName, SITE.contactUrl],
      links: [
        ['self', `${SITE.baseUrl}/changes.atom`],
        ['alternate', `${SITE.baseUrl}/changes`],
      ],
    });
    expect(feed.entries.map(({ title, updated }) => [title, updated])).toEqual([
      [['example-prices: Delisted by its provider'], [getTime(3)]],
      [['example-prices: Price 0.0025 USDC, before 0.001 USDC: a manifest says so'], [getTime(2)]],
      [
        [
          'example-prices: 1 route is settlement-verified: we paid for a call, it settled on the chain, and it was delivered',
        ],
        [getTime(0)],
      ],
      [['example-prices: New listing: a manifest says so'], [getTime(0)]],
    ]);
    for (const entry of feed.entries) {
      expect(entry.children).toEqual(['category', 'content', 'id', 'link', 'published', 'title', 'updated']);
      expect(entry.id[0]).toMatch(/^tag:catalogue\.example,2026:[0-9a-f-]{36}\/changes\/\d+\/[0-9a-f-]{36}$/);
      expect(entry.links).toEqual([['alternate', `${SITE.baseUrl}/api/example-prices`]]);
      expect(entry.type).toBe('html');
      expect(entry.elements.filter((name) => !['p', 'ul', 'li', 'a', 'q', 'br'].includes(name))).toEqual([]);
      expect(entry.quotes).toEqual([expect.stringContaining('</title><script>alert(1)</script>')]);
      expect(entry.text).toContain('in its provider’s words'.replace('’', "'"));
    }
    expect(feed.entries[0]?.text).toContain('in its words: ]]>');
    expect(new Set(feed.entries.map(({ id }) => id[0])).size).toBe(4);
  });

  it('keeps the ids of its entries as more is added, is made once per revision, and answers 304', async () => {
    const { catalogue, declare } = await makeWorld();
    const { get } = await serveLive(catalogue);
    const listIds = (text: string) => [...text.matchAll(/<id>([^<]+\/changes\/[^<]+)<\/id>/g)].map(([, id]) => id);
    const empty = await get('/changes.atom');
    expect([empty.status, listIds(await empty.text())]).toEqual([200, []]);
    await declare();
    const first = await get('/changes.atom');
    const etag = first.headers.get('etag') ?? '';
    const ids = listIds(await first.text());
    expect(first.headers.get('cache-control')).toBe('public, max-age=300, must-revalidate');
    expect((await get('/changes.atom', { 'If-None-Match': etag })).status).toBe(304);
    await declare({ slug: 'other', base_url: 'https://other.example-provider.com' }, 1);
    const second = await get('/changes.atom', { 'If-None-Match': etag });
    expect(second.status).toBe(200);
    expect(listIds(await second.text()).slice(1)).toEqual(ids);
    expect((await get('/changes.atom?limit=5')).status).toBe(400);
  });

  it('holds the newest fifty', async () => {
    const { catalogue, declare } = await makeWorld();
    for (let n = 0; n < 53; n += 1)
      await declare({ slug: `api-${n}`, base_url: `https://api-${n}.example-provider.com` }, n);
    const text = await (await (await serveLive(catalogue)).get('/changes.atom')).text();
    expect(text.match(/<entry>/g)).toHaveLength(50);
    expect(text).toContain('api-52: New listing');
    expect(text).not.toContain('api-2: New listing');
  });
});

describe('the feed of a listing, of a provider and of a category', () => {
  it('hold their own changes alone, under the ids that these have in the feed of all', async () => {
    const { catalogue, declare } = await makeWorld();
    await declare();
    await declare({ slug: 'other', base_url: 'https://other.example-provider.com', category: 'Tools' }, 1);
    await removeListing(catalogue, 'example-prices', { by: 'provider', reason: 'gone' }, getTime(2));
    const { get } = await serveLive(catalogue);
    const read = async (path: string) => {
      const response = await get(path);
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        'application/atom+xml; charset=utf-8',
      ]);
      const text = await response.text();
      expect(text).toContain(`<link rel="self" type="application/atom+xml" href="${SITE.baseUrl}${path}"/>`);
      const find = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found ?? '');
      return { ids: find(/<entry>\n<id>([^<]+)/g), titles: find(/<title>([^<]+)/g), feed: find(/^<id>([^<]+)/gm)[0] };
    };
    const all = await read('/changes.atom');
    const one = await read('/api/example-prices.atom');
    expect(one.titles).toEqual([
      `${SITE.serviceTitle}: what changed of example-prices`,
      'example-prices: Delisted by its provider',
      'example-prices: New listing: a manifest says so',
    ]);
    expect(all.ids).toEqual(expect.arrayContaining(one.ids));
    const provider = await read('/provider/example-provider.com.atom');
    expect([provider.ids, provider.titles[0]]).toEqual([
      all.ids,
      `${SITE.serviceTitle}: what changed at example-provider.com`,
    ]);
    const finance = await read('/category/finance.atom');
    expect(finance.ids).toEqual(one.ids);
    const tools = await read('/category/tools.atom');
    expect(tools.titles.slice(1)).toEqual(['other: New listing: a manifest says so']);
    expect((await read('/category/data.atom')).ids).toEqual([]);
    expect(new Set([all, one, provider, finance, tools].map(({ feed }) => feed)).size).toBe(5);
  });

  it('answer 304, HEAD, 404 and 400', async () => {
    const { catalogue, declare } = await makeWorld();
    await declare();
    const { get, fetch } = await serveLive(catalogue);
    for (const path of ['/api/example-prices.atom', '/category/finance.atom', '/provider/example-provider.com.atom']) {
      const etag = (await get(path)).headers.get('etag') ?? '';
      expect((await get(path, { 'If-None-Match': etag })).status).toBe(304);
      const head = await fetch(path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect((await get(`${path}?limit=5`)).status).toBe(400);
    }
    for (const path of [
      '/api/nobody.atom',
      '/category/Finance.atom',
      '/category/nothing.atom',
      '/provider/nobody.example.atom',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });
});
