import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MASK, MASK_BITS } from '../../src/search/packed.ts';
import { buildPostings, NO_WORDS } from '../../src/search/postings.ts';

const LISTINGS = 150;
const WORDS = 12;

/** A listing's words with their masks; none takes it out. */
const entry = fc.record({
  listing: fc.integer({ min: 1, max: LISTINGS }),
  words: fc.dictionary(fc.integer({ min: 1, max: WORDS }).map(String), fc.integer({ min: 1, max: MASK }), {
    maxKeys: 4,
  }),
});
type Words = Record<string, number>;

const buildEntry = (listing: number, words: Words) => ({
  listing,
  terms: Uint32Array.from(Object.entries(words), ([word, mask]) => (Number(word) << MASK_BITS) | mask).sort(),
});

it('finds after any changes, packed in or not yet, what the listings have last', () => {
  const batches = fc.array(fc.array(entry, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 80 }), batches, (first, changes) => {
      const held = new Map<number, Words>(first.map(({ listing, words }) => [listing, words]));
      const postings = buildPostings([...held].map(([listing, words]) => buildEntry(listing, words)));
      for (const batch of changes) {
        postings.put(batch.map(({ listing, words }) => buildEntry(listing, words)));
        for (const { listing, words } of batch) held.set(listing, words);
        for (let word = 0; word <= WORDS + 1; word += 1) {
          const found = new Map<number, number>();
          postings.visit(word, (listing, mask) => found.set(listing, mask));
          const expected = [...held].flatMap(([listing, words]) =>
            words[word] ? [[listing, words[word]] as const] : [],
          );
          expect(new Map([...found].sort(([a], [b]) => a - b))).toEqual(new Map(expected.sort(([a], [b]) => a - b)));
          expect(postings.count(word)).toBeGreaterThanOrEqual(expected.length);
        }
        const withWords = [...held].filter(([, words]) => Object.keys(words).length > 0);
        expect(postings.getSize()).toBe(withWords.length);
        const classes = postings.getLengthClasses();
        expect(withWords.every(([listing]) => classes[listing] !== NO_WORDS)).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});
