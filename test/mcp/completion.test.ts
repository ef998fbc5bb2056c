import { describe, expect, it } from 'vitest';
import { ask, makeMany, makeNumbered, serveMcp } from './serving.ts';

/** Completes the slug of the resource of a listing. */
async function complete(url: URL, value: string) {
  const ref = { type: 'ref/resource', uri: 'catalogue://listing/{slug}' };
  const { result } = await ask(url, 'completion/complete', { ref, argument: { name: 'slug', value } });
  return result.completion;
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
  it('gives first what starts so, then what has such words', async () => {
    const { url } = await serveMcp(SLUGS.map((slug, n) => ({ ...makeNumbered(n), slug })));
    for (const [typed, values] of [
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
    ] as const) {
      expect(await complete(url, typed), typed).toEqual({ values, hasMore: false, total: values.length });
    }
  });

  it('says whether there are more, to the very last', async () => {
    const { url } = await serveMcp(makeMany(101));
    const { values, ...rest } = await complete(url, 'numbered');
    expect([values.length, rest]).toEqual([100, { hasMore: true }]);
    expect(await complete(url, 'numbered-0')).toMatchObject({ hasMore: false, total: 100 });
    expect(await complete(url, 'numbered-1')).toMatchObject({ values: ['numbered-100'], hasMore: false });
  });
});
