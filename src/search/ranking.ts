import { getRarity, type TermGroup } from './expansion.ts';
import { type InvertedIndex, SHARE_BITS, SHARE_MAX } from './inverted-index.ts';
import { DIMENSIONS, getLikeness } from './vectors.ts';

/*
 * The ranking of listings. A word of a request adds its weight (`expansion.ts`: by its place in the request and its rarity) times
 * a document's share of it (`inverted-index.ts`). A listing has the score of its best document that passes the filters, so many
 * routes do not raise it. The likeness of its meaning to the request adds a little.
 */

/** Most that the likeness of word vectors adds to the score of a listing. */
export const LIKENESS_WEIGHT = 0.08;

/** See `getMatch`. */
const MATCH = { rareWords: 3, steepness: 1.32, likeness: 0.2, wellEnough: 0.8, nearlyAll: 3 };

/**
 * Least score of a listing that matches, as a share of the weight of the request's known words. It is small because whole
 * sentences have many words that no listing needs.
 */
const MATCH_SHARE = 0.01;

/** Scores of the listings and their routes for a request. */
export interface Scores {
  /** Number of listings by which the rarity of words was measured. */
  readonly size: number;
  /** Returns the score of a route without likeness: 0 to 1, or a little above. */
  getScore(listing: number, position: number): number;
  /** Returns true if a route of a listing matches; for position 0 of a listing without routes, if the listing does. */
  isMatching(listing: number, position: number): boolean;
  /** Finds the position of the best route of a listing that passes, the first of equal ones; undefined if none matches. */
  findBest(listing: number, isPassing: (position: number) => boolean): number | undefined;
  /**
   * Calls `visit` with the number of each listing that matches, and the position and score of its best route (0 without routes).
   */
  visit(visit: (listing: number, position: number, score: number) => void): void;
  /** Returns the likeness of the request and a listing, from 0 to 1, by the vectors of all listings. */
  getLikeness(vectors: Int8Array, listing: number): number;
  /** Returns the share of the request that a route answers, from 0 to 1, by its score and the likeness of its listing. */
  getMatch(score: number, likeness: number): number;
}

/** Share that a document's other terms for the same word add, beside the best one. */
const BESIDE_SHARE = 0.1;

/**
 * Creates the scoring of the documents of an index. Scores are valid only until the next request is scored, which reuses their
 * memory.
 */
export function createScoring(index: InvertedIndex) {
  /** By document: the sum over all words, the share of the word last added, and the number of that word. */
  let sums = new Float32Array(0);
  let ofWord = new Float32Array(0);
  let marks = new Uint8Array(0);
  /** By listing: the sum of its best document, and that document (the first of equal ones). */
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
  /** Adds the postings of one term; `mark` is the number of its word in the request, from 1 to 255. */
  const count = ({ stem, weight }: TermGroup[number], mark: number) => {
    const { postings, length } = index.find(stem) ?? { postings: NO_POSTINGS, length: 0 };
    const { listings } = index;
    for (let at = 0; at < length; at += 1) {
      const document = (postings[at] as number) >>> SHARE_BITS;
      const value = (weight * ((postings[at] as number) & SHARE_MAX)) / SHARE_MAX;
      const before = marks[document] === mark ? (ofWord[document] as number) : 0;
      const added = value > before ? value - before + BESIDE_SHARE * before : BESIDE_SHARE * value;
      sums[document] = (sums[document] as number) + added;
      // Read back, since storing it as a 32-bit float rounded it.
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

  /** `size` is the number of live listings by which the rarity of words is measured. */
  return (groups: readonly TermGroup[], vector: Float64Array, size: number): Scores => {
    clear();
    for (const [at, group] of groups.entries()) for (const term of group) count(term, at + 1);
    const measures = { vector, size, ...measureGroups(groups, index, size) };
    return buildScores(index, { sums, bestSums, bests }, measures);
  };
}

const NO_POSTINGS = new Uint32Array(0);

/** The sums of documents and listings for a request, see `createScoring`. */
interface Sums {
  readonly sums: Float32Array;
  readonly bestSums: Float32Array;
  readonly bests: Uint32Array;
}

/** Weights of a request that scores are measured by. */
interface Measures {
  readonly vector: Float64Array;
  readonly size: number;
  /** Weight of all its words together. */
  readonly whole: number;
  /** Least sum of a listing that matches. */
  readonly least: number;
  /** Sum that is enough for a whole sentence, see `getMatch`. */
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
      // Number 0 collects the removed documents.
      for (let listing = 1; listing < counts.length; listing += 1) {
        const sum = bestSums[listing] as number;
        if (sum >= least) visit(listing, (bests[listing] as number) - (firsts[listing] as number), sum / whole);
      }
    },
    getLikeness: (vectors, listing) => Math.max(0, getLikeness(vector, vectors, listing * DIMENSIONS)),
    /*
     * No route has all words of a sentence, and a single common word says little. So the sum is divided by the root of the
     * request's weight, up to that of some rare words, and each further word adds less (hyperbolic tangent). Likeness adds to it.
     * A route with nearly all of the words, and a good share of each, is an answer even if the words are common.
     */
    getMatch(score, likeness) {
      const value = score * whole;
      const part = Math.tanh(MATCH.steepness * (value / enough + MATCH.likeness * likeness));
      return part + (1 - part) * Math.min(1, value / (MATCH.wellEnough * whole)) ** MATCH.nearlyAll;
    },
  };
}
