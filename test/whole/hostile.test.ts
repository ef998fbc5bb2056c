import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { iterateRefs } from '../../src/published/listings.ts';
import { PATHS } from '../../src/views/links.ts';
import { NOW } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { openPages } from '../pages/site.ts';
import { openTestReading } from '../reading.ts';
import { SITE } from '../site.ts';
import { listTextless } from '../sources/textless.ts';
import { buildFeed, buildManifest, HOSTILE, MARK, PLAIN, type Words } from './hostile-words.ts';
import { listMarks, listStrings, listTags, listTexts } from './skeletons.ts';

/** Fields of our documents that hold a provider's words, wherever they stand. */
const PROVIDER_FIELDS =
  /(?:^|\.)(?:title|tagline|description|provider_name|serviceName|x-provider-name|path|url|resource|observed_in|input_schema|output_schema|input|inputs|outputs|example|bazaar|detail)(?:\.|$)/;
/** Parts of our documents in which no provider has a word. */
const OWN_WORDS = /^(?:info|paths|components|servers|x-catalogue|catalogue)\./;

/** Imports what a provider says by the real command, and serves it by every door. */
async function openDoors(kind: 'feed' | 'manifest', text: string) {
  const { folder, file, runJson } = makeCommands();
  const source = join(folder, kind === 'feed' ? 'feed.json' : 'words.yaml');
  writeFileSync(source, text);
  const { code, stdout } = await runJson('import', ...(kind === 'feed' ? ['--bazaar', source] : [source]));
  expect(code, stdout).toBe(0);
  const reading = await openTestReading({ address: file }, { now: () => new Date(NOW) });
  onTestFinished(() => reading.close());
  const app = createApp({ reading });
  const pages = await openPages(reading);
  const slugs = [...iterateRefs(reading.published)].map(({ slug }) => slug);
  return {
    slug: slugs[0] ?? '',
    slugs,
    ask: async (path: string) => {
      const response = await app.fetch(new Request(`${SITE.baseUrl}${path}`));
      expect([path, response.status]).toEqual([path, 200]);
      const headers = [...response.headers].map((header) => header.join(': ')).join('\n');
      return { text: await response.text(), headers };
    },
    getPage: async (path: string) => (await pages.get(path)).html,
  };
}

/** Writes what a provider says with these words. */
const BUILDERS = { feed: (words: Words) => JSON.stringify(buildFeed(words)), manifest: buildManifest };

