import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createInvertedIndex } from '../../src/search/inverted-index.ts';
import { createScoring } from '../../src/search/ranking.ts';
import type { Terms } from '../../src/search/terms.ts';

const WORDS = 'alder birch cedar elder hazel'.split(' ');

const terms: fc.Arbitrary<Terms> = fc.record({
  stems: fc
    .dictionary(fc.constantFrom(...WORDS), fc.integer({ min: 1, max: 3 }), { maxKeys: 4 })
    .map((weights) => Map.groupBy(Object.keys(weights), (stem) => weights[stem] ?? 0)),
  length: fc.integer({ min: 0, max: 60 }),
});
const put = fc.record({
  listing: fc.integer({ min: 1, max: 5 }),
  terms: fc.option(fc.record({ own: terms, routes: fc.array(fc.option(terms), { maxLength: 4 }) })),
});
const groups = fc.array(
  fc.array(fc.record({ stem: fc.constantFrom(...WORDS), weight: fc.integer({ min: 1, max: 400 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  { minLength: 1, maxLength: 4 },
);

it('finds each listing that is there by its best route, the first of those that are even, whatever was replaced or removed', () => {
  fc.assert(
    fc.property(fc.array(put, { maxLength: 20 }), groups, (puts, asked) => {
      const index = createInvertedIndex();
      const held = new Map<number, number>();
      for (const { listing, terms: some } of puts) {
        if (some) index.put(listing, some);
        else index.remove(listing);
        if (some) held.set(listing, Math.max(1, some.routes.length));
        else held.delete(listing);
      }
      const weighed = asked.map((group) => group.map(({ stem, weight }) => ({ stem, weight: weight / 100 })));
      const scores = createScoring(index)(weighed, new Float64Array(0), 5);
      const found = new Map<number, [position: number, score: number]>();
      scores.visit((listing, position, score) => found.set(listing, [position, score]));
      const expected = [...held].flatMap(([listing, count]): [number, [number, number]][] => {
        const sums = Array.from({ length: count }, (_, position) => scores.getScore(listing, position));
        const best = sums.indexOf(Math.max(...sums));
        return scores.isMatching(listing, best) ? [[listing, [best, sums[best] ?? 0]]] : [];
      });
      expect(found).toEqual(new Map(expected.sort(([a], [b]) => a - b)));
      for (const [listing, [position]] of found) expect(scores.findBest(listing, () => true)).toBe(position);
    }),
  );
});
