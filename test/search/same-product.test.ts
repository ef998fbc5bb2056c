import { describe, expect, it, onTestFinished } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { selectFoldedPage } from '../../src/published/folded-page.ts';
import { findResources } from '../../src/published/found-resources.ts';
import { selectListings } from '../../src/published/select.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { recordDeclaration } from '../written.ts';

const PAYEE = '0x2222222222222222222222222222222222222222';

/** A deployment of one and the same product. */
function makeDeployment(slug: string, overrides: Partial<Declaration> = {}, terms = {}): Partial<Declaration> {
  const host = `${slug}.example-provider.com`;
  return {
    ...{ slug, base_url: `https://${host}`, title: host, provider_name: host },
    ...{ tagline: 'Lighthouses for sailors.', description: 'Lighthouses for sailors of all seas.' },
    routes: [
      makeRoute({
        path: '/v1/lighthouses',
        description: 'Lighthouses along a coast, with their lights.',
        terms: [makeTerms({ pay_to: PAYEE, ...terms })],
      }),
    ],
    ...overrides,
  };
}

const HARBOURS: Partial<Declaration> = {
  ...{ slug: 'harbours', base_url: 'https://harbours.example-provider.com', title: 'Harbours' },
  ...{ tagline: 'Harbours and a lighthouse.', description: 'Harbours for sailors, and a lighthouse in each.' },
};

async function open(declarations: readonly Partial<Declaration>[]) {
  const catalogue = await makeCatalogue();
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (const overrides of declarations) await recordDeclaration(writing, makeDeclaration(overrides));
  });
  const reading = await openTestReading(catalogue);
  onTestFinished(() => reading.close());
  const fold = (query: object) => {
    const { selected, cut } = selectFoldedPage(reading.published, reading.getSnapshot(), listQuery.parse(query));
    const { listings, rest } = cut();
    return { total: selected.total, slugs: listings.map(({ slug }) => slug), folded: rest.folded };
  };
  return { reading, fold };
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `lights-${String(at).padStart(2, '0')}`);

/** A product at twenty addresses of as many providers. */
const EVERYWHERE = names(20).map((slug) =>
  makeDeployment(slug, { base_url: `https://${slug}.com`, title: `${slug}.com` }),
);

describe('a product at several addresses', () => {
  it('has three rows on a page, and its others behind the last of them', async () => {
    const { fold } = await open([...EVERYWHERE, HARBOURS]);
    for (const sort of [undefined, 'price', 'updated', 'reliability', 'name']) {
      const { slugs, folded, total } = fold({ q: 'lighthouse', sort });
      expect([...slugs].sort()).toEqual(['harbours', ...names(3)]);
      expect(folded).toEqual([{ provider: 'lights-02.com', slugs: names(20).slice(3) }]);
      expect(total).toBe(21);
    }
  });

  it('is found at each address by the name of that, and has all its rows in the list without words', async () => {
    const { fold } = await open([...EVERYWHERE, HARBOURS]);
    expect(fold({ q: 'lights 07' }).slugs[0]).toBe('lights-07');
    expect(fold({}).slugs).toEqual(['harbours', ...names(20)]);
  });

  it('has its routes once where routes are searched, at the address that fits best', async () => {
    const { reading } = await open([...EVERYWHERE, HARBOURS]);
    const { resources, partial } = findResources(reading.published, reading.getSnapshot(), {
      query: 'lighthouse lights 07',
      limit: 20,
    });
    expect(resources.map(({ listing }) => listing.slug).filter((slug) => slug !== 'harbours')).toEqual(['lights-07']);
    expect(partial).toBe(true);
  });
});

/** Counts the products among listings that are found. */
async function countProducts(declarations: readonly Partial<Declaration>[]): Promise<number> {
  const { reading } = await open(declarations);
  const query = listQuery.parse({ q: 'lighthouse' });
  const { listings } = selectListings(reading.published, reading.getSnapshot(), query);
  return new Set(listings.map(({ slug, product }) => product ?? slug)).size;
}

describe('products that are alike', () => {
  const route = {
    path: '/v1/lighthouses',
    description: 'Lighthouses along a coast, with their lights.',
    terms: [makeTerms({ pay_to: PAYEE })],
  };
  it.each([
    ['paid to somebody else', makeDeployment('copy', {}, { pay_to: '0x3333333333333333333333333333333333333333' })],
    ['paid to nobody knows whom', makeDeployment('copy', {}, { pay_to: null })],
    ['of another name', makeDeployment('copy', { title: 'Beacons' })],
    ['described otherwise', makeDeployment('copy', { description: 'Lighthouses of rivers.' })],
    ['at another path', makeDeployment('copy', { routes: [makeRoute({ ...route, path: '/v2/lighthouses' })] })],
    [
      'with another route',
      makeDeployment('copy', { routes: [makeRoute(route), makeRoute({ ...route, path: '/v1/buoys' })] }),
    ],
  ])('are two where one is %s', async (_, copy) => {
    expect(await countProducts([makeDeployment('lights'), copy])).toBe(2);
  });

  it('are two where nobody says who is paid', async () => {
    const alike = ['lights', 'lamps'].map((slug) => makeDeployment(slug, {}, { pay_to: null }));
    expect(await countProducts(alike)).toBe(2);
  });

  it('are two where they hardly say what they do', async () => {
    const bare = (slug: string) =>
      makeDeployment(slug, {
        routes: [makeRoute({ path: '/', description: 'Lights.', terms: [makeTerms({ pay_to: PAYEE })] })],
      });
    expect(await countProducts([bare('lights'), bare('lamps')])).toBe(2);
  });
});