describe.each(['feed', 'manifest'] as const)('hostile words from a %s', (kind) => {
  const open = (words: Words) => openDoors(kind, BUILDERS[kind](words));

  it('stand in JSON in the named fields of the provider alone', async () => {
    const { slug, ask } = await open(HOSTILE);
    const documents = [
      '/openapi.json',
      '/agent/list',
      `/agent/listings/${slug}`,
      '/agent/changes',
      '/discovery/resources',
    ];
    let met = 0;
    for (const path of [...documents, '/agent/list?q=instructions', '/discovery/search?query=instructions']) {
      const { text, headers } = await ask(path);
      expect(headers).not.toContain(MARK);
      const strings = listStrings(JSON.parse(text));
      for (const { way, text: said } of strings.filter(({ text: any }) => any.includes(MARK))) {
        met += 1;
        expect(way, `${path}: ${said.slice(0, 80)}`).toMatch(PROVIDER_FIELDS);
        expect(OWN_WORDS.test(way), `${path} ${way}`).toBe(false);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
        expect(said).not.toMatch(/[\u0000-\u0008\u202A-\u202E\u2066-\u2069\u200B\u{E0000}-\u{E007F}]/u);
      }
      for (const { text: said } of strings) expect(said.length).toBeLessThan(5000);
    }
    expect(met).toBeGreaterThan(10);
  });

  it('are nowhere in what the service says of itself', async () => {
    const { ask, getPage } = await open(HOSTILE);
    const paths = [
      '/.well-known/api-catalog',
      '/.well-known/ard.json',
      '/.well-known/ai-catalog.json',
      '/mcp/server-card',
      '/server.json',
    ];
    for (const path of [...paths, '/robots.txt', '/sitemap-index.xml', '/sitemap-1.xml', '/sitemap-2.xml']) {
      expect((await ask(path)).text, path).not.toContain(MARK);
    }
    for (const path of ['/llms.txt', '/method', '/docs/providers'])
      expect(await getPage(path), path).not.toContain(MARK);
  });

  it('make no markup of a page: hostile or plain, it has the same tags and attributes', async () => {
    const [hostile, plain] = [await open(HOSTILE), await open(PLAIN)];
    const paths = ['/', '/search', '/changes', '/verified', '/category/tools', '/category/data'];
    for (const getPath of [(slug: string) => `/api/${slug}`, ...paths.map((path) => () => path)]) {
      const [got, wanted] = await Promise.all([hostile, plain].map(({ slug, getPage }) => getPage(getPath(slug))));
      const path = getPath(hostile.slug);
      expect(listTags(got ?? ''), path).toEqual(listTags(wanted ?? ''));
      for (const text of listTexts(got ?? '')) expect(text, path).not.toMatch(/<|&(?!#?\w+;)/);
      for (const href of (got ?? '').matchAll(/\s(?:href|src|action)="([^"]*)"/g)) {
        expect(href[1], path).not.toMatch(/evil\.example|javascript:/i);
      }
      for (const [, script = ''] of (got ?? '').matchAll(
        /<script type="application\/ld\+json"[^>]*>(.*?)<\/script>/gs,
      )) {
        expect(() => JSON.parse(script), path).not.toThrow();
        expect(script, path).not.toContain('<');
      }
    }
  });

  it('make no markup of the news feed', async () => {
    const [hostile, plain] = [await open(HOSTILE), await open(PLAIN)];
    const [got, wanted] = [(await hostile.ask(PATHS.changesFeed)).text, (await plain.ask(PATHS.changesFeed)).text];
    expect(listTags(got)).toEqual(listTags(wanted));
    expect(got).not.toMatch(/evil\.example["<]|javascript:/i);
  });

  it('make no markup of Markdown and of plain text, and no link', async () => {
    const [hostile, plain] = [await open(HOSTILE), await open(PLAIN)];
    const [twin, plainTwin] = [
      await hostile.getPage(`/api/${hostile.slug}.md`),
      await plain.getPage(`/api/${plain.slug}.md`),
    ];
    const [full, plainFull] = [(await hostile.ask('/llms-full.txt')).text, (await plain.ask('/llms-full.txt')).text];
    for (const [got, wanted] of [
      [twin, plainTwin],
      [full, plainFull],
    ] as const) {
      expect(got).toContain(MARK);
      expect(listMarks(got)).toEqual(listMarks(wanted));
      for (const line of got.split('\n')) if (line.startsWith('#')) expect(line).not.toContain(MARK);
    }
  });
});

it('a value without a text, wherever a feed has one, keeps no document and no page from being made', async () => {
  const items = buildFeed(PLAIN).items.flatMap((item) => listTextless(item));
  // Each is of a host of its own, so that none hides another one.
  const texts = items.map((item, at) =>
    JSON.stringify(item).replaceAll('words.example-provider', `words-${at}.example-provider-${at}`),
  );
  const { slugs, ask, getPage } = await openDoors('feed', `{"items":[${texts.join()}]}`);
  expect(slugs.length).toBeGreaterThan(items.length / 2);
  const documents = ['/openapi.json', '/llms-full.txt', '/agent/list?limit=1000', '/discovery/resources?limit=1000'];
  for (const path of [...documents, ...slugs.map((slug) => `/agent/listings/${slug}`)]) await ask(path);
  for (const slug of slugs) {
    expect(await getPage(`/api/${slug}`)).toContain('<h1');
    expect(await getPage(`/api/${slug}.md`)).toContain('# ');
  }
});
