import { describe, expect, it, onTestFinished } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclaration } from '../../src/catalogue/write/declarations.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { findResources } from '../../src/published/found-resources.ts';
import { readSelected } from '../../src/published/listings.ts';
import { selectListings } from '../../src/published/select.ts';
import type { AgentItem } from '../../src/views/listing/item.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { recordPaid } from '../paid.ts';
import { openTestReading } from '../reading.ts';

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
  const list = (query: object) => {
    const selected = selectListings(reading.published, reading.getSnapshot(), listQuery.parse(query));
    const items: AgentItem[] = readSelected(reading.published, selected).map((item) => JSON.parse(item));
    return { ...selected, items, slugs: items.map(({ slug }) => slug) };
  };
  return { catalogue, reading, list };
}

const PREVIEWS = ['lights-git-main-team', 'lights-a1b2c3-team', 'our-lights'];

describe('a product at several addresses', () => {
  it('is shown once, at the address with the shortest name, which names the others', async () => {
    const { list } = await open([...PREVIEWS.map((slug) => makeDeployment(slug)), HARBOURS]);
    for (const sort of [undefined, 'price', 'updated', 'reliability', 'name']) {
      const { slugs, items, total } = list({ q: 'lighthouse', sort });
      expect([...slugs].sort()).toEqual(['harbours', 'our-lights']);
      expect(total).toBe(2);
      const names = items.map(({ slug, same_product }) => [slug, same_product]);
      expect(new Map(names as [string, string[]][])).toEqual(
        new Map([
          ['our-lights', ['lights-a1b2c3-team', 'lights-git-main-team']],
          ['harbours', undefined],
        ]),
      );
    }
  });

  it('is found at each address by the name of that, and in the list without words', async () => {
    const { list } = await open([...PREVIEWS.map((slug) => makeDeployment(slug)), HARBOURS]);
    expect(list({ q: 'lights a1b2c3 team' }).slugs[0]).toBe('lights-a1b2c3-team');
    expect(list({}).slugs).toEqual(['harbours', ...PREVIEWS.toSorted()]);
  });

  it('is shown at a verified address, and of those that pass the filters', async () => {
    const { catalogue, list } = await open(PREVIEWS.map((slug) => makeDeployment(slug)));
    await recordPaid(catalogue, 'lights-git-main-team', {
      path: '/v1/lighthouses',
      id: '5f3a0c53-3b6e-4a0e-8d43-000000000003',
    });
    expect(list({ q: 'lighthouse' }).slugs).toEqual(['lights-git-main-team']);
    const { items, total } = list({ q: 'lighthouse', verified: false });
    expect(total).toBe(1);
    expect(items.map(({ slug, same_product }) => [slug, same_product])).toEqual([
      ['our-lights', ['lights-a1b2c3-team']],
    ]);
  });

  it('takes one place on pages', async () => {
    const others = Array.from({ length: 5 }, (_, n) =>
      makeDeployment(`beacon-${n}`, { tagline: `Lighthouse number ${n}.` }),
    );
    const { list } = await open([...PREVIEWS.map((slug) => makeDeployment(slug)), ...others, HARBOURS]);
    const whole = list({ q: 'lighthouse' });
    expect(whole.total).toBe(7);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = list({ q: 'lighthouse', limit: 2, ...(cursor && { cursor }) });
      expect(page.total).toBe(7);
      paged.push(...page.slugs);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(whole.slugs);
  });

  it('has its routes once where routes are searched', async () => {
    const { reading } = await open([...PREVIEWS.map((slug) => makeDeployment(slug)), HARBOURS]);
    const { resources, partial } = findResources(reading.published, reading.getSnapshot(), {
      query: 'lighthouse',
      limit: 20,
    });
    expect(resources.map(({ listing }) => listing.slug).filter((slug) => slug !== 'harbours')).toEqual(['our-lights']);
    expect(partial).toBe(true);
  });
});

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
    const { list } = await open([makeDeployment('lights'), copy]);
    expect(list({ q: 'lighthouse' }).total).toBe(2);
  });

  it('are two where nobody says who is paid', async () => {
    const { list } = await open(['lights', 'lamps'].map((slug) => makeDeployment(slug, {}, { pay_to: null })));
    expect(list({ q: 'lighthouse' }).total).toBe(2);
  });

  it('are two where they hardly say what they do', async () => {
    const bare = (slug: string) =>
      makeDeployment(slug, {
        routes: [makeRoute({ path: '/', description: 'Lights.', terms: [makeTerms({ pay_to: PAYEE })] })],
      });
    const { list } = await open([bare('lights'), bare('lamps')]);
    expect(list({ q: 'lighthouse' }).total).toBe(2);
  });
});
