import { LENGTH_MAX } from './entry.ts';
import { MASK } from './packed.ts';
import { getRarity, type Plan, UNKNOWN_WORD } from './plan.ts';
import type { DocumentFacts, Postings } from './postings.ts';
import { LISTING_FIELDS, type ListingField, ROUTE_FIELDS, type RouteField } from './terms.ts';
import { DIMENSIONS, getLikeness } from './vectors.ts';

/**
 * How listings and routes are ranked. A word of a request is worth its weight (`plan.ts`: how it is said, how rare it is) times how
 * well a text has it, by BM25F: the weights of the fields it is in are added, less in long texts, and the sum saturates. A
 * listing is worth what its own texts have of each word, and what its best route adds to that. Its other routes add nothing,
 * so that many do not lift it. The best route is the one that has most of the request by itself, whatever its listing says.
 * That a listing is about the like of the request adds a little.
 */
const FIELD_WEIGHTS: {
  readonly listing: Readonly<Record<ListingField, number>>;
  readonly route: Readonly<Record<RouteField, number>>;
} = {
  listing: { name: 2.8, tagline: 1, description: 1.1, again: 0.5, provider: 0.5, category: 0.5 },
  route: { path: 2, description: 1.5, again: 0.5, inputs: 0.5, outputs: 0.6 },
};

/** Saturation (k1 of BM25): the more a text says a word, the less once more adds. */
const SATURATION = 1;

/** How much the length of a text takes from its words (b of BM25), and how many words take nothing. */
const LENGTH_SHARE = 0.75;
const USUAL_LENGTH = { listing: 30, route: 25 };

/** The share of the usual length that shorter texts count as: two words that say little are not the better for it. */
const SHORTEST_SHARE = 0.6;

/** Of the worth of a route among those of other listings, what its listing is worth. */
const LISTING_SHARE = 0.1;

/** What a listing gains that is about just what is asked, by the likeness of word vectors. */
export const LIKENESS_WEIGHT = 0.08;

/**
 * How much of a request a route answers, from 0 to 1. No route has all words of a whole sentence, and a single common word says
 * little: so what is found counts by the root of what the request weighs, up to as much as this many rare words, and more of it
 * brings less (hyperbolic tangent). That a listing is about the like counts, too. Where nearly all of the words are
 * found, well enough, that is an answer, however little they say.
 */
const MATCH = { rareWords: 3, steepness: 1.34, likeness: 0.2, wellEnough: 0.8, nearlyAll: 3 };

/** The share of what is known of a request that a listing must be worth to match at all. Whole sentences say much besides. */
const MATCH_SHARE = 0.01;

/** What a listing is worth by its best route. */
export interface Worth {
  readonly listing: number;
  /** Position of the route; -1 where the listing has none. */
  readonly position: number;
  /** At most a little above 1. */
  score: number;
  /** How much of the request it answers, from 0 to 1: known once its likeness is added. */
  match: number;
}

/** What the listings are worth by a plan. Good until the next request is scored. */
export interface Scores {
  /** Calls `visit` with each listing that has anything of the request, in the order of their numbers, in which they lie in memory. */
  visitListings(visit: (listing: number) => void): void;
  /**
   * Finds the best route of a listing among those that pass, and what the listing is worth by it, its likeness left out:
   * undefined where it does not match. The object is the same each time.
   */
  weigh(listing: number, isPassing?: (position: number) => boolean): Worth | undefined;
  /** Says whether a listing is found by one of its routes; with -1, whether it is found without any. */
  isAnswering(listing: number, position: number): boolean;
  /** Gives what a listing with one of its routes is worth by the words of the plan, in their weights. */
  getWordWorth(listing: number, position: number): number;
  /** Adds what a listing is worth for being about the like of the request: `LIKENESS_WEIGHT` at most. */
  addLikeness(worth: Worth): void;
  /** Gives the most that the match of a listing can be with its likeness, which is not added yet. */
  getMostMatch(worth: Worth): number;
  /** Gives what one route is worth among all routes, where its listing is worth `score`. */
  weighRoute(listing: number, position: number, score: number): number;
}

/** Scores a plan; `vector` is that of the request, empty where there is none. */
export type Score = (plan: Plan, vector: Float64Array) => Scores;

