import { describe, expect, it } from 'vitest';
import { listFurtherPages, listPages, type PageRef } from '../../src/published/pages.ts';
import type { Reading } from '../../src/published/reading.ts';
import { PATHS } from '../../src/views/links.ts';
import { PAGE_LOADER } from '../../src/views/pages/page-loader.ts';
import { makeRoute, recordVerified } from '../builders.ts';
import { isLivePath } from '../http/live-paths.ts';
import { SITE } from '../http/serving.ts';
import { makeListed, makeReadCatalogue } from '../published/catalogues.ts';
import { openTestReading } from '../reading.ts';
import { makeCopied } from '../recorded.ts';
import { recordProbed } from '../sampled.ts';
import { declareListings } from '../written.ts';
import { type Answer, listAttributes, openPages, type Pages } from './site.ts';

/** Makes enough listings for a second page of a category, one of them verified. */
async function makeFullCatalogue() {
  const catalogue = await makeCopied('a full site', async (made) => {
    const many = Array.from({ length: 101 }, (_, at) => makeListed({ slug: `tool-${at}`, category: 'Tools' }));
    const routes = [makeRoute(), makeRoute({ path: '/v1/other' })];
    await declareListings(made, [makeListed({ routes }), ...many]);
    await recordVerified(made, 'example-prices', '/v1/other');
  });
  return { catalogue, reading: await openTestReading(catalogue) };
}

type PagePlace = Pick<PageRef, 'path' | 'file'>;

/** Lists what all pages answer, those that are written and further ones of lists. */
async function listAnswers(pages: Pages, { published, getSnapshot }: Reading): Promise<[PagePlace, Answer][]> {
  const written = [...listPages(published, getSnapshot())];
  const further = [...listFurtherPages(published)].map(({ path }) => ({ path, file: `${path.slice(1)}.html` }));
  const answers: [PagePlace, Answer][] = [];
  for (const place of [...written, ...further]) answers.push([place, await pages.get(place.path)]);
  return answers;
}

describe('the pages of the inventory', () => {
  it('all answer, resolve every link of their own, and hold to one structure', async () => {
    const { reading } = await makeFullCatalogue();
    const pages = await openPages(reading);
    const answers = await listAnswers(pages, reading);
    const byPath = new Map(answers.map(([{ path }, answer]) => [path, answer]));
    expect(answers.length).toBe(2 * 102 + 30);
    const problems: string[] = [];
    for (const [{ path, file }, { status, type, html }] of answers) {
      const complain = (what: string) => problems.push(`${path}: ${what}`);
      if (status !== (path === '/404' ? 404 : 200)) complain(`status ${status}`);
      if (!file.endsWith('.html')) continue;
      if (type !== 'text/html; charset=utf-8') complain(type);
      if (html.match(/<h1\b/g)?.length !== 1) complain('not one h1');
      if (!html.startsWith('<!DOCTYPE html><html lang="en">')) complain('no language');
      if (!/<meta name="description" content="[^"]+">/.test(html)) complain('no description');
      const canonical = `<link rel="canonical" href="https://catalogue.example${path === '/' ? '' : path}">`;
      if (html.includes(canonical) === (path === '/404')) complain('canonical link');
      for (const part of ['<header', '<main id="main"', '<footer', 'class="skip" href="#main"']) {
        if (!html.includes(part)) complain(`no ${part}`);
      }
      // The one inline script is the loader, which the content security policy admits by its hash.
      const rest = html.replaceAll(`">${PAGE_LOADER}</script>`, '" src="">');
      if (/<script(?![^>]*\s(?:src=|type="application\/ld\+json"))|<style|\sstyle="|\son[a-z]+="/.test(rest))
        complain('inline script or style');
      // One character beyond Latin-1 makes V8 hold the whole page in two bytes each, and take a fifth longer over it: our own
      // signs of that kind are written as entities.
      if (path.startsWith('/api/') && /[^\0-\xff]/.test(html)) complain('characters of two bytes');
      const ids = listAttributes(html, 'id');
      if (new Set(ids).size !== ids.length) complain('an id twice');
      for (const label of listAttributes(html, 'aria-labelledby').flatMap((labels) => labels.split(' ')))
        if (!ids.includes(label)) complain(`label ${label}`);
      for (const link of [...listAttributes(html, 'href'), ...listAttributes(html, 'src')]) {
        const url = new URL(link, `${SITE.baseUrl}${path}`);
        if (url.origin !== SITE.baseUrl || url.href === SITE.contactUrl) continue;
        const target = byPath.get(url.pathname.replace(/^(\/api\/.*)\.md$/, '$1'));
        if (url.pathname === PATHS.search || url.pathname === PATHS.compare) continue;
        if (!target && !pages.assets.has(url.pathname) && !isLivePath(url.pathname)) complain(`links to ${link}`);
        if (url.hash && !listAttributes(target?.html ?? '', 'id').includes(url.hash.slice(1))) complain(`no ${link}`);
      }
    }
    expect(problems).toEqual([]);
  });

  it('are the same to the byte when rendered again, at another time', async () => {
    const { reading, catalogue } = await makeFullCatalogue();
    const pages = await openPages(reading);
    const later = await openTestReading(catalogue, { now: () => new Date('2027-01-01T00:00:00.000Z') });
    const again = await openPages(later);
    for (const path of [
      '/',
      '/llms.txt',
      '/category/tools',
      '/category/tools/2',
      '/verified',
      '/api/tool-7',
      '/method',
      '/docs/providers',
      '/404',
    ]) {
      expect((await again.get(path)).html).toBe((await pages.get(path)).html);
    }
  });
});

