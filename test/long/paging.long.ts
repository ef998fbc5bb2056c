import { it } from 'vitest';
import { testPaging, WISHES } from '../published/paging.ts';

it.each(WISHES)(
  'shows by %j what is there the whole time once, whatever comes and goes between pages',
  async (wish) => {
    await testPaging(wish, { listings: 40, fewest: 1, numRuns: 20 });
  },
);
