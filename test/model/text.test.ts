import { describe, expect, it } from 'vitest';
import { findNearest } from '../../src/model/text.ts';

const PARAMETERS = ['q', 'category', 'network', 'max_price_usdc', 'provider', 'updated_since', 'sort', 'limit'];

describe('the word most likely meant', () => {
  it.each([
    ['categroy', 'category'],
    ['Limits', 'limit'],
    ['max_price', 'max_price_usdc'],
    ['updated', 'updated_since'],
    ['prov', 'provider'],
    ['query', 'q'],
    ['format', undefined],
    ['', undefined],
  ])('by %j is %j', (word, meant) => {
    expect(findNearest(word, PARAMETERS)).toBe(meant);
  });

  it('is the nearest before one that merely begins alike, and the shortest of those', () => {
    expect(findNearest('sorts', ['sorts_of_things', 'sort'])).toBe('sort');
    expect(findNearest('ver', ['verified_since', 'verified'])).toBe('verified');
    expect(findNearest('x', [])).toBeUndefined();
  });
});
