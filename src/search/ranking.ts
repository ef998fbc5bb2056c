import { LISTING_SCORING, ROUTE_SCORING } from './bm25f.ts';
import { getRarity, type Plan, type PlanGroup, UNKNOWN_WORD } from './plan.ts';
import type { DocumentFacts, Postings } from './postings.ts';
import { DIMENSIONS, getLikeness } from './vectors.ts';

/*
 * How listings and routes are ranked. A word of a request is worth its weight (`plan.ts`: how it is said, how rare it is) times how
 * well a text has it (`bm25f.ts`). A listing is worth what its own texts have of each word, and what its best route adds to that. Its
 * other routes add nothing, so that many do not lift it. The best route is the one that has most of the request by itself, whatever
 * its listing says. That a listing is about the like of the request adds a little.
 */

/** Of the worth of a route among those of other listings, what its listing is worth. */
const LISTING_SHARE = 0.1;

/** What a listing gains that is about just what is asked, by the likeness of word vectors. */
export const LIKENESS_WEIGHT = 0.08;

/** See `getMatch`. */
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

/**
 * Scores a plan. `vector` is that of the request, and may be empty. `size` is the number of listings by which matches are measured;
 * without it, the present number counts.
 */
export type Score = (plan: Plan, vector: Float64Array, size?: number) => Scores;

/** Makes the scoring of listings and routes. */
export function createScoring(postings: Postings): Score {
  const tallies = { listings: new Tally(), added: new Tally(), said: new Tally(), best: new BestRoutes() };
  return (plan, vector, size = postings.getSize()) => {
    const facts = postings.getFacts();
    for (const ofRoutes of [tallies.added, tallies.said]) ofRoutes.clear(facts.routes);
    for (const ofListings of [tallies.listings, tallies.best]) ofListings.clear(facts.listings);
    for (const group of plan) tallyWord(group, { postings, facts, tallies });
    return new Scores({ facts, tallies, vector, size, measures: measurePlan(plan, size) });
  };
}

/** Sums by listing and by route of what they have of a request. Kept from one request to the next, since they are large. */
interface Tallies {
  /** Of the own texts of listings. */
  readonly listings: Tally;
  /** Of routes: as much as each adds to its listing, and as much as it has by itself. By both together the best is chosen. */
  readonly added: Tally;
  readonly said: Tally;
  readonly best: BestRoutes;
}

/** Tallies one word of a request: first in the texts of listings, then in those of routes, which add to their listing. */
function tallyWord(
  group: PlanGroup,
  { postings, facts, tallies }: { postings: Postings; facts: DocumentFacts; tallies: Tallies },
): void {
  const { listings, added, said, best } = tallies;
  for (const tally of [listings, added, said]) tally.startWord();
  for (const { word, weight } of group) {
    postings.visitListings(word, (listing, mask) => {
      listings.offer(listing, weight * LISTING_SCORING.getShare(mask, facts.listingLengths[listing] as number));
    });
  }
  for (const { word, weight } of group) {
    postings.visitRoutes(word, (route, mask) => {
      const listing = facts.listingOfRoute[route] as number;
      const share = ROUTE_SCORING.getShare(mask, facts.routeLengths[route] as number);
      said.offer(route, share * weight);
      added.offer(route, share * Math.max(0, weight - listings.getOfWord(listing)));
      best.offer(listing, route, said.get(route) + added.get(route));
    });
  }
}

/** Weights of a request, against which results are measured. */
interface Measures {
  /** Worth of all its words together. */
  readonly whole: number;
  /** Least worth of a listing that matches at all. */
  readonly least: number;
  /** Worth that is enough of a whole sentence, see `getMatch`. */
  readonly enough: number;
}

function measurePlan(plan: Plan, size: number): Measures {
  const sum = (groups: Plan) => groups.reduce((all, [first]) => all + (first?.weight ?? 0), 0);
  const whole = sum(plan);
  const known = sum(plan.filter((group) => group.some(({ word }) => word !== UNKNOWN_WORD)));
  const rare = getRarity(0, size);
  return {
    whole,
    least: Math.max(known * MATCH_SHARE, Number.MIN_VALUE),
    enough: Math.sqrt(Math.min(whole, MATCH.rareWords * rare) * rare),
  };
}

/**
 * Returns how much of a request a route answers, from 0 to 1, by the share of its words (`score`). No route has all words of a whole
 * sentence, and a single common word says little: so what is found counts by the root of what the request weighs, up to as much as
 * some rare words, and more of it brings less (hyperbolic tangent). That a listing is about the like counts, too. Where nearly all
 * of the words are found, well enough, that is an answer, however little they say.
 */
