import { listRelated } from './related-words.ts';
import { STOP_WORDS } from './stop-words.ts';
import { getStem, listWords } from './words.ts';

/** A word of the catalogue, by its number, that stands for a word of a request, and what finding it is worth. */
export interface PlanTerm {
  readonly word: number;
  readonly weight: number;
}

/**
 * What stands for one word of a request: itself or the like of it, the weightiest first. For a word that nothing stands for
 * it is `UNKNOWN_WORD` with the weight of a rare one: no listing answers that part of the request.
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

/** Longest request that is read, in UTF-16 units once it is written out. */
const TEXT_MAX = 2000;

/** Most words of a request, and words that stand for one of them, that are looked for. */
const WORDS_MAX = 64;
const TERMS_MAX = 96;
const STAND_INS_MAX = 12;

/**
 * In a request of more telling words than this, a word that no listing has is not taken for a misspelling, a beginning or
 * two words in one: in whole sentences it is mostly just another word, and each look through the vocabulary takes time.
 */
const MENDED_MAX = 6;

/** What a word that only stands for another counts, beside that word itself. */
const FACTORS = { joined: 0.9, part: 0.7, near: 0.8, beginning: 0.8, related: 0.45 };

/** What a stand-in counts at most, beside a word that the catalogue has itself. */
const STAND_IN_MOST = 0.8;

/** Letters of the last word of a request from which on it may be one that is still being typed. */
const BEGINNING_MIN = 3;

/** Weights are kept in steps, so that a plan is short where it travels in a cursor. */
export const WEIGHT_STEP = 0.25;
export const WEIGHT_STEPS = 35;

/** Makes the plan for a request, and lists its words that nothing stands for. */
export function buildPlan(request: string, vocabulary: Vocabulary): { plan: Plan; unmatched: string[] } {
  // Some characters stand for a whole phrase, so the text is cut once they are written out.
  const words = [...new Set(listWords(request.normalize('NFKC').slice(0, TEXT_MAX)))];
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const asked = (telling.length > 0 ? telling : words).slice(0, WORDS_MAX);
  const phrases = listPhrases(words.slice(0, 2 * WORDS_MAX));
  const groups: PlanGroup[] = [];
  const unmatched: string[] = [];
  for (const [at, word] of asked.entries()) {
    const context = {
      ...{ before: asked[at - 1], after: asked[at + 1], phrases: phrases.get(word) ?? [] },
      isMended: asked.length <= MENDED_MAX,
    };
    const found = listGroups(word, context, vocabulary).filter((group) => group.length > 0);
    if (found.length === 0) unmatched.push(word);
    groups.push(...(found.length > 0 ? found : [[getUnknown(vocabulary)]]));
  }
  // Every word itself comes before what may stand for one.
  let left = TERMS_MAX - groups.length;
  const plan = groups.map((group) => {
    const terms = group.slice(0, 1 + Math.min(Math.max(0, left), STAND_INS_MAX));
    left -= terms.length - 1;
    return terms;
  });
  return { plan, unmatched };
}

function getUnknown(vocabulary: Vocabulary): PlanTerm {
  return { word: UNKNOWN_WORD, weight: roundWeight(Math.log(1 + (vocabulary.getSize() + 0.5) / 0.5)) };
}

/** What a word of a request stands beside, and the stems that stand for the phrases it is part of. */
interface Context {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly phrases: readonly string[];
  /** Whether a word that no listing has may be a misspelling, the beginning of another, or two in one. */
  readonly isMended: boolean;
}

/** Lists what stands for a word: one group, none where nothing does, two for a word written together from two. */
function listGroups(word: string, context: Context, vocabulary: Vocabulary): PlanGroup[] {
  const stem = getStem(word);
  const known = vocabulary.find(stem);
  const related = listRelated(stem);
  const own = known === undefined ? undefined : roundWeight(getRarity(known, vocabulary));
  const weights = new Map<number, number>();
  if (known !== undefined && own !== undefined) weights.set(known, own);
  const consider = (number: number | undefined, factor: number) => {
    if (number === undefined) return;
    // What stands for a word is never worth as much as the word itself.
    const most = own === undefined ? Number.POSITIVE_INFINITY : own * STAND_IN_MOST;
    const weight = roundWeight(Math.min(factor * getRarity(number, vocabulary), most));
    if (weight > (weights.get(number) ?? 0)) weights.set(number, weight);
  };
  if (context.before !== undefined) consider(vocabulary.find(getStem(context.before + word)), FACTORS.joined);
  if (context.after !== undefined) consider(vocabulary.find(getStem(word + context.after)), FACTORS.joined);
  for (const other of [...related, ...context.phrases]) consider(vocabulary.find(other), FACTORS.related);
  if (known === undefined && related.length === 0) {
    const parts = context.isMended ? findParts(word, vocabulary) : undefined;
    if (parts) {
      return parts.map((part) => [{ word: part, weight: roundWeight(FACTORS.part * getRarity(part, vocabulary)) }]);
    }
    const isLast = context.after === undefined && word.length >= BEGINNING_MIN;
    const beginning = context.isMended && isLast ? vocabulary.listBeginning(word) : [];
    for (const number of beginning) consider(number, FACTORS.beginning);
    const near = context.isMended && beginning.length === 0 ? vocabulary.listNear(stem) : [];
    for (const number of near) consider(number, FACTORS.near);
  }
  const terms = Array.from(weights, ([number, weight]) => ({ word: number, weight }));
  return [terms.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight || a.word - b.word)];
}

/** Gives how rare a word is (inverse document frequency as in BM25), never 0 for a word that some listing has. */
function getRarity(word: number, vocabulary: Vocabulary): number {
  const count = vocabulary.count(word);
  const size = Math.max(vocabulary.getSize(), count);
  return Math.max(WEIGHT_STEP, Math.log(1 + (size - count + 0.5) / (count + 0.5)));
}

function roundWeight(weight: number): number {
  return Math.min(WEIGHT_STEPS, Math.round(weight / WEIGHT_STEP)) * WEIGHT_STEP;
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

/** Gives, for the words of a request that are part of a known phrase, the stems that stand for the phrase. */
function listPhrases(words: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (let start = 0; start < words.length; start += 1) {
    for (const length of [2, 3]) {
      const phrase = words.slice(start, start + length);
      if (phrase.length < length) continue;
      const related = listRelated(phrase.map(getStem).join('_'));
      for (const word of related.length > 0 ? phrase : []) found.set(word, [...(found.get(word) ?? []), ...related]);
    }
  }
  return found;
}
