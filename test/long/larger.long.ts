import { it } from 'vitest';
import { testVariations } from '../catalogue/feed-variations.ts';
import { checkPublished } from '../catalogue/published-property.ts';
import { testOutput } from '../cli/standard-output.ts';
import { testRequests } from '../mcp/labelled-requests.ts';
import { testPaging, WISHES } from '../published/paging.ts';
import { skipWithout } from '../skipped.ts';
import { FEED, testFeed } from '../whole/real-feed.ts';

// Tests that `npm test` runs with little, here with all there is.

it.each(WISHES)(
  'shows by %j what is there the whole time once, whatever comes and goes between pages',
  async (wish) => {
    await testPaging(wish, { listings: 40, fewest: 1, numRuns: 20 });
  },
);

it('whatever is sampled and whenever it is published, readers see what working it out again gives, 100 times', () =>
  checkPublished(100));

it('a command ends quietly when its reader stops, and with one sentence when the disk is full', () =>
  testOutput([['export'], ['export', '--json'], ['list', '--json'], ['list'], ['--help']]));

it('a catalogue of a whole real feed has pages, links and a document that are right', async (context) => {
  skipWithout('corpus', context);
  await testFeed(FEED, 148);
});

it('every labelled request over real listings is answered briefly, by routes that can be checked', async (context) => {
  skipWithout('corpus', context);
  await testRequests(1);
});

it('40 variations of a feed, one after the other, change no title, no category, no id and no slug', async (context) => {
  skipWithout('corpus', context);
  await testVariations(40);
});
