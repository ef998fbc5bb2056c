import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listAmbiguities } from '../../src/x402/ambiguities.ts';
import { skipWithout } from '../skipped.ts';

const FEED = resolve(import.meta.dirname, '../../../shared/corpus/bazaar-2026-03/resources.json');

describe('a thousand real offers', () => {
  skipWithout('corpus');

  it('can each be read in one way alone', () => {
    const feed = JSON.parse(readFileSync(FEED, 'utf8'));
    const items: { accepts: unknown[] }[] = feed.items ?? feed.resources ?? feed;
    expect(items.length).toBeGreaterThan(900);
    expect(items.flatMap(({ accepts }) => listAmbiguities(accepts, []))).toEqual([]);
  });
});
