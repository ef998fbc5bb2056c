import fc from 'fast-check';
import { expect, it } from 'vitest';
import { buildDocuments, type Entry } from '../../src/search/entry.ts';
import { MASK } from '../../src/search/packed.ts';
import { Postings } from '../../src/search/postings.ts';

const LISTINGS = 150;
const WORDS = 12;

type Words = Record<string, number>;

/** A listing's own words with their masks, and those of its routes; without any it is gone. */
interface Content {
  readonly listing: number;
  readonly texts: readonly Words[];
}

const words: fc.Arbitrary<Words> = fc.dictionary(
  fc.integer({ min: 1, max: WORDS }).map(String),
  fc.integer({ min: 1, max: MASK }),
  { maxKeys: 4 },
);
const content: fc.Arbitrary<Content> = fc.record({
  listing: fc.integer({ min: 1, max: LISTINGS }),
  texts: fc.array(words, { maxLength: 4 }),
});

const buildEntry = ({ listing, texts }: Content): Entry => ({
  listing,
  documents: buildDocuments(
    texts.map((terms) => ({ terms: new Map(Object.entries(terms)), length: Object.keys(terms).length })),
    Number,
  ),
  vector: new Int8Array(0),
});

it('finds after any changes, packed in or not yet, what the listings and their routes have last', () => {
  const batches = fc.array(fc.array(content, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(content, { maxLength: 80 }), batches, (first, changes) => {
      const held = new Map(first.map(({ listing, texts }) => [listing, texts]));
      const postings = new Postings(Array.from(held, ([listing, texts]) => buildEntry({ listing, texts })));
      for (const batch of changes) {
        postings.put(batch.map(buildEntry));
        for (const { listing, texts } of batch) held.set(listing, texts);
        const { firstRoutes, listingOfRoute, routeCounts, listingLengths } = postings.getFacts();
        for (let word = 0; word <= WORDS + 1; word += 1) {
          const found: string[] = [];
          postings.visitListings(word, (listing, mask) => found.push(`${listing} ${mask}`));
          postings.visitRoutes(word, (route, mask) => {
            const listing = listingOfRoute[route] ?? 0;
            found.push(`${listing}/${route - (firstRoutes[listing] ?? 0)} ${mask}`);
          });
          const expected = [...held].flatMap(([listing, texts]) =>
            texts.flatMap((terms, at) =>
              terms[word] ? `${at === 0 ? listing : `${listing}/${at - 1}`} ${terms[word]}` : [],
            ),
          );
          expect(found.sort()).toEqual(expected.sort());
          const listings = [...held].filter(([, texts]) => texts.some((terms) => terms[word]));
          expect(postings.count(word)).toBeGreaterThanOrEqual(listings.length);
        }
        const live = [...held].filter(([, texts]) => texts.length > 0);
        expect(postings.getSize()).toBe(live.length);
        for (const [listing, texts] of live) {
          expect(routeCounts[listing]).toBe(texts.length - 1);
          expect(listingLengths[listing]).toBe(Object.keys(texts[0] ?? {}).length);
        }
      }
    }),
    { numRuns: 60 },
  );
});
