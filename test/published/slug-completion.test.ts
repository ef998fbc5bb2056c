import { describe, expect, it } from 'vitest';
import { completeSlug } from '../../src/published/slug-completion.ts';

/** As much of a snapshot as completion reads. */
function makeSnapshot(slugs: readonly string[]) {
  return { columns: { slugs: slugs.toSorted() } };
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
  ])('%j gives first what starts so, then what has such words', (typed, found) => {
    expect(completeSlug(makeSnapshot(SLUGS), typed, 100)).toEqual({ slugs: found, hasMore: false });
  });

  it('says whether there are more, to the very last', () => {
    const snapshot = makeSnapshot(Array.from({ length: 101 }, (_, n) => `api-${String(n).padStart(3, '0')}`));
    expect(completeSlug(snapshot, 'api', 100)).toMatchObject({ hasMore: true });
    expect(completeSlug(snapshot, 'api', 101)).toMatchObject({ hasMore: false });
    expect(completeSlug(snapshot, 'api-1', 100)).toEqual({ slugs: ['api-100'], hasMore: false });
  });

  it('takes little longer than a look at each of 100,000 slugs, whatever is typed', () => {
    const slugs = Array.from({ length: 100_000 }, (_, n) => `provider-${n}-service-${(n * 7919) % 100_003}`);
    const snapshot = makeSnapshot(slugs);
    const once = measure(() => slugs.filter((slug) => slug.split('-').includes('absent')));
    for (const typed of ['provider-99999', 'service-7', '', 'absent', 'service provider nothing']) {
      expect(measure(() => completeSlug(snapshot, typed, 100)) / once, typed).toBeLessThan(2);
    }
  });
});

/** Gives the least processor time that some work takes, of several rounds. */
function measure(work: () => unknown): number {
  const rounds = Array.from({ length: 6 }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return user + system;
  });
  return Math.min(...rounds);
}
