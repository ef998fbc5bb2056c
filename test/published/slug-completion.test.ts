import { describe, expect, it, onTestFinished } from 'vitest';
import { completeSlug } from '../../src/published/slug-completion.ts';
import { makeReadCatalogue } from './catalogues.ts';

/** Publishes listings of these slugs. */
async function publish(slugs: readonly string[]) {
  const { reading } = await makeReadCatalogue(...slugs.map((slug) => ({ slug })));
  onTestFinished(() => reading.close());
  return reading.published;
}

const SLUGS = [
  'weather',
  'weather-now',
  'weatherman',
  'storm-weather',
  'city-storms',
  'meteo-storm-city',
  'pdf-to-text',
];

describe('completing a slug', () => {
  it.each([
    ['weather', ['weather', 'weather-now', 'weatherman', 'storm-weather']],
    ['weather-', ['weather-now', 'storm-weather', 'weather', 'weatherman']],
    ['WEATHER n', ['weather-now']],
    ['storm', ['storm-weather', 'city-storms', 'meteo-storm-city']],
    ['city storm', ['city-storms', 'meteo-storm-city']],
    ['météo', ['meteo-storm-city']],
    ['text pdf', ['pdf-to-text']],
    ['ext', []],
    ['zzz', []],
    ['日本', []],
    ['  ', SLUGS.toSorted()],
    ['', SLUGS.toSorted()],
  ])('%j gives first what starts so, then what has such words', async (typed, found) => {
    expect(completeSlug(await publish(SLUGS), typed, 100)).toEqual({ values: found, hasMore: false });
  });

  it('says whether there are more, to the very last', async () => {
    const published = await publish(Array.from({ length: 101 }, (_, n) => `api-${String(n).padStart(3, '0')}`));
    expect(completeSlug(published, 'api', 100)).toMatchObject({ hasMore: true });
    expect(completeSlug(published, 'api', 101)).toMatchObject({ hasMore: false });
    expect(completeSlug(published, 'api-1', 100)).toEqual({ values: ['api-100'], hasMore: false });
  });
});
