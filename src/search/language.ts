import { listRelated } from './related-words.ts';
import { getWordVectors } from './vectors.ts';
import { getStem, listWords } from './words.ts';

/** Stems that stand for English as people write it; rarer ones in the table are often words of other languages. */
const FREQUENT_STEMS = 5000;

/** Fewer words may all be names: "ethereum rpc node". */
const WORDS_MIN = 4;

/** What is no word of any language: what is quoted, addresses, numbers and paths. */
const NO_WORDS = /"[^"]*"|“[^”]*”|\S*[\d@/._]\S*/g;

/**
 * Says whether a text is in another language than English, so that a catalogue in English can hardly answer it: it is in
 * another script, or most of its words are neither frequent in English nor words of APIs.
 */
export function isInOtherLanguage(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters > 2 * (text.match(/\p{Script=Latin}/gu)?.length ?? 0)) return true;
  const words = listWords(text.replace(NO_WORDS, ' ')).filter((word) => /^\p{L}{2,}$/u.test(word));
  const { findRank } = getWordVectors();
  const understood = words.filter((word) => {
    const stem = getStem(word);
    return (findRank(stem) ?? FREQUENT_STEMS) < FREQUENT_STEMS || listRelated(stem).length > 0;
  });
  return words.length >= WORDS_MIN && understood.length < words.length / 2;
}
