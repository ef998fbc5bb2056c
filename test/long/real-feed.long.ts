import { it } from 'vitest';
import { skipWithout } from '../skipped.ts';
import { FEED, testFeed } from '../whole/real-feed.ts';

it('a catalogue of a whole real feed has pages, links and a document that are right', async (context) => {
  skipWithout('corpus', context);
  await testFeed(FEED, 148);
});
