import type { InvertedIndex } from './inverted-index.ts';
import { listStandIns, type StandIn } from './related-words.ts';
import { type AskedWord, readRequest } from './request.ts';
import { getVector, getWordVectors } from './vectors.ts';
import { getStem } from './words.ts';

/** A stem that stands for a word of a request, and what finding it is worth. */
export interface ExpandedTerm {
  readonly stem: string;
  readonly weight: number;
}

/**
 * What stands for one word of a request: the first is the word itself, with what finding it would be worth where the catalogue
 * has not got it; after it the like of it, the weightiest first.
 */
export type TermGroup = readonly ExpandedTerm[];

/** The words that a catalogue has, as an `InvertedIndex` tells them. */
type Words = Pick<InvertedIndex, 'count' | 'listNear' | 'listBeginning'> & {
  /** Number of live listings. */
  readonly size: number;
};

/** Most words of a request, and words that stand for one of them, that are looked for. */
const WORDS_MAX = 64;
const TERMS_MAX = 96;
const STAND_INS_MAX = 12;

/**
 * In a request of more telling words than this, a word that no listing has is not taken for a misspelling, a beginning or
 * two words in one: in whole sentences it is mostly just another word.
 */
const MENDED_MAX = 6;

/** What a word that only stands for another counts, beside that word itself. */
const FACTORS = { joined: 0.9, part: 0.7, near: 0.8, beginning: 0.8, everyday: 0.5, related: 0.35 };

/** What a stand-in counts at most, beside a word that the catalogue has itself. */
const STAND_IN_MOST = 0.8;

/** Letters of the last word of a request from which on it may be one that is still being typed. */
const BEGINNING_MIN = 3;

/** A request, worked out against the words that a catalogue has. */
export interface ExpandedRequest {
  /** With these, what a document is worth depends on nothing but the document: that keeps pages stable. */
  readonly groups: readonly TermGroup[];
  /** Its words that nothing stands for, without those that read like filters. */
  readonly unmatched: readonly string[];
  /** What it is about, in any words; the same for every catalogue. Empty where that is not known. */
  readonly vector: Float64Array;
}

/** Works a request out: which words of the catalogue stand for its words, and what each is worth. */
export function expandRequest(request: string, words: Words): ExpandedRequest {
  const { asked: all, stems } = readRequest(request);
  const asked = all.slice(0, WORDS_MAX);
  const phrases = listPhrases(stems.slice(0, 2 * WORDS_MAX));
  const groups: TermGroup[] = [];
  const unmatched: string[] = [];
  for (const [at, word] of asked.entries()) {
    const context = {
      ...{ before: asked[at - 1]?.word, after: asked[at + 1]?.word },
      standIns: [...listStandIns(word.stem), ...(phrases.get(word.stem) ?? [])],
      isMended: asked.length <= MENDED_MAX,
    };
    const found = listGroups(word, context, words);
    const isUnknown = !found.flat().some(({ stem }) => words.count(stem) > 0);
    // A word that reads like a filter asks for nothing that a listing would have to say.
    if (isUnknown && word.isLesser) continue;
    if (isUnknown) unmatched.push(word.word);
    groups.push(...found);
  }
  // Every word itself comes before what may stand for one.
  let left = TERMS_MAX - groups.length;
  const cut = groups.map((group) => {
    const terms = group.slice(0, 1 + Math.min(Math.max(0, left), STAND_INS_MAX));
    left -= terms.length - 1;
    return terms;
  });
  return { groups: cut, unmatched, vector: getVector(asked.map(({ stem, weight }) => [stem, weight])) };
}

/** The words beside a word of a request, and the stems that stand for it and for the phrases it is part of. */
interface Context {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly standIns: readonly StandIn[];
  /** Whether a word that no listing has may be a misspelling, the beginning of another, or two in one. */
  readonly isMended: boolean;
}

