import { existsSync } from 'node:fs';
import { it } from 'vitest';
import { FEED, testFeed } from '../whole/real-feed.ts';

it.skipIf(!existsSync(FEED))('a catalogue of a whole real feed has pages, links and a document that are right', () =>
  testFeed(FEED, 148),
);
