import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { CATEGORIES } from '../../src/model/catalogue.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { findLive, iterateRefs } from '../../src/published/listings.ts';
import { listRelated } from '../../src/published/related.ts';
import { NOW } from '../builders.ts';
import { fewExamples } from '../few-examples.ts';
import { removeListing } from '../written.ts';
import { makeReadCatalogue } from './catalogues.ts';

const say = (slug: string, title: string, category: Declaration['category'] = 'Data'): Partial<Declaration> => ({
  slug,
  title,
  tagline: '',
  description: '',
  category,
});

const LISTINGS = [
  say('harbour-tides', 'Harbour tides'),
  say('sea-tides', 'Tides at sea'),
  say('tide-tables', 'Tide tables', 'Tools'),
  say('bond-yields', 'Bond yields', 'Finance'),
  say('tokens', 'Token prices', 'Finance'),
  say('zebra-facts', 'Zebra facts'),
  say('yak-facts', 'Yak statistics'),
  say('xylophones', 'Xylophone tuning'),
];

const listSlugs = ({ reading }: Awaited<ReturnType<typeof makeReadCatalogue>>, slug: string) =>
  reading.readAtOnce((snapshot) =>
    listRelated(reading.published, snapshot, findLive(reading.published, slug)?.number ?? -1).map(
      (entry) => entry.slug,
    ),
  );

it('the words that say what a listing is about have those of its title first, each once and in the singular', async () => {
  const { reading } = await makeReadCatalogue({
    ...say('tides', 'Harbour Tides API'),
    tagline: 'Stories of harbours, from 2026',
    description: 'The tide and the API of every lighthouse.',
  });
  const { topics } = reading.published.prepare<{ topics: string }>('SELECT topics FROM listings').get() ?? {};
  expect(topics?.split(' ').slice(0, 4)).toEqual(['harbour', 'tide', 'story', 'lighthouse']);
});

describe('related listings', () => {
  it('share rare words, those of the same category first, and are filled up by name from the category', async () => {
    const catalogue = await makeReadCatalogue(...LISTINGS);
    expect(listSlugs(catalogue, 'harbour-tides')).toEqual(['sea-tides', 'tide-tables', 'xylophones', 'yak-facts']);
  });

  it('share no words that most APIs have, and none after the first 32 of a listing', async () => {
    const words = Array.from({ length: 31 }, (_, at) => `word${at}x`).join(' ');
    const listings = [
      { ...say('long', 'Weather API'), description: `${words} lighthouse` },
      say('payments', 'API of payment requests', 'Tools'),
      say('lights', 'Lighthouses', 'Tools'),
      say('showers', 'Weathers', 'Tools'),
    ].map((listing) => ({ ...listing, tagline: `About ${listing.title}` }));
    const catalogue = await makeReadCatalogue(...listings);
    expect(listSlugs(catalogue, 'long')).toEqual(['showers']);
  });

  it('prefer the same provider', async () => {
    const ours = { provider_name: 'Tide Office' };
    const catalogue = await makeReadCatalogue(
      ...LISTINGS,
      { ...say('office-a', 'Tides of ports', 'Data'), ...ours },
      { ...say('office-b', 'Lunar calendar', 'Tools'), ...ours },
    );
    expect(listSlugs(catalogue, 'office-b')[0]).toBe('office-a');
  });

  it('are the same for the same catalogue, never the listing itself, never a delisted one', async () => {
    const catalogue = await makeReadCatalogue(...LISTINGS);
    for (const { slug = '' } of LISTINGS.map(({ slug }) => ({ slug: slug ?? '' }))) {
      const related = listSlugs(catalogue, slug);
      expect(related).not.toContain(slug);
      expect(new Set(related).size).toBe(related.length);
      expect(listSlugs(await makeReadCatalogue(...LISTINGS.toReversed()), slug)).toEqual(related);
    }
    await removeListing(catalogue.catalogue, 'sea-tides', { by: 'operator', reason: 'asked' });
    expect(listSlugs(catalogue, 'harbour-tides')).not.toContain('sea-tides');
    expect(listSlugs(catalogue, 'sea-tides')).toEqual([]);
  });

  it('are none where there is nothing else', async () => {
    expect(listSlugs(await makeReadCatalogue(say('alone', 'Alone')), 'alone')).toEqual([]);
  });

  it('are what they would be of a fresh start, whatever changes between two questions', async () => {
    const words = ['tide', 'bond', 'token', 'zebra', 'yak', 'harbour', 'lunar', 'port'];
    const change = fc.record({
      kind: fc.constantFrom('put', 'put', 'delist'),
      members: fc.array(
        fc.tuple(fc.integer({ min: 0, max: 90 }), fc.constantFrom(...words), fc.constantFrom(...CATEGORIES)),
        { minLength: 1, maxLength: 70 },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 2, maxLength: 5 }), async (changes) => {
        const { reading, catalogue, record } = await makeReadCatalogue();
        const getAll = () =>
          reading
            .readAtOnce(() => [...iterateRefs(reading.published)])
            .map(({ slug }) => listSlugs({ reading, catalogue, record }, slug));
        for (const { kind, members } of changes) {
          if (kind === 'put')
            await record(...members.map(([number, word, of]) => say(`x${number}`, `${word} ${number % 7}ths`, of)));
          else
            await delistAll(
              catalogue,
              members.map(([number]) => `x${number}`),
            );
          const followed = getAll();
          // Another catalogue comes between, so that the next question starts afresh.
          listSlugs(await makeReadCatalogue(say('other', 'Other')), 'other');
          const fresh = getAll();
          expect(followed).toEqual(fresh);
        }
        await catalogue.close();
        reading.close();
      }),
      fewExamples(2),
    );
  });
});

async function delistAll(
  catalogue: Awaited<ReturnType<typeof makeReadCatalogue>>['catalogue'],
  slugs: readonly string[],
): Promise<void> {
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (const slug of new Set(slugs)) {
      if ((await findListing(writing.catalogue, { slug }))?.state === 'live')
        await delistListing(writing, slug, { by: 'operator', reason: 'x' });
    }
  });
}
