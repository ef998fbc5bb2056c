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

it('shows no listing again by price because so many came that it counts as a weaker answer', async () => {
  const { reading, put } = await makeShop();
  const words =
    'token|weather weather|stock|forecast token weather|weather|stock|other|forecast token|stock weather|token|token stock|weather|' +
    'weather weather|weather|forecast stock|weather|stock other|weather|other|stock forecast|weather|weather|weather|weather|weather|' +
    'weather|weather|weather|weather stock|weather|weather|weather|weather|weather|weather|weather|forecast stock|weather|weather|weather';
  await put(words.split('|').map((some) => some.split(' ')));
  const seen: string[] = [];
  let cursor: string | undefined;
  for (const coming of [2, 10, ...Array(20).fill(0)]) {
    const query = listQuery.parse({ q: 'weather stock', sort: 'price', limit: 3, ...(cursor && { cursor }) });
    const { listings, next_cursor } = selectListings(reading.published, reading.getSnapshot(), query);
    seen.push(...listings.map(({ slug }) => slug));
    cursor = next_cursor;
    if (cursor === undefined) break;
    await put(Array(coming).fill(['weather']));
  }
  expect(cursor).toBeUndefined();
  expect(seen.filter((slug, at) => seen.indexOf(slug) !== at)).toEqual([]);
});

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
