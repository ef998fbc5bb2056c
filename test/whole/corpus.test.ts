import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../builders.ts';
import { skipWithout } from '../skipped.ts';
import { FEED, testFeed } from './real-feed.ts';

/** Of so many items of the feed one is taken; a long test takes all. */
const ONE_OF = 20;

describe('a catalogue of a real feed', () => {
  skipWithout('corpus');

  it('has a page for every listing, no dead link of its own, and a valid document', async () => {
    const { items, ...rest } = JSON.parse(readFileSync(FEED, 'utf8'));
    const taken = items.filter((_: unknown, at: number) => at % ONE_OF === 0);
    expect(taken.length).toBeGreaterThan(30);
    const feed = join(makeFolder(), 'feed.json');
    const pagination = { ...rest.pagination, total: taken.length };
    writeFileSync(feed, JSON.stringify({ ...rest, items: taken, pagination }));
    await testFeed(feed, 20);
  });
});
