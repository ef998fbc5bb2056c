import { listSynonyms } from './related-words.ts';
import { getWordVectors } from './vectors.ts';
import { readWordLines } from './word-files.ts';
import { getStem, listWords, removeContractions } from './words.ts';

/** Number of the most frequent stems that identify English; rarer ones in the table are often words of other languages. */
const FREQUENT_STEMS = 5000;

/**
 * Least number of words to judge by English. Fewer words may all be names ("ethereum rpc node"), so they are judged only by the
 * words of other languages in `data/words`.
 */
const WORDS_MIN = 4;
const WORDS_LEAST = 2;

let otherLanguages: ReadonlySet<string> | undefined;

/** Text that is in no language: quotes, addresses, numbers and paths. */
const NO_WORDS = /"[^"]*"|“[^”]*”|\S*[\d@/._]\S*/g;

/**
 * Returns true if a text is in another language than English, so that a catalogue in English can hardly answer it: it is in
 * another script, most of its words are neither frequent in English nor words of APIs, or half of them are known words of other
 * languages.
 */
export function isInOtherLanguage(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters > 2 * (text.match(/\p{Script=Latin}/gu)?.length ?? 0)) return true;
  const words = listWords(removeContractions(text.replace(NO_WORDS, ' '))).filter((word) => /^\p{L}{2,}$/u.test(word));
  if (words.length < WORDS_MIN) {
    otherLanguages ??= new Set(readWordLines('other-languages.txt').flatMap((line) => line.split(' ')));
    // Words of two letters are in many languages.
    const telling = words.filter((word) => word.length > 2);
    const known = telling.filter((word) => otherLanguages?.has(word));
    return words.length >= WORDS_LEAST && known.length > 0 && known.length >= telling.length / 2;
  }
  const { findRank } = getWordVectors();
  const understood = words.filter((word) => {
    const stem = getStem(word);
    return (findRank(stem) ?? FREQUENT_STEMS) < FREQUENT_STEMS || listSynonyms(stem).length > 0;
  });
  return understood.length < words.length / 2;
}
