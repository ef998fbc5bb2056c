import { distance } from 'fastest-levenshtein';

/** Lengths of a word from which one letter may differ, and from which two may. */
const NEAR_FROM_LENGTH = 4;
const FAR_FROM_LENGTH = 7;

/** Most words that one mistyped or unfinished word may stand for. */
const NEAR_MAX = 3;
const BEGINNING_MAX = 8;

/** Most words that are not sorted yet. Each search for a beginning goes through all of these. */
const UNSORTED_MAX = 500;

/** The words of a catalogue. */
export interface Vocabulary {
  add(word: string): void;
  /**
   * Lists words within one or two letters: nearest first, then most common first. They begin with the same letter, or with the
   * second one, in case the first two are swapped.
   */
  listFuzzy(word: string): string[];
  /** Lists words that begin with a text, most common first. */
  listByPrefix(start: string): string[];
}

/** Creates an empty vocabulary. `count` returns the number of listings that have a word. */
export function createVocabulary(count: (word: string) => number): Vocabulary {
  /** Buckets by first letter and length. */
  const buckets = new Map<string, Bucket>();
  let sorted: string[] = [];
  let unsorted: string[] = [];
  const sortByCount = (words: readonly string[]) =>
    words
      .map((word) => ({ word, count: count(word) }))
      .filter((one) => one.count > 0)
      .sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
      .map(({ word }) => word);

  return {
    add(word) {
      unsorted.push(word);
      if (!/^[a-z]+$/.test(word)) return;
      const key = getBucketKey(word, word.length);
      const bucket = buckets.get(key) ?? { words: [], sets: [] };
      buckets.set(key, bucket);
      bucket.words.push(word);
      bucket.sets.push(getLetters(word));
    },
    listFuzzy(word) {
      if (word.length < NEAR_FROM_LENGTH || !/^[a-z]+$/.test(word)) return [];
      const reach = word.length < FAR_FROM_LENGTH ? 1 : 2;
      const found = listBucketKeys(word, reach)
        .flatMap((key) => listWithin(buckets.get(key), word, reach))
        .filter(({ candidate }) => count(candidate) > 0);
      const nearest = Math.min(...found.map(({ away }) => away));
      const words = found.filter(({ away }) => away === nearest).map(({ candidate }) => candidate);
      return sortByCount(words).slice(0, NEAR_MAX);
    },
    listByPrefix(start) {
      if (unsorted.length > UNSORTED_MAX) {
        sorted = [...sorted, ...unsorted].sort();
        unsorted = [];
      }
      const found = unsorted.filter((word) => word.startsWith(start));
      for (let at = findFrom(sorted, start); sorted[at]?.startsWith(start); at += 1) found.push(sorted[at] as string);
      return sortByCount(found).slice(0, BEGINNING_MAX);
    },
  };
}

/**
 * Words of one first letter and length, each with its set of letters as bits. Comparing the sets rules most words out quickly.
 */
interface Bucket {
  readonly words: string[];
  readonly sets: number[];
}

function getBucketKey(word: string, length: number): string {
  return `${word.charAt(0)}${length}`;
}

/** Lists the keys of the buckets with words of about the same length that begin with the word's first or second letter. */
function listBucketKeys(word: string, reach: number): string[] {
  const lengths = Array.from({ length: 2 * reach + 1 }, (_, at) => word.length - reach + at);
  return [...new Set(word.slice(0, 2))].flatMap((first) => lengths.map((length) => getBucketKey(first, length)));
}

/** Lists the words of a bucket that differ from one by at most `reach` letters. Two swapped letters count as one. */
function listWithin({ words, sets }: Bucket = { words: [], sets: [] }, word: string, reach: number) {
  const set = getLetters(word);
  const found: { candidate: string; away: number }[] = [];
  for (const [at, candidate] of words.entries()) {
    if (countBits((sets[at] as number) ^ set) > 2 * reach) continue;
    const away = isSwapped(word, candidate) ? 1 : distance(word, candidate);
    if (away <= reach) found.push({ candidate, away });
  }
  return found;
}

/** Returns the index of the first of the sorted words that is not before a word. */
function findFrom(sorted: readonly string[], word: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns true if two words differ only by two neighbouring letters that are swapped. */
function isSwapped(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return (
    at + 1 < one.length &&
    one[at] === other[at + 1] &&
    one[at + 1] === other[at] &&
    one.slice(at + 2) === other.slice(at + 2)
  );
}

function getLetters(word: string): number {
  let set = 0;
  for (let at = 0; at < word.length; at += 1) set |= 1 << (word.charCodeAt(at) - 97);
  return set;
}

function countBits(bits: number): number {
  let left = bits;
  let count = 0;
  for (; left !== 0; left &= left - 1) count += 1;
  return count;
}
