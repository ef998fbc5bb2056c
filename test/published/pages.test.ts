import { describe, expect, it } from 'vitest';
import { buildFrame } from '../../src/http/endpoints/index.ts';
import { CATEGORIES } from '../../src/model/catalogue.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { networkKey } from '../../src/model/network.ts';
import { iterateRefs, type ListingRef } from '../../src/published/listings.ts';
import {
  findListingPage,
  findListPage,
  getGuide,
  getReferencePage,
  readHome,
  readNews,
} from '../../src/published/page-data.ts';
import { listFurtherPages, listPages } from '../../src/published/pages.ts';
import { findProviderPage } from '../../src/published/providers.ts';
import type { Reading } from '../../src/published/reading.ts';
import { listRelated } from '../../src/published/related.ts';
import { PATHS } from '../../src/views/links.ts';
import { findCategoryByPath, findNetworkByPath, parsePageNumber } from '../../src/views/pages/lists.ts';
import { makeTerms, recordVerified } from '../builders.ts';
import { recordProbed } from '../sampled.ts';
import { removeListing } from '../written.ts';
import { makeReadCatalogue, type ReadCatalogue } from './catalogues.ts';

/** Words so rare that each listing shares some with its two neighbours alone. */
const makePart = (at: number, category: Declaration['category']): Partial<Declaration> => ({
  slug: `x${String(at).padStart(3, '0')}`,
  title: `Title${at}abc`,
  tagline: `Word${at}abc word${at + 1}abc`,
  description: '',
  category,
});

const getKeys = ({ reading }: ReadCatalogue) =>
  new Map([...listPages(reading.published, reading.getSnapshot())].map(({ path, key }) => [path, key]));

const listChanged = (before: Map<string, string>, after: Map<string, string>) =>
  [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path)).sort();

/** Pages that show counts of the whole catalogue. */
const COUNTING = [
  '/',
  '/llms.txt',
  '/verified',
  ...['/changes', '/docs/api'],
  ...['data', 'finance', 'intelligence', 'tools', 'verification'].map((name) => `/category/${name}`),
  ...networkKey.options.map((network) => PATHS.network(network)),
];

/** The registered domain of all listings here. */
const DOMAIN = 'example-provider.com';

/** Lists the paths of the pages that show a listing: its own, those it is related to, and its place in its category. */
function listPathsThatShow({ reading }: ReadCatalogue, slug: string): string[] {
  const snapshot = reading.getSnapshot();
  const live = [...iterateRefs(reading.published)];
  const isNear = ({ number }: ListingRef) =>
    listRelated(reading.published, snapshot, number).some((entry) => entry.slug === slug);
  const showing = live.filter((other) => other.slug === slug || isNear(other)).map((other) => other.slug);
  return [...showing.flatMap((other) => [`/api/${other}`, `/api/${other}.md`]), PATHS.provider(DOMAIN)];
}

/** Gives what every page shows, as the text of its model. */
async function getTexts({ reading }: ReadCatalogue): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const { path } of listPages(reading.published, reading.getSnapshot())) {
    texts.set(path, JSON.stringify(await findModel(reading, path)));
  }
  return texts;
}

async function findModel(reading: Reading, path: string): Promise<unknown> {
  const [, kind, name = '', page] = path.split('/');
  if (kind === '') return { ...readHome(reading), byCategory: [...readHome(reading).byCategory] };
  if (kind === 'llms.txt') return getGuide(reading);
  if (kind === 'verified') return findListPage(reading, { verified: true }, parsePageNumber(page));
  if (kind === 'changes') return readNews(reading, 200);
  if (path === '/docs/api') return getReferencePage(reading, buildFrame(reading.site));
  if (kind === 'api') return findListingPage(reading, name.replace(/\.md$/, ''));
  if (kind === 'provider') return findProviderPage(reading, name, parsePageNumber(page));
  if (kind === 'network') return findListPage(reading, { network: findNetworkByPath(name) }, parsePageNumber(page));
  if (kind !== 'category') return null;
  return findListPage(reading, { category: findCategoryByPath(name) }, parsePageNumber(page));
}

