import fc from 'fast-check';
import { expect } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { findLive } from '../../src/published/listings.ts';
import { selectListings } from '../../src/published/select.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { recordDeclaration } from '../written.ts';

const WORDS = ['weather', 'forecast', 'stock', 'token'];

/** What happens between one page and the next: listings removed, rewritten, and listings with some words put in. */
interface Event {
  readonly gone: readonly number[];
  readonly rewritten: readonly number[];
  readonly come: readonly (readonly string[])[];
}

const someWords = fc.array(fc.constantFrom(...WORDS, 'other'), { minLength: 1, maxLength: 3 });
const makeEvent = (listings: number): fc.Arbitrary<Event> =>
  fc.record({
    gone: fc.array(fc.nat(listings - 1), { maxLength: 4 }),
    rewritten: fc.array(fc.nat(listings - 1), { maxLength: 3 }),
    come: fc.array(someWords, { maxLength: 12 }),
  });

/** Makes a catalogue of shops, and ways to put shops in and to remove them. */
export async function makeShop() {
  const catalogue = await makeCatalogue();
  const reading = await openTestReading(catalogue);
  let count = 0;
  const put = (contents: readonly (readonly string[])[], rewritten: readonly number[] = []) =>
    writeCatalogue(catalogue, NOW, async (writing) => {
      for (const [at, words] of contents.entries()) {
        const n = rewritten[at] ?? count;
        if (rewritten[at] === undefined) count += 1;
        await recordDeclaration(writing, {
          ...makeDeclaration({ slug: `shop-${n}`, base_url: `https://shop-${n}.example-provider.com` }),
          // The same words in other fields, so that ranks differ and meet.
          title: n % 3 === 0 ? words.join(' ') : `Shop ${n}`,
          tagline: n % 3 === 1 ? words.join(' ') : 'A shop.',
          description: n % 3 === 2 ? words.join(' ') : 'Sells things.',
          // Payees of their own, or those with the same words would be one product at several addresses.
          routes: [
            makeRoute({
              terms: [makeTerms({ amount: 1000 * (1 + (n % 4)), pay_to: `0x${String(n).padStart(40, '0')}` })],
            }),
          ],
        });
      }
    });
  const remove = (slugs: readonly string[]) =>
    writeCatalogue(catalogue, NOW, async (writing) => {
      for (const slug of slugs) await delistListing(writing, slug, { by: 'operator', reason: 'test' });
    });
  return { catalogue, reading, put, remove };
}

/** Orders of the list, and words to search for. */
export const WISHES = [
  { q: 'weather stock' },
  { q: 'weather forecast stock token' },
  { q: 'weather stock', sort: 'price' },
  { q: 'weather stock', sort: 'name' },
  { sort: 'price' },
  { sort: 'updated' },
  { sort: 'reliability' },
  { sort: 'latency' },
  { sort: 'proof' },
  {},
] as const;

/** How many listings there are at first, how many are on a page at least, and how often a list is read. */
interface PagingPlan {
  readonly listings: number;
  readonly fewest: number;
  readonly numRuns: number;
}

/** Tests that pages show what is there the whole time once, whatever comes and goes between them. */
export async function testPaging(
  wish: (typeof WISHES)[number],
  { listings, fewest, numRuns }: PagingPlan,
): Promise<void> {
  const first = fc.array(someWords, { minLength: listings, maxLength: listings });
  const events = fc.array(makeEvent(listings), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(first, events, fc.integer({ min: fewest, max: 9 }), async (contents, happenings, limit) => {
      const { catalogue, reading, put, remove } = await makeShop();
      await put(contents);
      const all = listQuery.parse({ ...wish, limit: 1000 });
      const stayed = new Set(
        selectListings(reading.published, reading.getSnapshot(), all).listings.map(({ slug }) => slug),
      );
      const seen: string[] = [];
      const moved: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page === 0 || cursor !== undefined; page += 1) {
        const query = listQuery.parse({ ...wish, limit, ...(cursor && { cursor }) });
        const { listings, next_cursor } = selectListings(reading.published, reading.getSnapshot(), query);
        seen.push(...listings.map(({ slug }) => slug));
        cursor = next_cursor;
        const happening = happenings[page];
        if (!happening || cursor === undefined) continue;
        // The last one shown goes each time: a cursor must not need it.
        const last = seen.at(-1) ?? '';
        const gone = new Set([last, ...happening.gone.map((n) => `shop-${n}`)]);
        await remove([...gone].filter((slug) => reading.readAtOnce(() => findLive(reading.published, slug))));
        // What is rewritten may move to a page that is already shown, or to one still to come: nothing is promised of it.
        const rewritten = happening.rewritten.filter((n) => !gone.has(`shop-${n}`));
        for (const slug of [...gone, ...rewritten.map((n) => `shop-${n}`)]) stayed.delete(slug);
        await put(
          rewritten.map((n) => [WORDS[n % WORDS.length] ?? '', 'other']),
          rewritten,
        );
        await put(happening.come);
        moved.push(...rewritten.map((n) => `shop-${n}`));
      }
      reading.close();
      await catalogue.close();
      const twice = seen.filter((slug, at) => seen.indexOf(slug) !== at);
      expect(twice.filter((slug) => !moved.includes(slug))).toEqual([]);
      expect([...stayed].filter((slug) => !seen.includes(slug))).toEqual([]);
    }),
    { numRuns },
  );
}