function getMatch({ whole, enough }: Measures, score: number, likeness: number): number {
  const value = score * whole;
  const part = Math.tanh(MATCH.steepness * (value / enough + MATCH.likeness * likeness));
  return part + (1 - part) * Math.min(1, value / (MATCH.wellEnough * whole)) ** MATCH.nearlyAll;
}

/** The sums of all words of a request. */
interface Tallied {
  readonly facts: DocumentFacts;
  readonly tallies: Tallies;
  readonly measures: Measures;
  readonly vector: Float64Array;
  readonly size: number;
}

/** Scores of the listings by a plan. Good until the next request is scored. */
export class Scores {
  readonly #of: Tallied;
  readonly #weighed = { listing: 0, position: -1, score: 0, match: 0 };

  constructor(tallied: Tallied) {
    this.#of = tallied;
  }

  /** Number of listings by which matches are measured. */
  get size(): number {
    return this.#of.size;
  }

  /** Calls `visit` with each listing that has anything of the request, in the order of their numbers, in which they lie in memory. */
  visitListings(visit: (listing: number) => void): void {
    const { listings } = this.#of.facts;
    for (let listing = 0; listing < listings; listing += 1) if (this.#hasAny(listing)) visit(listing);
  }

  /**
   * Finds the best route of a listing among those that pass, and what the listing is worth by it, its likeness left out:
   * undefined where it does not match. The object is the same each time.
   */
  weigh(listing: number, isPassing?: (position: number) => boolean): Worth | undefined {
    if (!this.#hasAny(listing)) return undefined;
    const { facts, measures } = this.#of;
    const hasRoutes = facts.routeCounts[listing] !== 0;
    const position = hasRoutes ? this.#findPosition(listing, isPassing) : -1;
    if (hasRoutes && position < 0) return undefined;
    const value = this.#getValue(listing, position);
    if (value < measures.least) return undefined;
    const weighed = this.#weighed;
    weighed.listing = listing;
    weighed.position = position;
    weighed.score = value / measures.whole;
    weighed.match = 0;
    return weighed;
  }

  /** Says whether a listing is found by one of its routes; with -1, whether it is found without any. */
  isAnswering(listing: number, position: number): boolean {
    return this.#getValue(listing, position) >= this.#of.measures.least;
  }

  /** Adds what a listing is worth for being about the like of the request: `LIKENESS_WEIGHT` at most. */
  addLikeness(worth: Worth): void {
    const { facts, measures, vector } = this.#of;
    const likeness = Math.max(0, getLikeness(vector, facts.vectors, worth.listing * DIMENSIONS));
    worth.match = getMatch(measures, worth.score, likeness);
    worth.score += LIKENESS_WEIGHT * likeness;
  }

  /** Gives the most that the match of a listing can be with its likeness, which is not added yet. */
  getMostMatch(worth: Worth): number {
    return getMatch(this.#of.measures, worth.score, 1);
  }

  /** Gives what one route is worth among all routes, where its listing is worth `score`. */
  weighRoute(listing: number, position: number, score: number): number {
    const said = this.#of.tallies.said.get(this.#getRoute(listing, position));
    const itself = (this.#getValue(listing, position) + said) / 2 / this.#of.measures.whole;
    return (1 - LISTING_SHARE) * itself + LISTING_SHARE * score;
  }

  #hasAny(listing: number): boolean {
    const { listings, best } = this.#of.tallies;
    return listings.get(listing) + best.get(listing) > 0;
  }

  #getRoute(listing: number, position: number): number {
    return (this.#of.facts.firstRoutes[listing] as number) + position;
  }

  #getValue(listing: number, position: number): number {
    const { listings, added } = this.#of.tallies;
    return listings.get(listing) + (position < 0 ? 0 : added.get(this.#getRoute(listing, position)));
  }

  /** Finds the position of the best route that passes: the first of those that are even; -1 where none passes. */
  #findPosition(listing: number, isPassing: ((position: number) => boolean) | undefined): number {
    const { added, said, best } = this.#of.tallies;
    const first = this.#getRoute(listing, 0);
    if (isPassing === undefined) return best.getRoute(listing, first) - first;
    let [found, most] = [-1, -1];
    for (let position = 0; position < (this.#of.facts.routeCounts[listing] as number); position += 1) {
      const value = said.get(first + position) + added.get(first + position);
      if (value > most && isPassing(position)) [found, most] = [position, value];
    }
    return found;
  }
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

  /** Counts what a document has of the word at hand, unless it has more already. */
  offer(document: number, value: number): void {
    const before = this.getOfWord(document);
    if (value <= before) return;
    this.#sums[document] = (this.#sums[document] as number) + value - before;
    this.#ofWord[document] = value;
    this.#marks[document] = this.#mark;
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
