import { expect, it } from 'vitest';
import { makeRoute, makeTerms } from '../builders.ts';
import { makeReadCatalogue } from '../published/catalogues.ts';
import { recordProbed } from '../sampled.ts';
import { openPages } from './site.ts';

it('shows a ceiling as one in a comparison, and beside it another price on record', async () => {
  const upto = makeTerms({ amount: 50_000, scheme: 'upto' });
  const { reading, catalogue } = await makeReadCatalogue({
    routes: [
      makeRoute({ path: '/exact' }),
      makeRoute({ path: '/upto', terms: [upto] }),
      makeRoute({ path: '/both', terms: [makeTerms(), upto] }),
      makeRoute({ path: '/became', terms: [makeTerms({ amount: 50_000 })] }),
    ],
  });
  const seen = {
    ...{ at: '2026-11-21T06:00:00.000Z', outcome: 'payable_with_changed_terms' as const, cause: 'scheme' },
    terms: [upto],
  };
  await recordProbed(catalogue, 'example-prices', [seen], '/became');
  const names = ['/exact', '/upto', '/both', '/became'].map((path) => `example-prices GET ${path}`);
  const query = new URLSearchParams(names.map((name) => ['routes', name]));
  const { html } = await (await openPages(reading)).get(`/compare?${query}`);
  const [row = ''] = html.match(/<th scope="row">Price, USDC<\/th>.*?<\/tr>/s) ?? [];
  const prices = [...row.matchAll(/<b>([^<]*)<\/b>/g)].map(([, price]) => price);
  expect(prices).toEqual(['0.001', 'up to 0.05', '0.001 or up to 0.05', 'up to 0.05']);
  expect(row.match(/[^>]* on record/g)).toEqual(['0.05 on record']);
});
