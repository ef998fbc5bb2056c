import { describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { openPublishedForWriting } from '../../src/published/file.ts';
import { listPages } from '../../src/published/pages.ts';
import { openReading, type Reading } from '../../src/published/reading.ts';
import { NOW } from '../builders.ts';
import { makeReadCatalogue } from '../published/catalogues.ts';
import { removeListing } from '../written.ts';
import { SITE, serveLive } from './serving.ts';

/** Reads a sitemap or an index by sitemaps.org: one root, and in each entry a location and, it may be, a time. */
function readSitemap(text: string, root: 'urlset' | 'sitemapindex'): Map<string, string | undefined> {
  const entry = root === 'urlset' ? 'url' : 'sitemap';
  const frame = `<\\?xml version="1\\.0" encoding="UTF-8"\\?>\\n<${root} xmlns="http://www\\.sitemaps\\.org/schemas/sitemap/0\\.9">\\n([^]*)</${root}>\\n`;
  const [, inside = '', ...more] = new RegExp(`^${frame}$`).exec(text) ?? [];
  expect([text.slice(0, 40), more]).toEqual(['<?xml version="1.0" encoding="UTF-8"?>\n<', []]);
  const pattern = new RegExp(`<${entry}><loc>([^<&]+)</loc>(?:<lastmod>([^<]+)</lastmod>)?</${entry}>\\n`, 'g');
  expect(inside.replace(pattern, '')).toBe('');
  return new Map([...inside.matchAll(pattern)].map(([, loc = '', lastmod]) => [loc, lastmod]));
}

/** Puts copies of the one listing there is into the published file, at the next revision; their slugs begin with `start`. */
function publishCopies({ published: { file } }: Reading, copies: number, start = '9'): void {
  const { sqlite, close } = openPublishedForWriting(file);
  const names = (sqlite.pragma('table_info(listings)') as { name: string }[]).map(({ name }) => name);
  const values = names.map((name) => (['number', 'slug', 'id'].includes(name) ? `'${start}' || n` : name));
  sqlite.exec(`WITH RECURSIVE copies (n) AS (SELECT 10000 UNION ALL SELECT n + 1 FROM copies LIMIT ${copies})
    INSERT INTO listings SELECT ${values.join(', ')} FROM (SELECT * FROM listings LIMIT 1), copies;
    UPDATE catalogue SET revision = revision + 1;
    UPDATE listings SET revision = (SELECT revision FROM catalogue) WHERE slug GLOB '${start}*'`);
  close();
}

describe('the sitemaps', () => {
  it('name every page for people once, listings with the time they changed', async () => {
    const { catalogue, reading } = await makeReadCatalogue({ slug: 'one' }, { slug: 'two' }, { slug: 'three' });
    await removeListing(catalogue, 'two', { by: 'operator', reason: 'test' });
    const { get } = await serveLive(catalogue);
    const index = await get('/sitemap-index.xml');
    expect(index.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    const sitemaps = readSitemap(await index.text(), 'sitemapindex');
    expect([...sitemaps.keys()]).toEqual([`${SITE.baseUrl}/sitemap-1.xml`, `${SITE.baseUrl}/sitemap-2.xml`]);
    const all = new Map<string, string | undefined>();
    for (const sitemap of sitemaps.keys()) {
      const text = await (await get(sitemap.slice(SITE.baseUrl.length))).text();
      for (const [loc, lastmod] of readSitemap(text, 'urlset')) {
        expect([loc, all.has(loc)]).toEqual([loc, false]);
        all.set(loc, lastmod);
      }
    }
    const pages = [...listPages(reading.published, reading.getSnapshot())].filter(({ file }) => file.endsWith('.html'));
    const wanted = pages.map(({ path }) => path).filter((path) => path !== '/404');
    expect([...all.keys()].sort()).toEqual(wanted.map((path) => `${SITE.baseUrl}${path === '/' ? '' : path}`).sort());
    expect(all.get(`${SITE.baseUrl}/api/one`)).toBe(NOW);
    expect(all.has(`${SITE.baseUrl}/api/two`)).toBe(false);
  });

  it('are no more than the index names', async () => {
    const { get } = await serveLive((await makeReadCatalogue({ slug: 'one' })).catalogue);
    for (const path of ['/sitemap-3.xml', '/sitemap-0.xml', '/sitemap-999999999.xml', '/sitemap-02.xml']) {
      const answer = await get(path);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        404,
        'application/problem+json',
      ]);
    }
  });

  it('hold 50,000 addresses each at most', async () => {
    const { reading } = await makeReadCatalogue({ slug: 'one' });
    const count = 50_100;
    publishCopies(reading, count - 1);
    const app = createApp({ reading });
    const ask = async (path: string) => (await app.request(path)).text();
    const index = readSitemap(await ask('/sitemap-index.xml'), 'sitemapindex');
    expect(index.size).toBe(3);
    const parts = await Promise.all([2, 3].map((number) => ask(`/sitemap-${number}.xml`)));
    const sizes = parts.map((text) => readSitemap(text, 'urlset').size);
    expect(sizes).toEqual([50_000, count - 50_000]);
    expect(Math.max(...parts.map((text) => text.length))).toBeLessThan(50 * 1024 * 1024);
    // Which sitemap an address is in does not depend on what was asked for before.
    publishCopies(reading, 130, '93');
    const another = createApp({ reading: openReading(reading.published.file, SITE) });
    for (const number of [2, 3]) {
      const path = `/sitemap-${number}.xml`;
      expect((await ask(path)) === (await (await another.request(path)).text())).toBe(true);
    }
  });
});
