import { registerHooks } from 'node:module';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { expandRequest } from '../../src/search/expansion.ts';
import { counted } from './counted-distance.ts';

/** The vocabulary, loaded once more with the function that compares two words counted. */
const COUNTED = '../../src/search/vocabulary.ts?counted';
const hooks = registerHooks({
  resolve(specifier, context, next) {
    const isCounted = specifier === 'fastest-levenshtein' && context.parentURL?.endsWith('?counted');
    return isCounted
      ? next('./counted-distance.ts', { ...context, parentURL: import.meta.url })
      : next(specifier, context);
  },
});
const { createVocabulary }: typeof import('../../src/search/vocabulary.ts') = await import(COUNTED);
hooks.deregister();

const WORDS = 20_000;
const random = createRandom(7);
const makeWord = (length: number) =>
  Array.from({ length }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');

/** Works a request out over a vocabulary of random words, and gives what that took: not in time, which the machine decides. */
function countWork(asked: readonly string[]) {
  const known = new Set(Array.from({ length: WORDS }, (_, index) => makeWord(4 + (index % 8))));
  const vocabulary = createVocabulary(() => 1);
  for (const word of known) vocabulary.add(word);
  const lookups = new Set<string>();
  let scans = 0;
  counted.calls = 0;
  const { groups } = expandRequest(asked.join(' '), {
    count: (stem) => {
      lookups.add(stem);
      return known.has(stem) ? 1 : 0;
    },
    size: 10_000,
    listFuzzy: (stem) => {
      scans += 1;
      return vocabulary.listFuzzy(stem);
    },
    listByPrefix: (start) => {
      scans += 1;
      return vocabulary.listByPrefix(start);
    },
  });
  return { lookups: lookups.size, scans, comparisons: counted.calls, terms: groups.flat().length };
}

const makeMisspelt = (count: number, length = 8) => Array.from({ length: count }, () => makeWord(length));

describe('the work of a request of misspelt words', () => {
  it('is one look through the words for each of six, of which few are compared letter by letter', () => {
    const { scans, comparisons } = countWork(makeMisspelt(6));
    // The last one may also be the beginning of a word.
    expect(scans).toBe(7);
    expect(comparisons).toBeGreaterThan(0);
    expect(comparisons).toBeLessThan((6 * WORDS) / 100);
  });

  it.each([7, 8, 64, 250])('is no look through them at all for %i', (count) => {
    expect(countWork(makeMisspelt(count))).toMatchObject({ scans: 0, comparisons: 0 });
  });

  it.each([
    [6, 8],
    [8, 8],
    [6, 48],
    [40, 48],
    [1000, 1],
  ])('finds few words more for %i of %i letters each', (count, length) => {
    const { lookups, terms } = countWork(makeMisspelt(count, length));
    // The word, it and its neighbours written together, and where there are few: both halves at each place to part it.
    expect(lookups).toBeLessThanOrEqual(Math.min(count, 64) * 3 + 6 * 2 * length);
    expect(terms).toBeLessThanOrEqual(96);
  });
});
