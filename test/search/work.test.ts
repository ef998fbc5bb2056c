import { distance } from 'fastest-levenshtein';
import { describe, expect, it, vi } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { buildPlan } from '../../src/search/plan.ts';
import { createWords } from '../../src/search/vocabulary.ts';

vi.mock('fastest-levenshtein', { spy: true });

const WORDS = 20_000;
const random = createRandom(7);
const makeWord = (length: number) =>
  Array.from({ length }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');

/** Plans a request over a vocabulary of random words, and gives what that took: not in time, which the machine decides. */
function countWork(asked: readonly string[]) {
  const words = createWords();
  words.add(Array.from({ length: WORDS }, (_, index) => ({ number: index + 1, word: makeWord(4 + (index % 8)) })));
  let [lookups, scans] = [0, 0];
  vi.mocked(distance).mockClear();
  const { plan } = buildPlan(asked.join(' '), {
    find: (stem) => {
      lookups += 1;
      return words.find(stem);
    },
    count: () => 1,
    getSize: () => 10_000,
    listNear: (stem) => {
      scans += 1;
      return words.listNear(stem, () => 1);
    },
    listBeginning: (start) => {
      scans += 1;
      return words.listBeginning(start, () => 1);
    },
  });
  const comparisons = vi.mocked(distance).mock.calls.length;
  return { lookups, scans, comparisons, terms: plan.reduce((sum, group) => sum + group.length, 0) };
}

const makeMisspelt = (count: number, length = 8) => Array.from({ length: count }, () => makeWord(length));

describe('the work of a request of misspelt words', () => {
  it('is one look through the words for each of six, of which few are compared letter by letter', () => {
    const { scans, comparisons } = countWork(makeMisspelt(6));
    // The last one may also be the beginning of a word.
    expect(scans).toBe(7);
    expect(comparisons).toBeGreaterThan(0);
    expect(comparisons).toBeLessThan((6 * WORDS) / 20);
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