describe('the pages that list', () => {
  it('say on the home page what this is, how much there is as of when, and how agents connect', async () => {
    const pages = await openPages((await makeFullCatalogue()).reading);
    const { text, html } = await pages.get('/');
    expect(text).toContain('listing is free, providers keep 100% of what a call earns, nothing is proxied');
    expect(text).toContain('102 live listings, 1 of them settlement-verified, as of 2026-11-20 12:00 UTC.');
    expect(text).toContain('https://catalogue.example/mcp');
    expect(text).toContain('https://catalogue.example/openapi.json');
    expect(text).toContain('https://catalogue.example/llms.txt');
    expect(text).toMatch(/Tools 101 listings/);
    expect(text).toMatch(/Proved lately Example Prices .* 1 of 2 routes verified, 2026-11-20/);
    expect(listAttributes(html, 'href')).toContain('/category/verification');
  });

  it('say on the home page of when it is and what to do next, until anything was probed, also in vain', async () => {
    const { reading, catalogue } = await makeReadCatalogue({}, { slug: 'other' });
    const pages = await openPages(reading);
    const { text, html } = await pages.get('/');
    expect(text).toContain('2 APIs as their sources described them in November 2026; nothing probed yet.');
    expect(listAttributes(html, 'href')).toContain('/docs/operating#first-probe');
    await recordProbed(catalogue, 'other', [{ at: '2026-11-21T06:00:00.000Z', outcome: 'timeout' }]);
    expect((await pages.get('/')).text).not.toContain('nothing probed yet');
  });

  it('page a category by 100 and give every page one address', async () => {
    const pages = await openPages((await makeFullCatalogue()).reading);
    const first = await pages.get('/category/tools');
    expect(first.text).toContain('101 listings, as of 2026-11-20 12:00 UTC');
    expect(first.html.match(/class="card"/g)).toHaveLength(100);
    expect(first.html).toContain('<a href="/category/tools/2" rel="next">');
    const second = await pages.get('/category/tools/2');
    expect(second.text).toContain('Tools APIs, page 2');
    expect(second.html.match(/class="card"/g)).toHaveLength(1);
    for (const path of [
      '/category/tools/1',
      '/category/tools/3',
      '/category/tools/02',
      '/category/Tools',
      '/category/x',
      '/category',
      '/category/tools/2/2',
      '/verified/1',
      '/verified/2',
      '/verified/x',
    ]) {
      expect([path, (await pages.get(path)).status]).toEqual([path, 404]);
    }
  });

  it('show the verified listings, or say that there is none', async () => {
    const some = await (await openPages((await makeFullCatalogue()).reading)).get('/verified');
    expect(some.text).toContain('1 listing, as of');
    expect(some.text).toMatch(/Example Prices .* 1 of 2 routes verified/);
    const none = await (await openPages((await makeReadCatalogue({})).reading)).get('/verified');
    expect(none.text).toContain('No listing has a settlement-verified route yet');
    const empty = await openPages((await makeReadCatalogue()).reading);
    expect((await empty.get('/')).text).toContain('0 live listings');
    expect((await empty.get('/category/data')).text).toContain('No live listing is in this category.');
  });
});

describe('the compiled pages', () => {
  it('hand live addresses on to the live routes', async () => {
    const { reading } = await makeReadCatalogue({});
    const pages = await openPages(reading);
    const document = await pages.get('/openapi.json');
    expect(document.type).toContain('application/json');
    expect(JSON.parse(document.html)).toMatchObject({ openapi: '3.1.0', 'x-catalogue': { live_listings: 1 } });
    expect(JSON.parse((await pages.get('/agent/list?limit=1')).html)).toMatchObject({ total: 1 });
    expect((await pages.get('/agent/nothing')).status).toBe(404);
  });
});