/** Lists what stands for a word: one group, or two for a word written together from two. */
function listGroups({ word, stem, weight }: AskedWord, context: Context, words: Words): TermGroup[] {
  const { before, after, standIns, isMended } = context;
  const group = openGroup(stem, weight * getRarityInEnglish(stem), words);
  if (before !== undefined) group.add(getStem(before + word), FACTORS.joined);
  if (after !== undefined) group.add(getStem(word + after), FACTORS.joined);
  for (const other of standIns) group.add(other.stem, FACTORS[other.kind]);
  // An English word is what was meant, though no listing has it: a dentist is no pentest.
  const isWhole = words.count(stem) > 0 || standIns.length > 0 || isEnglish(stem);
  if (isWhole || !isMended) return [group.end()];

  const parts = findParts(word, words);
  if (parts) return parts.map((part) => [group.weighPart(part)]);
  const isLast = after === undefined && word.length >= BEGINNING_MIN;
  const beginning = isLast ? words.listBeginning(word) : [];
  const mended = beginning.length > 0 ? beginning : words.listNear(stem);
  for (const other of mended) group.add(other, beginning.length > 0 ? FACTORS.beginning : FACTORS.near);
  // What mends a word answers it.
  return [group.end(mended.length > 0)];
}

/** Opens the group of a word, of which `factor` says how much it counts whatever stands for it. */
function openGroup(stem: string, factor: number, words: Words) {
  const weigh = (other: string) => factor * getRarity(words.count(other), words.size);
  const own = weigh(stem);
  // What stands for a word is never worth as much as the word itself.
  const most = words.count(stem) > 0 ? own * STAND_IN_MOST : own;
  const weights = new Map<string, number>();
  const round = (term: string, weight: number): ExpandedTerm => ({ stem: term, weight: roundWeight(weight) });
  return {
    /** Adds a stem that stands for this one by some share, if a listing has it. */
    add(other: string, share: number): void {
      if (other === stem || words.count(other) === 0) return;
      weights.set(other, Math.max(weights.get(other) ?? 0, Math.min(share * weigh(other), most)));
    },
    weighPart: (part: string) => round(part, FACTORS.part * weigh(part)),
    /** Returns the group. Where others answer the word as well, it counts as much as the best of them. */
    end(isAnswered = false): TermGroup {
      const others = Array.from(weights, ([other, weight]) => round(other, weight));
      const whole = isAnswered ? Math.max(0, ...weights.values()) : own;
      return [round(stem, whole), ...others.sort((a, b) => b.weight - a.weight || (a.stem < b.stem ? -1 : 1))];
    },
  };
}

/** Gives how rare a word is, by the number of listings that have it (inverse document frequency as in BM25). */
export function getRarity(count: number, size: number): number {
  // What changed lately may be counted twice.
  const all = Math.max(size, count);
  return Math.max(LEAST_RARITY, Math.log(1 + (all - count + 0.5) / (count + 0.5)));
}

/** A word that all listings have says next to nothing; it is found all the same. */
const LEAST_RARITY = 0.1;

/** Gives how rare a stem is in English, from 0.1 for the most frequent to 1. */
function getRarityInEnglish(stem: string): number {
  const { size, findRank } = getWordVectors();
  const rank = findRank(stem) ?? size;
  return Math.sqrt(0.01 + 0.99 * (Math.log(1 + rank / FREQUENT) / Math.log(1 + size / FREQUENT)));
}

/** About how many of the most frequent English words say nothing. */
const FREQUENT = 20;

function isEnglish(stem: string): boolean {
  return getWordVectors().findRank(stem) !== undefined;
}

/** The largest weight, so that each is short where it travels in a cursor. */
const WEIGHT_MAX = 12;

/** Rounds a weight to hundredths, for the same reason. */
function roundWeight(weight: number): number {
  return Math.max(1, Math.round(100 * Math.min(weight, WEIGHT_MAX))) / 100;
}

/** Finds two words of the catalogue that an unknown one is written together from (webscraping). */
function findParts(word: string, words: Words): [string, string] | undefined {
  for (let at = word.length - 3; at >= 3; at -= 1) {
    const [first, second] = [getStem(word.slice(0, at)), getStem(word.slice(at))];
    if (words.count(first) > 0 && words.count(second) > 0) return [first, second];
  }
  return undefined;
}

/** Lists by stem what stands for the phrases that the stem is part of in a request. */
function listPhrases(stems: readonly string[]): Map<string, StandIn[]> {
  const found = new Map<string, StandIn[]>();
  for (let start = 0; start < stems.length; start += 1) {
    for (const length of [2, 3]) {
      const phrase = stems.slice(start, start + length);
      const standIns = phrase.length < length ? [] : listStandIns(phrase.join('_'));
      for (const stem of standIns.length > 0 ? phrase : []) found.set(stem, [...(found.get(stem) ?? []), ...standIns]);
    }
  }
  return found;
}
