import { listStandIns, type StandIn } from './related-words.ts';
import { type AskedWord, readRequest } from './request.ts';
import { getVector, getWordVectors } from './vectors.ts';
import { getStem } from './words.ts';

/** A word of the catalogue, by its number, that stands for a word of a request, and what finding it is worth. */
export interface PlanTerm {
  readonly word: number;
  readonly weight: number;
}

/**
 * What stands for one word of a request: the first is the word itself, or `UNKNOWN_WORD` where the catalogue has not got it,
 * with what finding it would be worth; after it the like of it, the weightiest first.
 */
export type PlanGroup = readonly PlanTerm[];

/**
 * A request worked out against the words that a catalogue has. With a plan, what a listing is worth depends on nothing but
 * the listing: that is what keeps pages stable.
 */
export type Plan = readonly PlanGroup[];

/** The number of no word: those of a catalogue begin at 1. */
export const UNKNOWN_WORD = 0;

/** The words a catalogue has. */
export interface Vocabulary {
  /** Finds the number of a stem; undefined where no listing has it. */
  find(stem: string): number | undefined;
  /** Counts the listings that a word is in. */
  count(word: number): number;
  /** How many listings there are. */
  getSize(): number;
  /** Lists the words that a misspelled one may mean, the nearest and then most common first. */
  listNear(stem: string): readonly number[];
  /** Lists the words that begin so, the most common first. */
  listBeginning(start: string): readonly number[];
}

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

/** Weights are kept in steps, so that a plan is short where it travels in a cursor. */
export const WEIGHT_STEP = 0.01;
const WEIGHT_STEPS = 36 * 36 - 1;

/** A request, worked out. */
export interface Planned {
  readonly plan: Plan;
  /** Its words that nothing stands for, without those that read like filters. */
  readonly unmatched: readonly string[];
  /** What it is about, in any words; the same for every catalogue. */
  readonly vector: Float64Array;
}

/** Makes the plan for a request. */
export function buildPlan(request: string, vocabulary: Vocabulary): Planned {
  const { asked: all, stems } = readRequest(request);
  const asked = all.slice(0, WORDS_MAX);
  const phrases = listPhrases(stems.slice(0, 2 * WORDS_MAX));
  const groups: PlanGroup[] = [];
  const unmatched: string[] = [];
  for (const [at, word] of asked.entries()) {
    const context = {
      ...{ before: asked[at - 1]?.word, after: asked[at + 1]?.word },
      standIns: [...listStandIns(word.stem), ...(phrases.get(word.stem) ?? [])],
      isMended: asked.length <= MENDED_MAX,
    };
    const found = listGroups(word, context, vocabulary);
    const isUnknown = found.every((group) => group.every(({ word: number }) => number === UNKNOWN_WORD));
    // A word that reads like a filter asks for nothing that a listing would have to say.
    if (isUnknown && word.isLesser) continue;
    if (isUnknown) unmatched.push(word.word);
    groups.push(...found);
  }
  // Every word itself comes before what may stand for one.
  let left = TERMS_MAX - groups.length;
  const plan = groups.map((group) => {
    const terms = group.slice(0, 1 + Math.min(Math.max(0, left), STAND_INS_MAX));
    left -= terms.length - 1;
    return terms;
  });
  return { plan, unmatched, vector: getVector(asked.map(({ stem, weight }) => [stem, weight])) };
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
function listGroups({ word, stem, weight }: AskedWord, context: Context, vocabulary: Vocabulary): PlanGroup[] {
  const { before, after, standIns, isMended } = context;
  const group = openGroup(stem, weight * getRarityInEnglish(stem), vocabulary);
  if (before !== undefined) group.add(vocabulary.find(getStem(before + word)), FACTORS.joined);
  if (after !== undefined) group.add(vocabulary.find(getStem(word + after)), FACTORS.joined);
  for (const other of standIns) group.add(vocabulary.find(other.stem), FACTORS[other.kind]);
  // An English word is what was meant, though no listing has it: a dentist is no pentest.
  const isWhole = group.isKnown || standIns.length > 0 || isEnglish(stem);
  if (isWhole || !isMended) return [group.end()];

  const parts = findParts(word, vocabulary);
  if (parts) return parts.map((part) => [group.weighPart(part)]);
  const isLast = after === undefined && word.length >= BEGINNING_MIN;
  const beginning = isLast ? vocabulary.listBeginning(word) : [];
  const mended = beginning.length > 0 ? beginning : vocabulary.listNear(stem);
  for (const number of mended) group.add(number, beginning.length > 0 ? FACTORS.beginning : FACTORS.near);
  // What mends a word answers it.
  return [group.end(mended.length > 0)];
}

/** Opens the group of a word, of which `factor` says how much it counts whatever stands for it. */
function openGroup(stem: string, factor: number, vocabulary: Vocabulary) {
  const weigh = (number: number | undefined) =>
    factor * getRarity(number === undefined ? 0 : vocabulary.count(number), vocabulary.getSize());
  const known = vocabulary.find(stem);
  const own = weigh(known);
  // What stands for a word is never worth as much as the word itself.
  const most = known === undefined ? own : own * STAND_IN_MOST;
  const weights = new Map<number, number>();
  const round = (word: number, weight: number): PlanTerm => ({ word, weight: roundWeight(weight) });
  return {
    isKnown: known !== undefined,
    /** Adds a word of the catalogue, if it is one, that stands for this one by some share. */
    add(number: number | undefined, share: number): void {
      if (number === undefined || number === known) return;
      weights.set(number, Math.max(weights.get(number) ?? 0, Math.min(share * weigh(number), most)));
    },
    weighPart: (number: number) => round(number, FACTORS.part * weigh(number)),
    /** Returns the group. Where others answer the word as well, it counts as much as the best of them. */
    end(isAnswered = false): PlanGroup {
      const others = Array.from(weights, ([number, weight]) => round(number, weight));
      const whole = isAnswered ? Math.max(0, ...weights.values()) : own;
      return [round(known ?? UNKNOWN_WORD, whole), ...others.sort((a, b) => b.weight - a.weight || a.word - b.word)];
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

function roundWeight(weight: number): number {
  return Math.max(1, Math.min(WEIGHT_STEPS, Math.round(weight / WEIGHT_STEP))) * WEIGHT_STEP;
}

/** Finds two words of the catalogue that an unknown one is written together from (webscraping). */
function findParts(word: string, vocabulary: Vocabulary): [number, number] | undefined {
  for (let at = word.length - 3; at >= 3; at -= 1) {
    const first = vocabulary.find(getStem(word.slice(0, at)));
    const second = vocabulary.find(getStem(word.slice(at)));
    if (first !== undefined && second !== undefined) return [first, second];
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
