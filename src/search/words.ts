import { stemmer } from 'stemmer';

/** Longest word that is kept; what is longer is an identifier that nobody types. */
const WORD_MAX_LENGTH = 48;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Stems already worked out, forgotten all at once when there are many. */
const stems = new Map<string, string>();
const STEMS_KEPT = 50_000;

/**
 * Lists the words of a text in their order, in lower case and without accents. Identifiers are split at a change of case and
 * at punctuation; a word with digits in it (erc20) counts whole and by its letters. Scripts without spaces give every pair
 * of neighbouring characters.
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

/** What English writes together: "don't" whole, and the end of "I'm" and "Apple's". */
const CONTRACTED = /\b\p{L}{0,20}n['’]t\b|(?<=\p{L})['’](?:d|ll|m|re|s|ve)\b/giu;

/** Removes from a sentence contractions such as "don't", and the endings of others such as "I'm". */
export function removeContractions(text: string): string {
  return text.replace(CONTRACTED, '');
}

/** Gives the stem under which the forms of an English word are one (Porter's algorithm). */
export function getStem(word: string): string {
  let stem = stems.get(word);
  if (stem === undefined) {
    // The algorithm knows plain letters alone, and of short words it makes others: of apy api, of gas ga.
    stem = /^[a-z]{4,}$/.test(word) ? stemmer(word) : word;
    if (stems.size >= STEMS_KEPT) stems.clear();
    stems.set(word, stem);
  }
  return stem;
}

/** Of a word with letters and digits, the runs of letters that can be a word: of erc20 erc, of x402 none. */
function listLetterRuns(word: string): string[] {
  if (!/\p{N}/u.test(word) || word.length > 16) return [];
  return word.match(/\p{L}{3,}/gu) ?? [];
}

function listPairs(word: string): string[] {
  const characters = [...word];
  return characters.length < 2 ? characters : characters.slice(1).map((next, at) => `${characters[at]}${next}`);
}
