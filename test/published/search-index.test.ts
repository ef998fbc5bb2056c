import { expect, it, onTestFinished } from 'vitest';
import { openReading } from '../../src/published/reading.ts';
import { getSearchIndex, prepareSearchIndex } from '../../src/published/search-index.ts';
import { selectListings } from '../../src/published/select.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { openTestReading, type TestReading } from '../reading.ts';
import { declareListings, removeListing } from '../written.ts';

/** More than are built again at once. */
const LISTINGS = 1100;

const SUBJECTS = ['glacier', 'harvest', 'lantern', 'meadow', 'orchard', 'pebble', 'quarry'];

function makeOne(n: number, subject: string, amount: number) {
  return makeDeclaration({
    ...{ slug: `api-${n}`, base_url: `https://api-${n}.example-provider.com`, title: `${subject} number ${n}` },
    routes: [makeRoute({ path: `/${subject}`, terms: [makeTerms({ amount })] })],
  });
}

function ask({ published, getSnapshot }: Pick<TestReading, 'published' | 'getSnapshot'>, query: object) {
  const { total, facets, listings } = selectListings(
    published,
    getSnapshot(),
    listQuery.parse({ limit: 1000, ...query }),
  );
  return { total, facets, slugs: new Set(listings.map(({ slug }) => slug)) };
}

it('has after changes what an index has that is built then, also where one is built meanwhile', async () => {
  const catalogue = await makeCatalogue();
  const first = Array.from({ length: LISTINGS }, (_, n) =>
    makeOne(n, SUBJECTS[n % SUBJECTS.length] ?? '', 1000 * (1 + (n % 5))),
  );
  await declareListings(catalogue, first, NOW);
  const reading = await openTestReading(catalogue);
  onTestFinished(reading.close);
  await prepareSearchIndex(reading.published);

  const compare = () => {
    const fresh = openReading(reading.published.file, reading.site);
    const questions = ['glacier', 'pebble', 'volcano', 'meadow quarry'].flatMap((q) => [
      { q },
      { q, max_price_usdc: '0.003', facets: true },
    ]);
    for (const query of [...questions, { max_price_usdc: '0.002', facets: true }]) {
      expect([query, ask(reading, query)]).toEqual([query, ask(fresh, query)]);
    }
    fresh.published.close();
    // The table of counts has what goes by all of them find: each has changed since that time.
    for (const query of [
      {},
      { max_price_usdc: '0.002' },
      { network: 'solana', verified: false },
      { category: 'Data' },
    ]) {
      const ofTable = ask(reading, { ...query, facets: true });
      expect([query, ask(reading, { ...query, facets: true, updated_since: '2000-01-01' })]).toEqual([query, ofTable]);
    }
  };
  compare();
  // First a few changes, which stand beside what was there, then more than one in a hundred.
  for (const changed of [[3, 4, 5], Array.from({ length: 60 }, (_, at) => 20 + at)]) {
    const declared = changed.map((n) => makeOne(n, n % 2 === 0 ? 'volcano' : 'glacier', 500));
    await declareListings(catalogue, declared, NOW);
    await removeListing(catalogue, `api-${900 + changed.length}`, { by: 'operator', reason: 'test' }, NOW);
    expect(ask(reading, { q: 'volcano' }).slugs).toContain(`api-${changed.find((n) => n % 2 === 0)}`);
    expect(ask(reading, { q: 'number' }).slugs).not.toContain(`api-${900 + changed.length}`);
    compare();
  }
  await expect.poll(() => ask(reading, { q: 'volcano', max_price_usdc: '0.0005' }).total).toBe(31);
  compare();

  // A word that no listing has any more is a misspelling again.
  await declareListings(catalogue, [makeOne(1, 'glaciar', 500)], NOW);
  expect(ask(reading, { q: 'glaciar' }).total).toBe(1);
  await declareListings(catalogue, [makeOne(1, 'harvest', 500)], NOW);
  expect(ask(reading, { q: 'glaciar' }).total).toBeGreaterThan(100);
});

it('is not built again where a search came before it was to be prepared', async () => {
  const catalogue = await makeCatalogue();
  await declareListings(catalogue, [makeOne(1, 'glacier', 500)], NOW);
  const { published, getSnapshot, close } = await openTestReading(catalogue);
  onTestFinished(close);
  const built = getSearchIndex(published, getSnapshot());
  await prepareSearchIndex(published);
  expect(getSearchIndex(published, getSnapshot())).toBe(built);
});
