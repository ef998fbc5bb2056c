import { it } from 'vitest';
import { skipWithout } from '../skipped.ts';
import { testVariations } from './feed-variations.ts';

// A long test takes as many as were judged.
it('variations of a feed, one after the other, change no title, no category, no id and no slug', async (context) => {
  skipWithout('corpus', context);
  await testVariations(2);
});
