import { getRarity, type TermGroup } from './expansion.ts';
import { type InvertedIndex, SHARE_BITS, SHARE_MAX } from './inverted-index.ts';
import { DIMENSIONS, getLikeness } from './vectors.ts';

/*
 * How listings are ranked. A word of a request is worth its weight (`expansion.ts`: how it is said, how rare it is) times how well a
 * document has it (`inverted-index.ts`). A listing is worth what the best of its documents is that passes the filters, so that many
 * routes do not lift it. That it is about the like of the request adds a little.
 */

/** What a listing gains that is about just what is asked, by the likeness of word vectors. */
export const LIKENESS_WEIGHT = 0.08;

/** See `getMatch`. */
const MATCH = { rareWords: 3, steepness: 1.32, likeness: 0.2, wellEnough: 0.8, nearlyAll: 3 };

/** The share of what is known of a request that a listing must be worth to match at all. Whole sentences say much besides. */
const MATCH_SHARE = 0.01;

/** Scores of the listings and their routes for a request. */
export interface Scores {
  /** Number of listings by which matches are measured. */
  readonly size: number;
  /** Returns what a route is worth, its likeness left out: at most a little above 1. */
  getScore(listing: number, position: number): number;
  /** Says whether a listing is found by one of its routes; with position 0 of a listing without routes, whether it is found. */
  isMatching(listing: number, position: number): boolean;
  /** Finds the position of the best route of a listing that passes, the first of those that are even; undefined where none matches. */
  findBest(listing: number, isPassing: (position: number) => boolean): number | undefined;
  /** Calls `visit` with the number of each listing that matches, and the position and score of its best route; 0 without routes. */
  visit(visit: (listing: number, position: number, score: number) => void): void;
  /** Returns how alike the request and a listing are, from 0 to 1, by the vectors of all listings. */
  getLikeness(vectors: Int8Array, listing: number): number;
  /** Returns how much of the request a route answers, from 0 to 1, by its score and the likeness of its listing. */
  getMatch(score: number, likeness: number): number;
}

/** Of all that stands for one word, the best counts, and of each other that a document has this share. */
const BESIDE_SHARE = 0.1;

/** Makes the scoring of the documents of an index. Scores are good until the next request is scored: their memory is used again. */
export function createScoring(index: InvertedIndex) {
  /** By document its sum of all words, and what it has of the word whose number is its mark. */
  let sums = new Float32Array(0);
  let ofWord = new Float32Array(0);
  let marks = new Uint8Array(0);
  /** By listing its best document, the first of those that are even, and the sum of that. */
  let bestSums = new Float32Array(0);
  let bests = new Uint32Array(0);

  const clear = () => {
    const { documents, counts } = index;
    if (sums.length < documents) {
      [sums, ofWord, marks] = [
        new Float32Array(2 * documents),
        new Float32Array(2 * documents),
        new Uint8Array(2 * documents),
      ];
    } else {
      sums.fill(0);
      marks.fill(0);
    }
    if (bests.length < counts.length)
      [bestSums, bests] = [new Float32Array(counts.length), new Uint32Array(counts.length)];
    else bestSums.fill(0);
  };
  /** Counts what documents have of one of those that stand for a word; `mark` is the number of the word, from 1 to 255. */
  const count = ({ stem, weight }: TermGroup[number], mark: number) => {
    const { postings, length } = index.find(stem) ?? { postings: NO_POSTINGS, length: 0 };
    const { listings } = index;
    for (let at = 0; at < length; at += 1) {
      const document = (postings[at] as number) >>> SHARE_BITS;
      const value = (weight * ((postings[at] as number) & SHARE_MAX)) / SHARE_MAX;
      const before = marks[document] === mark ? (ofWord[document] as number) : 0;
      const added = value > before ? value - before + BESIDE_SHARE * before : BESIDE_SHARE * value;
      sums[document] = (sums[document] as number) + added;
      // Read again, as it was rounded.
      const sum = sums[document] as number;
      ofWord[document] = Math.max(value, before);
      marks[document] = mark;
      const listing = listings[document] as number;
      const most = bestSums[listing] as number;
      if (sum < most || (sum === most && document > (bests[listing] as number))) continue;
      bestSums[listing] = sum;
      bests[listing] = document;
    }
  };

  /** `size` is the number of live listings by which rarity was measured. */
  return (groups: readonly TermGroup[], vector: Float64Array, size: number): Scores => {
    clear();
    for (const [at, group] of groups.entries()) for (const term of group) count(term, at + 1);
    const measures = { vector, size, ...measureGroups(groups, index, size) };
    return buildScores(index, { sums, bestSums, bests }, measures);
  };
}

const NO_POSTINGS = new Uint32Array(0);

/** What documents and listings have of a request, see `createScoring`. */
interface Sums {
  readonly sums: Float32Array;
  readonly bestSums: Float32Array;
  readonly bests: Uint32Array;
}

/** Weights of a request, against which results are measured. */
interface Measures {
  readonly vector: Float64Array;
  readonly size: number;
  /** Worth of all its words together. */
  readonly whole: number;
  /** Least worth of a listing that matches at all. */
  readonly least: number;
  /** Worth that is enough of a whole sentence, see `getMatch`. */
  readonly enough: number;
}

function measureGroups(groups: readonly TermGroup[], index: InvertedIndex, size: number) {
  const sum = (some: readonly TermGroup[]) => some.reduce((all, [first]) => all + (first?.weight ?? 0), 0);
  const whole = sum(groups);
  const known = sum(groups.filter((group) => group.some(({ stem }) => index.count(stem) > 0)));
  const rare = getRarity(0, size);
  return {
    whole,
    least: Math.max(known * MATCH_SHARE, Number.MIN_VALUE),
    enough: Math.sqrt(Math.min(whole, MATCH.rareWords * rare) * rare),
  };
}

function buildScores({ firsts, counts }: InvertedIndex, { sums, bestSums, bests }: Sums, measures: Measures): Scores {
  const { vector, size, whole, least, enough } = measures;
  const getSum = (listing: number, position: number) => sums[(firsts[listing] as number) + position] as number;
  return {
    size,
    getScore: (listing, position) => getSum(listing, position) / whole,
    isMatching: (listing, position) => getSum(listing, position) >= least,
    findBest(listing, isPassing) {
      const [first, count] = [firsts[listing] as number, counts[listing] as number];
      let [best, most] = [-1, 0];
      for (let position = 0; position < count; position += 1) {
        const sum = sums[first + position] as number;
        if (sum > most && isPassing(position)) [best, most] = [position, sum];
      }
      return most >= least ? best : undefined;
    },
    visit(visit) {
      // The place 0 is that of documents that are not there any more.
      for (let listing = 1; listing < counts.length; listing += 1) {
        const sum = bestSums[listing] as number;
        if (sum >= least) visit(listing, (bests[listing] as number) - (firsts[listing] as number), sum / whole);
      }
    },
    getLikeness: (vectors, listing) => Math.max(0, getLikeness(vector, vectors, listing * DIMENSIONS)),
    /*
     * No route has all words of a whole sentence, and a single common word says little: so what is found counts by the root of what
     * the request weighs, up to as much as some rare words, and more of it brings less (hyperbolic tangent). That a listing is about
     * the like counts, too. Where nearly all of the words are found, well enough, that is an answer, however little they say.
     */
    getMatch(score, likeness) {
      const value = score * whole;
      const part = Math.tanh(MATCH.steepness * (value / enough + MATCH.likeness * likeness));
      return part + (1 - part) * Math.min(1, value / (MATCH.wellEnough * whole)) ** MATCH.nearlyAll;
    },
  };
}