describe('the page inventory', () => {
  it('names every static page once, with its file', async () => {
    const { reading } = await makeReadCatalogue(makePart(1, 'Data'));
    expect([...listPages(reading.published, reading.getSnapshot())].map(({ path, file }) => [path, file])).toEqual([
      ['/api/x001', 'api/x001.html'],
      ['/api/x001.md', 'api/x001.md'],
      ['/', 'index.html'],
      ['/llms.txt', 'llms.txt'],
      ['/404', '404.html'],
      ['/docs', 'docs.html'],
      ...['agents', 'using', 'api', 'data', 'changelog', 'providers', 'providers/findings'].map((name) => [
        `/docs/${name}`,
        `docs/${name}.html`,
      ]),
      ['/method', 'method.html'],
      ...['operating', 'architecture', 'speed'].map((name) => [`/docs/${name}`, `docs/${name}.html`]),
      ['/schemas/manifest.json', 'schemas/manifest.json'],
      ['/schemas/agent-payable.json', 'schemas/agent-payable.json'],
      ['/changes', 'changes.html'],
      ['/category/data', 'category/data.html'],
      ['/category/finance', 'category/finance.html'],
      ['/category/intelligence', 'category/intelligence.html'],
      ['/category/tools', 'category/tools.html'],
      ['/category/verification', 'category/verification.html'],
      ['/network/base', 'network/base.html'],
      ['/network/solana', 'network/solana.html'],
      ['/verified', 'verified.html'],
    ]);
  });

  it('cuts lists into pages of 100, of which further ones are rendered when they are asked for', async () => {
    const parts = Array.from({ length: 201 }, (_, at) => makePart(at, 'Tools'));
    const { reading } = await makeReadCatalogue(...parts);
    const paths = [...listPages(reading.published, reading.getSnapshot())].map(({ path }) => path);
    const further = [...listFurtherPages(reading.published)].map(({ path }) => path);
    const lists = ['/category/tools', '/network/base', `/provider/${DOMAIN}`];
    expect(paths.filter((path) => path.endsWith('/2'))).toEqual([]);
    expect(paths).toEqual(expect.arrayContaining(lists));
    expect(further).toEqual(lists.flatMap((path) => [`${path}/2`, `${path}/3`]));
  });

  it('gives the same keys again for the same catalogue', async () => {
    const catalogue = await makeReadCatalogue(makePart(1, 'Data'), makePart(2, 'Tools'));
    const before = getKeys(catalogue);
    await catalogue.record(makePart(1, 'Data'));
    expect(getKeys(catalogue)).toEqual(before);
  });

  it('changes exactly the keys of the pages that show a changed listing, or counts', async () => {
    const catalogue = await makeReadCatalogue(...Array.from({ length: 250 }, (_, at) => makePart(at, 'Tools')));
    const before = getKeys(catalogue);
    const shownBefore = listPathsThatShow(catalogue, 'x120');
    await catalogue.record({ ...makePart(120, 'Tools'), description: 'Something else.' });
    const expected = new Set([...COUNTING, ...shownBefore, ...listPathsThatShow(catalogue, 'x120')]);
    expect(listChanged(before, getKeys(catalogue))).toEqual([...expected].sort());
    expect(expected).toContain('/api/x119');
    expect(expected.size).toBeLessThan(40);
  });

  it('drops the pages of a delisted listing and changes those that showed it', async () => {
    const catalogue = await makeReadCatalogue(...Array.from({ length: 130 }, (_, at) => makePart(at, 'Tools')));
    const before = getKeys(catalogue);
    const shown = listPathsThatShow(catalogue, 'x120');
    await removeListing(catalogue.catalogue, 'x120', { by: 'operator', reason: 'asked' });
    const after = getKeys(catalogue);
    expect(after.has('/api/x120')).toBe(false);
    expect(listChanged(before, after)).toEqual([...new Set([...COUNTING, ...shown])].sort());
  });

  it('never keeps a key where the page reads otherwise, whatever changes', async () => {
    const parts = Array.from({ length: 110 }, (_, at) => makePart(at, CATEGORIES[at % 2] ?? 'Data'));
    const catalogue = await makeReadCatalogue(...parts);
    const changes: (() => Promise<unknown>)[] = [
      () => catalogue.record({ ...makePart(3, 'Data'), title: 'Renamed' }),
      () => catalogue.record({ ...makePart(4, 'Data'), category: 'Finance' }),
      () => catalogue.record(makePart(500, 'Data'), makePart(501, 'Finance')),
      () =>
        recordProbed(catalogue.catalogue, 'x012', [
          { at: '2026-11-21T00:00:00.000Z', terms: [makeTerms({ amount: 5000 })] },
          { at: '2026-11-22T00:00:00.000Z', outcome: 'timeout' },
        ]),
      () => recordVerified(catalogue.catalogue, 'x010', '/v1/price/:symbol'),
      () => removeListing(catalogue.catalogue, 'x011', { by: 'operator', reason: 'asked' }),
    ];
    const read = async () => ({ keys: getKeys(catalogue), texts: await getTexts(catalogue) });
    let after = await read();
    for (const change of changes) {
      const before = after;
      await change();
      after = await read();
      const sameKey = [...after.keys].filter(([path, key]) => before.keys.get(path) === key).map(([path]) => path);
      expect(sameKey.length).toBeGreaterThan(100);
      expect(sameKey.filter((path) => before.texts.get(path) !== after.texts.get(path))).toEqual([]);
    }
  });
});
