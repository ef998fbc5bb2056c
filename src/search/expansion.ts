import type { InvertedIndex } from './inverted-index.ts';
import { listSynonyms, type Synonym } from './related-words.ts';
import { type AskedWord, readRequest } from './request.ts';
import { getVector, getWordVectors } from './vectors.ts';
import { getStem } from './words.ts';

/** A stem that stands for a word of a request, and the weight of finding it. */
export interface ExpandedTerm {
  readonly stem: string;
  readonly weight: number;
}

/**
 * The terms for one word of a request. The first is the word itself, with the weight that it would have even if the catalogue
 * lacks it; then the synonyms, heaviest first.
 */
export type TermGroup = readonly ExpandedTerm[];

/** The words of a catalogue, as an `InvertedIndex` has them. */
type Words = Pick<InvertedIndex, 'count' | 'listFuzzy' | 'listByPrefix'> & {
  /** Number of live listings. */
  readonly size: number;
};

/** Most words of a request that are read, and most synonyms for one word. */
const WORDS_MAX = 64;
const TERMS_MAX = 96;
const SYNONYMS_MAX = 12;

/**
 * Most telling words of a request in which an unknown word may be a misspelling, a beginning, or two words in one. In longer
 * requests it is mostly just another word.
 */
const CORRECTED_MAX = 6;

/** Factors on the weight of a word that only stands for another. */
const FACTORS = { joined: 0.9, part: 0.7, near: 0.8, beginning: 0.8, everyday: 0.5, related: 0.35 };

/** Highest weight of a synonym, as a share of that of the word itself, if the catalogue has the word. */
const SYNONYM_SHARE = 0.8;

/** Least number of letters of the last word of a request that may still be being typed. */
const BEGINNING_MIN = 3;

/** A request expanded with the words of a catalogue. */
export interface ExpandedRequest {
  /** The terms for each word. With them the score of a document depends on the document alone, which keeps pages stable. */
  readonly groups: readonly TermGroup[];
  /** Words of the request without any term in the catalogue, except those that read like filters. */
  readonly unmatched: readonly string[];
  /** The meaning vector of the request, the same for every catalogue; empty if no word is known. */
  readonly vector: Float64Array;
}

/** Expands a request: finds the words of the catalogue that stand for its words, and the weight of each. */
export function expandRequest(request: string, words: Words): ExpandedRequest {
  const { asked: all, stems } = readRequest(request);
  const asked = all.slice(0, WORDS_MAX);
  const phrases = listPhrases(stems.slice(0, 2 * WORDS_MAX));
  const groups: TermGroup[] = [];
  const unmatched: string[] = [];
  for (const [at, word] of asked.entries()) {
    const context = {
      before: asked[at - 1]?.word,
      after: asked[at + 1]?.word,
      synonyms: [...listSynonyms(word.stem), ...(phrases.get(word.stem) ?? [])],
      mayBeCorrected: asked.length <= CORRECTED_MAX,
    };
    const found = listGroups(word, context, words);
    const isUnknown = !found.flat().some(({ stem }) => words.count(stem) > 0);
    // A word that reads like a filter asks for nothing that a listing would have to say.
    if (isUnknown && word.isLesser) continue;
    if (isUnknown) unmatched.push(word.word);
    groups.push(...found);
  }
  // First the words themselves, then their synonyms.
  let left = TERMS_MAX - groups.length;
  const cut = groups.map((group) => {
    const terms = group.slice(0, 1 + Math.min(Math.max(0, left), SYNONYMS_MAX));
    left -= terms.length - 1;
    return terms;
  });
  return { groups: cut, unmatched, vector: getVector(asked.map(({ stem, weight }) => [stem, weight])) };
}

/** The words next to a word of a request, and the synonyms for it and for the phrases that it is part of. */
interface Context {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly synonyms: readonly Synonym[];
  /** True if an unknown word may be a misspelling, the beginning of another word, or two words in one. */
  readonly mayBeCorrected: boolean;
}