/** Makes the scoring of listings and routes. */
export function createScoring(postings: Postings): Score {
  const ofListings = buildFieldScoring(LISTING_FIELDS, FIELD_WEIGHTS.listing, USUAL_LENGTH.listing);
  const ofRoutes = buildFieldScoring(ROUTE_FIELDS, FIELD_WEIGHTS.route, USUAL_LENGTH.route);
  const listings = new Tally();
  /** What a route adds to its listing, and what it has by itself: by both together the best route is chosen. */
  const [added, said] = [new Tally(), new Tally()];
  const best = new BestRoutes();

  return (plan, vector) => {
    const facts = postings.getFacts();
    for (const tally of [added, said]) tally.clear(facts.routes);
    for (const kept of [listings, best]) kept.clear(facts.listings);
    for (const group of plan) {
      for (const tally of [listings, added, said]) tally.startWord();
      for (const { word, weight } of group) {
        postings.visitListings(word, (listing, mask) => {
          listings.offer(listing, weight * ofListings.getShare(mask, facts.listingLengths[listing] as number));
        });
      }
      for (const { word, weight } of group) {
        postings.visitRoutes(word, (route, mask) => {
          const listing = facts.listingOfRoute[route] as number;
          const share = ofRoutes.getShare(mask, facts.routeLengths[route] as number);
          said.offer(route, share * weight);
          added.offer(route, share * Math.max(0, weight - listings.getOfWord(listing)));
          best.offer(listing, route, said.get(route) + added.get(route));
        });
      }
    }
    return buildScores({ plan, vector, facts, listings, added, said, best, size: postings.getSize() });
  };
}

/** What all words of a request came to. */
interface Scored {
  readonly plan: Plan;
  readonly vector: Float64Array;
  readonly facts: DocumentFacts;
  readonly listings: Tally;
  readonly added: Tally;
  readonly said: Tally;
  readonly best: BestRoutes;
  /** How many listings there are. */
  readonly size: number;
}

function buildScores({ plan, vector, facts, listings, added, said, best, size }: Scored): Scores {
  const sum = (groups: Plan) => groups.reduce((all, [first]) => all + (first?.weight ?? 0), 0);
  const whole = sum(plan);
  const known = sum(plan.filter((group) => group.some(({ word }) => word !== UNKNOWN_WORD)));
  const least = Math.max(known * MATCH_SHARE, Number.MIN_VALUE);
  const rare = getRarity(0, size);
  const enough = Math.sqrt(Math.min(whole, MATCH.rareWords * rare) * rare);
  const getMatch = (value: number, likeness: number) => {
    const part = Math.tanh(MATCH.steepness * (value / enough + MATCH.likeness * likeness));
    return part + (1 - part) * Math.min(1, value / (MATCH.wellEnough * whole)) ** MATCH.nearlyAll;
  };
  const weighed = { listing: 0, position: -1, score: 0, match: 0 };
  const getRoute = (listing: number, position: number) => (facts.firstRoutes[listing] as number) + position;
  const getValue = (listing: number, position: number) =>
    listings.get(listing) + (position < 0 ? 0 : added.get(getRoute(listing, position)));
  /** Finds the position of the best route that passes: the first of those that are even; -1 where none passes. */
  const findPosition = (listing: number, isPassing: (position: number) => boolean) => {
    let [found, most] = [-1, -1];
    for (let position = 0; position < (facts.routeCounts[listing] as number); position += 1) {
      const route = getRoute(listing, position);
      const value = said.get(route) + added.get(route);
      if (value > most && isPassing(position)) [found, most] = [position, value];
    }
    return found;
  };
  return {
    visitListings(visit) {
      for (let listing = 0; listing < facts.listings; listing += 1) {
        if (listings.get(listing) + best.get(listing) > 0) visit(listing);
      }
    },
    weigh(listing, isPassing) {
      if (listings.get(listing) + best.get(listing) === 0) return undefined;
      const hasRoutes = facts.routeCounts[listing] !== 0;
      let position = hasRoutes ? best.getRoute(listing, getRoute(listing, 0)) - getRoute(listing, 0) : -1;
      if (isPassing !== undefined && hasRoutes) {
        position = findPosition(listing, isPassing);
        if (position < 0) return undefined;
      }
      const value = getValue(listing, position);
      if (value < least) return undefined;
      weighed.listing = listing;
      weighed.position = position;
      weighed.score = value / whole;
      weighed.match = 0;
      return weighed;
    },
    isAnswering: (listing, position) => getValue(listing, position) >= least,
    getWordWorth: getValue,
    getMostMatch: (worth) => getMatch(worth.score * whole, 1),
    addLikeness(worth) {
      const likeness = Math.max(0, getLikeness(vector, facts.vectors, worth.listing * DIMENSIONS));
      worth.match = getMatch(worth.score * whole, likeness);
      worth.score += LIKENESS_WEIGHT * likeness;
    },
    weighRoute(listing, position, score) {
      const itself = (getValue(listing, position) + said.get(getRoute(listing, position))) / 2 / whole;
      return (1 - LISTING_SHARE) * itself + LISTING_SHARE * score;
    },
  };
}

