import { distance } from 'fastest-levenshtein';

/** Letters that may differ between a word and what was typed, by its length. */
const NEAR_FROM_LENGTH = 4;
const FAR_FROM_LENGTH = 7;

/** Most words that one mistyped or unfinished word may stand for. */
const NEAR_MAX = 3;
const BEGINNING_MAX = 8;

/** Words that are not put in order yet are few: each is looked at for every beginning. */
const UNSORTED_MAX = 500;

/** The words of a catalogue by their numbers. Only grows, as in the catalogue. */
export interface Words {
  add(words: readonly { number: number; word: string }[]): void;
  find(word: string): number | undefined;
  /** Lists words within a letter or two, the nearest first, then by `count`. They begin with the same letters, perhaps swapped. */
  listNear(word: string, count: (number: number) => number): number[];
  /** Lists words that begin so, the most common first. */
  listBeginning(start: string, count: (number: number) => number): number[];
}

/** Makes an empty vocabulary. */
export function createWords(): Words {
  const numbers = new Map<string, number>();
  /** By first letter and length. */
  const shelves = new Map<string, Shelf>();
  let sorted: string[] = [];
  let unsorted: string[] = [];
  const getCounted = (word: string, count: (number: number) => number) => {
    const number = numbers.get(word) ?? 0;
    return { number, count: count(number) };
  };

  return {
    add(words) {
      for (const { number, word } of words) {
        numbers.set(word, number);
        unsorted.push(word);
        if (!/^[a-z]+$/.test(word)) continue;
        const key = getShelfKey(word, word.length);
        const shelf = shelves.get(key) ?? { words: [], sets: [] };
        shelves.set(key, shelf);
        shelf.words.push(word);
        shelf.sets.push(getLetters(word));
      }
      if (unsorted.length <= UNSORTED_MAX) return;
      sorted = [...sorted, ...unsorted].sort();
      unsorted = [];
    },
    find: (word) => numbers.get(word),
    listNear(word, count) {
      if (word.length < NEAR_FROM_LENGTH || !/^[a-z]+$/.test(word)) return [];
      const reach = word.length < FAR_FROM_LENGTH ? 1 : 2;
      const found = listShelfKeys(word, reach)
        .flatMap((key) => listWithin(shelves.get(key), word, reach))
        .map(({ candidate, away }) => ({ ...getCounted(candidate, count), away }))
        .filter((entry) => entry.count > 0);
      const nearest = Math.min(...found.map(({ away }) => away));
      return found
        .filter(({ away }) => away === nearest)
        .sort((a, b) => b.count - a.count || a.number - b.number)
        .slice(0, NEAR_MAX)
        .map(({ number }) => number);
    },
    listBeginning(start, count) {
      const found = unsorted.filter((word) => word.startsWith(start));
      for (let at = findFrom(sorted, start); sorted[at]?.startsWith(start); at += 1) found.push(sorted[at] as string);
      return found
        .map((word) => getCounted(word, count))
        .filter((entry) => entry.count > 0)
        .sort((a, b) => b.count - a.count || a.number - b.number)
        .slice(0, BEGINNING_MAX)
        .map(({ number }) => number);
    },
  };
}

/** Words of one first letter and length, with the letters of each, a bit each: most are told apart by these without being compared. */
interface Shelf {
  readonly words: string[];
  readonly sets: number[];
}

function getShelfKey(word: string, length: number): string {
  return `${word.charAt(0)}${length}`;
}

/** Lists the keys of the shelves whose words are about as long, and begin with the first letter of a word or the one after. */
function listShelfKeys(word: string, reach: number): string[] {
  const lengths = Array.from({ length: 2 * reach + 1 }, (_, at) => word.length - reach + at);
  return [...new Set(word.slice(0, 2))].flatMap((first) => lengths.map((length) => getShelfKey(first, length)));
}

/** Lists the words of a shelf that differ from one by `reach` letters at most; two that are swapped count as one. */
function listWithin({ words, sets }: Shelf = { words: [], sets: [] }, word: string, reach: number) {
  const set = getLetters(word);
  const found: { candidate: string; away: number }[] = [];
  for (const [at, candidate] of words.entries()) {
    if (countBits((sets[at] as number) ^ set) > 2 * reach) continue;
    const away = isSwapped(word, candidate) ? 1 : distance(word, candidate);
    if (away <= reach) found.push({ candidate, away });
  }
  return found;
}

/** Finds the first of sorted words that is not before one. */
function findFrom(sorted: readonly string[], word: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Says whether two words differ by two neighbouring letters in each other's place. */
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