/** Lists the terms for a word: one group, or two groups for two words written as one. */
function listGroups({ word, stem, weight }: AskedWord, context: Context, words: Words): TermGroup[] {
  const { before, after, synonyms, mayBeCorrected } = context;
  const group = openGroup(stem, weight * getRarityInEnglish(stem), words);
  if (before !== undefined) group.add(getStem(before + word), FACTORS.joined);
  if (after !== undefined) group.add(getStem(word + after), FACTORS.joined);
  for (const other of synonyms) group.add(other.stem, FACTORS[other.kind]);
  // A known English word is not a misspelling, even if no listing has it: "dentist" does not mean "pentest".
  const isWhole = words.count(stem) > 0 || synonyms.length > 0 || isEnglish(stem);
  if (isWhole || !mayBeCorrected) return [group.end()];

  const parts = findParts(word, words);
  if (parts) return parts.map((part) => [group.weighPart(part)]);
  const isLast = after === undefined && word.length >= BEGINNING_MIN;
  const beginning = isLast ? words.listByPrefix(word) : [];
  const meant = beginning.length > 0 ? beginning : words.listFuzzy(stem);
  for (const other of meant) group.add(other, beginning.length > 0 ? FACTORS.beginning : FACTORS.near);
  // A correction of the word answers it.
  return [group.end(meant.length > 0)];
}

/** Opens the group of a word; `factor` is the weight of the word in the request. */
function openGroup(stem: string, factor: number, words: Words) {
  const weigh = (other: string) => factor * getRarity(words.count(other), words.size);
  const own = weigh(stem);
  // A synonym is worth less than the word itself, if any listing has that.
  const most = words.count(stem) > 0 ? own * SYNONYM_SHARE : own;
  const weights = new Map<string, number>();
  const round = (term: string, weight: number): ExpandedTerm => ({ stem: term, weight: roundWeight(weight) });
  return {
    /** Adds a synonym with a share of its own weight, if a listing has it. */
    add(other: string, share: number): void {
      if (other === stem || words.count(other) === 0) return;
      weights.set(other, Math.max(weights.get(other) ?? 0, Math.min(share * weigh(other), most)));
    },
    weighPart: (part: string) => round(part, FACTORS.part * weigh(part)),
    /** Returns the group. With `isAnswered`, the word itself weighs as much as its best synonym. */
    end(isAnswered = false): TermGroup {
      const others = Array.from(weights, ([other, weight]) => round(other, weight));
      const whole = isAnswered ? Math.max(0, ...weights.values()) : own;
      return [round(stem, whole), ...others.sort((a, b) => b.weight - a.weight || (a.stem < b.stem ? -1 : 1))];
    },
  };
}

/** Returns how rare a word is, by the number of listings that have it (inverse document frequency as in BM25). */
export function getRarity(count: number, size: number): number {
  // A listing that changed recently may be counted twice.
  const all = Math.max(size, count);
  return Math.max(LEAST_RARITY, Math.log(1 + (all - count + 0.5) / (count + 0.5)));
}

/** Least rarity: a word that all listings have says next to nothing, but is still found. */
const LEAST_RARITY = 0.1;

/** Returns how rare a stem is in English, from 0.1 for the most frequent to 1. */
function getRarityInEnglish(stem: string): number {
  const { size, findRank } = getWordVectors();
  const rank = findRank(stem) ?? size;
  return Math.sqrt(0.01 + 0.99 * (Math.log(1 + rank / FREQUENT) / Math.log(1 + size / FREQUENT)));
}

/** Number of the most frequent English words, which say nothing. */
const FREQUENT = 20;

function isEnglish(stem: string): boolean {
  return getWordVectors().findRank(stem) !== undefined;
}

/** The largest weight, which keeps weights short in a cursor. */
const WEIGHT_MAX = 12;

/** Rounds a weight to hundredths, which keeps it short in a cursor. */
function roundWeight(weight: number): number {
  return Math.max(1, Math.round(100 * Math.min(weight, WEIGHT_MAX))) / 100;
}

/** Finds two words of the catalogue that together make an unknown word ("webscraping"). */
function findParts(word: string, words: Words): [string, string] | undefined {
  for (let at = word.length - 3; at >= 3; at -= 1) {
    const [first, second] = [getStem(word.slice(0, at)), getStem(word.slice(at))];
    if (words.count(first) > 0 && words.count(second) > 0) return [first, second];
  }
  return undefined;
}

/** Lists the synonyms for the phrases of a request, by each stem of the phrase. */
function listPhrases(stems: readonly string[]): Map<string, Synonym[]> {
  const found = new Map<string, Synonym[]>();
  for (let start = 0; start < stems.length; start += 1) {
    for (const length of [2, 3]) {
      const phrase = stems.slice(start, start + length);
      const synonyms = phrase.length < length ? [] : listSynonyms(phrase.join('_'));
      for (const stem of synonyms.length > 0 ? phrase : []) found.set(stem, [...(found.get(stem) ?? []), ...synonyms]);
    }
  }
  return found;
}
