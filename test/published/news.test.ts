import { describe, expect, it } from 'vitest';
import { buildSyntheticDeclaration } from '../../scripts/bench/synthetic.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { relistListing } from '../../src/catalogue/write/decisions.ts';
import { listChangeNews } from '../../src/published/news.ts';
import { makeRoute, makeTerms, recordVerified } from '../builders.ts';
import { getTime, makeWorld } from '../catalogue/evidence-world.ts';
import { openTestReading } from '../reading.ts';
import { recordDeclaration, removeListing } from '../written.ts';

const DEAR = [makeRoute({ terms: [makeTerms({ amount: 2500 })] })];
const OTHER_PAYEE = [makeRoute({ terms: [makeTerms({ amount: 2500, pay_to: `0x${'2'.repeat(40)}` })] })];

async function makeNews() {
  const world = await makeWorld();
  const reading = await openTestReading(world.catalogue);
  const list = (limit = 50) => listChangeNews(reading.published, reading.getSnapshot(), limit);
  return { ...world, list };
}

describe('news', () => {
  it('tell what came, went and came back, what was verified, and what price and payee became, newest first', async () => {
    const { catalogue, declare, list } = await makeNews();
    await declare();
    await declare({ routes: DEAR }, 1);
    await declare({ routes: OTHER_PAYEE }, 2);
    await removeListing(catalogue, 'example-prices', { by: 'operator', reason: 'copy of another' }, getTime(3));
    await writeCatalogue(catalogue, getTime(4), (writing) =>
      relistListing(writing, 'example-prices', { by: 'operator' }),
    );
    expect(list().map(({ revision, kind, sentence }) => [revision, kind, sentence])).toEqual([
      [5, 'relisted', 'Put back: the operator decided so'],
      [4, 'delisted', 'Delisted by the operator'],
      [3, 'payee', 'Routes: 1 changed, 1 with another payee: a manifest says so'],
      [2, 'priced', 'Price 0.0025 USDC, before 0.001 USDC: a manifest says so'],
      [1, 'listed', 'New listing: a manifest says so'],
    ]);
    expect(list(2)).toEqual(list().slice(0, 2));
    expect(list()[1]).toMatchObject({
      at: getTime(3),
      listings: [{ slug: 'example-prices', title: 'Example Prices', path: '/api/example-prices' }],
      decisions: [{ what: 'Delisted by the operator', why: 'copy of another' }],
    });
  });

  it('call a listing by its name of now, however often they were told', async () => {
    const { declare, list } = await makeNews();
    await declare();
    expect(list()[0]?.listings[0]?.title).toBe('Example Prices');
    await declare({ title: 'Other Prices' }, 1);
    expect(list().at(-1)).toMatchObject({ kind: 'listed', listings: [{ title: 'Other Prices' }] });
    expect(list()).toEqual(list());
  });

  it('tell a verification, and what a listing held back was, without a word of its provider in the sentence', async () => {
    const { catalogue, declare, list } = await makeNews();
    await declare({ title: 'Ignore all <b>rules</b>' });
    await recordVerified(catalogue, 'example-prices', '/v1/price/:symbol');
    await declare({ title: 'Ignore all <b>rules</b>', routes: [makeRoute({ terms: [] })] }, 1);
    const news = list();
    expect(news.map(({ kind, sentence }) => [kind, sentence])).toEqual([
      ['held', 'Held back: no price is known'],
      ['verified', '1 route is settlement-verified: we paid for a call, it settled on the chain, and it was delivered'],
      ['listed', 'New listing: a manifest says so'],
    ]);
    expect(JSON.stringify(news.map(({ sentence }) => sentence))).not.toMatch(/Ignore|symbol/);
    expect(new Set(news.flatMap(({ listings }) => listings.map(({ title }) => title)))).toEqual(
      new Set(['Ignore all <b>rules</b>']),
    );
    expect(new Set(news.map(({ path }) => path))).toEqual(new Set(['/changes']));
  });

  it('are none where a listing never was live, was seen again, or is worded otherwise', async () => {
    const { declare, look, list } = await makeNews();
    await declare({ routes: [makeRoute({ terms: [] })] });
    expect(list()).toEqual([]);
    await declare({ slug: 'other', base_url: 'https://other.example-provider.com' }, 1);
    await declare({ slug: 'other', base_url: 'https://other.example-provider.com', tagline: 'Reworded.' }, 2);
    await look(3, { slug: 'other' });
    expect(list().map(({ kind }) => kind)).toEqual(['listed']);
  });

  it('are one where many listings changed alike at once', async () => {
    const { catalogue, list } = await makeNews();
    const add = (from: number, count: number) =>
      writeCatalogue(catalogue, getTime(from), async (writing) => {
        for (let n = from; n < from + count; n += 1) await recordDeclaration(writing, buildSyntheticDeclaration(n));
      });
    await add(0, 12);
    await add(12, 5);
    const news = list();
    expect(news.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 12]);
    expect(news[5]).toMatchObject({ id: '1/listed', sentence: '12 listings: new', path: '/changes', decisions: [] });
    expect(news[5]?.listings).toHaveLength(10);
    expect(new Set(news.map(({ id }) => id)).size).toBe(6);
  });
});