/** What documents have of the words so far. Of all that stands for one word, the best counts. */
class Tally {
  #sums = new Float32Array(0);
  /** Of the word at hand what a document has, where the mark is that of the word. */
  #ofWord = new Float32Array(0);
  #marks = new Uint8Array(0);
  #mark = 0;

  clear(length: number): void {
    if (this.#sums.length < length) {
      this.#sums = new Float32Array(length);
      this.#ofWord = new Float32Array(length);
      this.#marks = new Uint8Array(length);
    } else {
      this.#sums.fill(0, 0, length);
      this.#marks.fill(0, 0, length);
    }
    this.#mark = 0;
  }

  startWord(): void {
    this.#mark += 1;
  }

  /** Counts what a document has of the word at hand, unless it has more already; says whether it counted. */
  offer(document: number, value: number): boolean {
    const before = this.getOfWord(document);
    if (value <= before) return false;
    this.#sums[document] = (this.#sums[document] as number) + value - before;
    this.#ofWord[document] = value;
    this.#marks[document] = this.#mark;
    return true;
  }

  getOfWord(document: number): number {
    return this.#marks[document] === this.#mark ? (this.#ofWord[document] as number) : 0;
  }

  get(document: number): number {
    return this.#sums[document] ?? 0;
  }
}

/** Of each listing the route that has most of the words so far. */
class BestRoutes {
  #values = new Float32Array(0);
  #routes = new Uint32Array(0);

  clear(length: number): void {
    if (this.#values.length < length) {
      this.#values = new Float32Array(length);
      this.#routes = new Uint32Array(length);
    } else {
      this.#values.fill(0, 0, length);
    }
  }

  /** Takes a route that is worth more than the best so far, or as much and comes before it. */
  offer(listing: number, route: number, value: number): void {
    const most = this.#values[listing] as number;
    if (value < most || (value === most && route > (this.#routes[listing] as number))) return;
    this.#values[listing] = value;
    this.#routes[listing] = route;
  }

  /** What the best route is worth; 0 where no route has a word. */
  get(listing: number): number {
    return this.#values[listing] ?? 0;
  }

  /** The best route, or `first` where no route has a word. */
  getRoute(listing: number, first: number): number {
    return this.get(listing) > 0 ? (this.#routes[listing] as number) : first;
  }
}

/** How well texts have a word, by the fields it is in and the length of the text. */
function buildFieldScoring<Field extends string>(
  fields: readonly Field[],
  weights: Readonly<Record<Field, number>>,
  usualLength: number,
) {
  const ofMasks = buildWeights(fields, weights);
  const ofLengths = buildNorms(usualLength);
  return {
    /** Gives a share of 1 that rises with the weight of the fields in a mask. */
    getShare(mask: number, length: number): number {
      const sum = (ofMasks[mask] as number) * (ofLengths[length] as number);
      return sum / (sum + SATURATION);
    },
  };
}

/** Adds up the weights of fields for each mask of them. */
function buildWeights<Field extends string>(
  fields: readonly Field[],
  weights: Readonly<Record<Field, number>>,
): Float64Array {
  return Float64Array.from({ length: MASK + 1 }, (_, mask) =>
    fields.reduce((sum, field, bit) => ((mask & (1 << bit)) === 0 ? sum : sum + weights[field]), 0),
  );
}

/** Works out by what words of a text of each length are multiplied. */
function buildNorms(usual: number): Float64Array {
  return Float64Array.from(
    { length: LENGTH_MAX + 1 },
    (_, length) => 1 / (1 - LENGTH_SHARE + LENGTH_SHARE * Math.max(SHORTEST_SHARE, length / usual)),
  );
}
