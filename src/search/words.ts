import { stemmer } from 'stemmer';

/** Longest word that is kept. Longer ones are identifiers that nobody types. */
const WORD_MAX_LENGTH = 48;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Cache of stems, emptied when it is full. */
const stems = new Map<string, string>();
const STEMS_KEPT = 50_000;

/**
 * Lists the words of a text in order, in lower case and without accents. Identifiers are split at a change of case and at
 * punctuation; a word with digits (erc20) is listed whole and by its letters. Scripts without spaces give every pair of
 * neighbouring characters.
 */
export function listWords(text: string): string[] {
  const plain = text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  const words: string[] = [];
  for (const word of plain.match(/[\p{L}\p{N}]+/gu) ?? []) {
    if (word.length > WORD_MAX_LENGTH) continue;
    if (CJK.test(word)) words.push(...listPairs(word));
    else words.push(word, ...listLetterRuns(word));
  }
  return words;
}

/** Contractions: "don't" whole, and the endings of "I'm" and "Apple's". */
const CONTRACTED = /\b\p{L}{0,20}n['’]t\b|(?<=\p{L})['’](?:d|ll|m|re|s|ve)\b/giu;

/** Removes from a sentence contractions such as "don't", and the endings of others such as "I'm". */
export function removeContractions(text: string): string {
  return text.replace(CONTRACTED, '');
}

/** Returns the stem that the forms of an English word share (Porter's algorithm). */
export function getStem(word: string): string {
  let stem = stems.get(word);
  if (stem === undefined) {
    // The algorithm handles only plain letters, and confuses short words: "apy" would become "api", and "gas" "ga".
    stem = /^[a-z]{4,}$/.test(word) ? stemmer(word) : word;
    if (stems.size >= STEMS_KEPT) stems.clear();
    stems.set(word, stem);
  }
  return stem;
}

/** Returns the runs of letters in a word with digits that can be words: "erc" of erc20, none of x402. */
function listLetterRuns(word: string): string[] {
  if (!/\p{N}/u.test(word) || word.length > 16) return [];
  return word.match(/\p{L}{3,}/gu) ?? [];
}

function listPairs(word: string): string[] {
  const characters = [...word];
  return characters.length < 2 ? characters : characters.slice(1).map((next, at) => `${characters[at]}${next}`);
}
