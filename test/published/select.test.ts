import { expect, it } from 'vitest';
import { selectListings } from '../../src/published/select.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { makeShop, testPaging, WISHES } from './paging.ts';

// A long test reads longer lists, and more often.
it.each(WISHES)(
  'shows by %j what is there the whole time once, whatever comes and goes between pages',
  async (wish) => {
    await testPaging(wish, { listings: 20, fewest: 3, numRuns: 1 });
  },
);

it('ranks a rare word above a common one, a title above a description, and more words above fewer', async () => {
  const { reading, put } = await makeShop();
  await put([
    ['weather'],
    ['other'],
    ['weather'],
    ['token'],
    ['weather', 'forecast'],
    ...Array(20).fill(['weather', 'other']),
  ]);
  const find = (request: string) => {
    const query = listQuery.parse({ q: request });
    return selectListings(reading.published, reading.getSnapshot(), query).listings.map(({ slug }) => slug);
  };
  expect(find('token weather')[0]).toBe('shop-3');
  expect(find('forecast weather')[0]).toBe('shop-4');
  const weather = find('weather');
  expect(weather.indexOf('shop-0')).toBeLessThan(weather.indexOf('shop-2'));
  expect(find('nothing like it')).toEqual([]);
  expect(find('"; DROP {title} : weather')).toContain('shop-0');
});
