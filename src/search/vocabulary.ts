import { distance } from 'fastest-levenshtein';

/** Letters that may differ between a word and what was typed, by its length. */
const NEAR_FROM_LENGTH = 4;
const FAR_FROM_LENGTH = 7;

/** Most words that one mistyped or unfinished word may stand for. */
const NEAR_MAX = 3;
const BEGINNING_MAX = 8;

/** The words of a catalogue by their numbers. Only grows, as in the catalogue. */
export interface Words {
  add(words: readonly { number: number; word: string }[]): void;
  find(word: string): number | undefined;
  /** Lists words within a letter or two, the nearest first, then by `count`. */
  listNear(word: string, count: (number: number) => number): number[];
  /** Lists words that begin so, the most common first. */
  listBeginning(start: string, count: (number: number) => number): number[];
}

/** Makes an empty vocabulary. */
export function createWords(): Words {
  const numbers = new Map<string, number>();
  /** The letters of each word, a bit each: most words are told apart by them without being compared. */
  const letters = new Map<number, { words: string[]; sets: number[] }>();

  return {
    add(words) {
      for (const { number, word } of words) {
        numbers.set(word, number);
        if (!/^[a-z]+$/.test(word)) continue;
        const sameLength = letters.get(word.length) ?? { words: [], sets: [] };
        letters.set(word.length, sameLength);
        sameLength.words.push(word);
        sameLength.sets.push(getLetters(word));
      }
    },
    find: (word) => numbers.get(word),
    listNear(word, count) {
      if (word.length < NEAR_FROM_LENGTH || !/^[a-z]+$/.test(word)) return [];
      const reach = word.length < FAR_FROM_LENGTH ? 1 : 2;
      const set = getLetters(word);
      const found: { number: number; away: number; count: number }[] = [];
      for (let length = word.length - reach; length <= word.length + reach; length += 1) {
        const { words, sets } = letters.get(length) ?? { words: [], sets: [] };
        for (let at = 0; at < words.length; at += 1) {
          if (countBits((sets[at] as number) ^ set) > 2 * reach) continue;
          const candidate = words[at] as string;
          const away = distance(word, candidate);
          const number = numbers.get(candidate) ?? 0;
          if (away <= reach && count(number) > 0) found.push({ number, away, count: count(number) });
        }
      }
      const nearest = Math.min(...found.map(({ away }) => away));
      return found
        .filter(({ away }) => away === nearest)
        .sort((a, b) => b.count - a.count || a.number - b.number)
        .slice(0, NEAR_MAX)
        .map(({ number }) => number);
    },
    listBeginning(start, count) {
      const found: { number: number; count: number }[] = [];
      for (const [word, number] of numbers) {
        if (word.startsWith(start) && count(number) > 0) found.push({ number, count: count(number) });
      }
      return found
        .sort((a, b) => b.count - a.count || a.number - b.number)
        .slice(0, BEGINNING_MAX)
        .map(({ number }) => number);
    },
  };
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
