import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createInvertedIndex, SHARE_BITS, SHARE_MAX } from '../../src/search/inverted-index.ts';
import type { ListingTerms, Terms } from '../../src/search/terms.ts';

const WORDS = 'alder birch cedar elder hazel larch maple rowan'.split(' ');

const terms: fc.Arbitrary<Terms> = fc.record({
  stems: fc
    .dictionary(fc.constantFrom(...WORDS), fc.integer({ min: 1, max: 9 }), { maxKeys: 4 })
    .map((weights) => Map.groupBy(Object.keys(weights), (stem) => weights[stem] ?? 0)),
  length: fc.integer({ min: 0, max: 300 }),
});
const listing: fc.Arbitrary<ListingTerms> = fc.record({
  own: terms,
  routes: fc.array(fc.option(terms), { maxLength: 4 }),
});

/** BM25F as the textbook has it, for a text of a usual length. */
function getShare({ stems, length }: Terms, usual: number, word: string): number {
  const weight = [...stems].find(([, some]) => some.includes(word))?.[0] ?? 0;
  return weight / (weight + 0.25 + 0.75 * Math.max(0.6, length / usual));
}

it('has each word of a listing with each of its routes, as much as BM25F says', () => {
  fc.assert(
    fc.property(fc.array(listing, { maxLength: 20 }), (listings) => {
      const index = createInvertedIndex();
      for (const [at, one] of listings.entries()) index.put(at, one);
      for (const word of [...WORDS, 'yew']) {
        const found = new Map<number, number>();
        const { postings = [], length = 0 } = index.find(word) ?? {};
        for (const posting of postings.slice(0, length)) {
          found.set(posting >>> SHARE_BITS, (posting & SHARE_MAX) / SHARE_MAX);
        }
        const expected = new Map<number, number>();
        for (const [at, { own, routes }] of listings.entries()) {
          const isBare = routes.every((route) => route === null);
          for (const [position, route] of (routes.length === 0 ? [null] : routes).entries()) {
            const missing = (1 - getShare(own, 30, word)) * (1 - (route ? getShare(route, 25, word) : 0));
            const share = route !== null || isBare ? 1 - missing : 0;
            if (share > 0) expected.set((index.firsts[at] ?? 0) + position, share);
          }
        }
        expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
        for (const [document, share] of expected) expect(found.get(document)).toBeCloseTo(share, 2);
        const has = ({ own, routes }: ListingTerms) =>
          [own, ...routes].some((text) => text && getShare(text, 30, word) > 0);
        expect(index.count(word)).toBe(listings.filter(has).length);
      }
    }),
    { numRuns: 100 },
  );
});
