import { LENGTH_MAX } from './entry.ts';
import { MASK } from './packed.ts';
import { getRarity, type Plan, UNKNOWN_WORD } from './plan.ts';
import type { Postings } from './postings.ts';
import { LISTING_FIELDS, type ListingField, ROUTE_FIELDS, type RouteField } from './terms.ts';
import { DIMENSIONS, getLikeness } from './vectors.ts';

/**
 * How listings and routes are ranked. A word of a request is worth its weight (`plan.ts`: how it is said, how rare it is) times how
 * well a route has it, by BM25F: the weights of the fields it is in are added, those of the route and those of its listing,
 * less in long texts, and the sum saturates. A route is worth the sum over the words of the request. A listing is
 * worth its best route, and in part what all its routes together have; that it is about the like of the request adds a little.
 */
const FIELD_WEIGHTS: {
  readonly listing: Readonly<Record<ListingField, number>>;
  readonly route: Readonly<Record<RouteField, number>>;
} = {
  listing: { name: 2, tagline: 1, description: 1.5, again: 0.5, provider: 0.5, category: 0.5 },
  route: { path: 1.5, description: 1.25, again: 0.5, inputs: 0.5, outputs: 0.3 },
};

/** Saturation (k1 of BM25): the more a route says a word, the less once more adds. */
const SATURATION = 1;

/** How much the length of a text takes from its words (b of BM25), and how many words take nothing. */
const LENGTH_SHARE = 0.75;
const USUAL_LENGTH = { listing: 30, route: 25 };

/** The share of the usual length that shorter texts count as: two words that say little are not the better for it. */
const SHORTEST_SHARE = 0.6;

/** Of a listing's worth, what all its routes have together; the rest is its best route's. */
const TOGETHER_SHARE = 0.35;

/** Of the worth of a route among those of other listings, what its listing is worth. */
const LISTING_SHARE = 0.4;

/** What a listing gains that is about just what is asked, by the likeness of word vectors. */
export const LIKENESS_WEIGHT = 0.08;

/**
 * How much of a request a route answers. No route has all words of a whole sentence: one that has as much of it as these
 * many rare words weigh, well enough, answers it. That it is about the like counts for it.
 */
const MATCH = { rareWords: 3, wellEnough: 0.7, likeness: 0.4 };

/** The share of what is known of a request that a listing must be worth to match at all. Whole sentences say much besides. */
const MATCH_SHARE = 0.01;

/** What a listing is worth by its best route. */
export interface Worth {
  readonly listing: number;
  /** Position of the route; -1 where the listing has none. */
  readonly position: number;
  /** At most a little above 1. */
  score: number;
  /** How much of the request it answers, from 0 to 1. */
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
  /** Adds what a listing is worth for being about the like of the request: `LIKENESS_WEIGHT` at most. */
  addLikeness(worth: Worth): void;
  /** Gives what one route of a listing is worth among all routes, where the listing itself is worth `score`. */
  weighRoute(listing: number, position: number, score: number): number;
}

/** Scores a plan; `vector` is that of the request, empty where there is none. */
export type Score = (plan: Plan, vector: Float64Array) => Scores;

/** Makes the scoring of listings and routes. */
export function createScoring(postings: Postings): Score {
  const listingWeights = buildWeights(LISTING_FIELDS, FIELD_WEIGHTS.listing);
  const routeWeights = buildWeights(ROUTE_FIELDS, FIELD_WEIGHTS.route);
  const listingNorms = buildNorms(USUAL_LENGTH.listing);
  const routeNorms = buildNorms(USUAL_LENGTH.route);
  let ofListings = makeListingScores(0);
  let ofRoutes = makeRouteScores(0);
  const weighed = { listing: 0, position: -1, score: 0, match: 0 };

  return (plan, vector) => {
    const facts = postings.getFacts();
    if (ofListings.own.length < facts.listings) ofListings = makeListingScores(facts.listings);
    else for (const array of Object.values(ofListings)) array.fill(0, 0, facts.listings);
    if (ofRoutes.extra.length < facts.routes) ofRoutes = makeRouteScores(facts.routes);
    else for (const array of Object.values(ofRoutes)) array.fill(0, 0, facts.routes);
    const { own, together, marks, gains, sums, best, ownMarks, mostExtra, bestRoutes } = ofListings;
    const { extra, routeMarks, routeGains } = ofRoutes;
    const { listingLengths, routeLengths, listingOfRoute } = facts;

    let [whole, known] = [0, 0];
    for (const [index, group] of plan.entries()) {
      const mark = index + 1;
      const most = group[0]?.weight ?? 0;
      whole += most;
      if (group.some(({ word }) => word !== UNKNOWN_WORD)) known += most;
      // First what listings have themselves: routes are worth what they add to that.
      for (const [at, { word, weight }] of group.entries()) {
        postings.visitListings(word, (listing, mask) => {
          const sum = (listingWeights[mask] as number) * (listingNorms[listingLengths[listing] as number] as number);
          const gain = (weight * sum) / (sum + SATURATION);
          if (ownMarks[listing] !== mark) {
            ownMarks[listing] = mark;
            own[listing] = (own[listing] as number) + gain;
            gains[listing] = gain;
            sums[listing] = at === 0 ? sum : 0;
          } else if (gain > (gains[listing] as number)) {
            own[listing] = (own[listing] as number) + gain - (gains[listing] as number);
            gains[listing] = gain;
          }
        });
      }
      for (const [at, { word, weight }] of group.entries()) {
        postings.visitRoutes(word, (route, mask) => {
          const listing = listingOfRoute[route] as number;
          const isOwn = ownMarks[listing] === mark;
          const sum =
            (routeWeights[mask] as number) * (routeNorms[routeLengths[route] as number] as number) +
            (at === 0 && isOwn ? (sums[listing] as number) : 0);
          const gain = (weight * sum) / (sum + SATURATION) - (isOwn ? (gains[listing] as number) : 0);
          const known = routeMarks[route] === mark ? (routeGains[route] as number) : 0;
          if (gain > known) {
            extra[route] = (extra[route] as number) + gain - known;
            routeMarks[route] = mark;
            routeGains[route] = gain;
            const [value, most] = [extra[route] as number, mostExtra[listing] as number];
            if (value > most || (value === most && route < (bestRoutes[listing] as number))) {
              mostExtra[listing] = value;
              bestRoutes[listing] = route;
            }
          }
          // Of the routes of a listing together, the one that has the word best.
          const before = marks[listing] === mark ? (best[listing] as number) : 0;
          if (gain <= before) return;
          marks[listing] = mark;
          best[listing] = gain;
          together[listing] = (together[listing] as number) + gain - before;
        });
      }
    }

    const least = Math.max(known * MATCH_SHARE, Number.MIN_VALUE);
    const enough = MATCH.wellEnough * Math.min(whole, MATCH.rareWords * getRarity(0, postings.getSize()));
    return {
      visitListings(visit) {
        for (let listing = 0; listing < facts.listings; listing += 1) {
          if ((own[listing] as number) + (together[listing] as number) > 0) visit(listing);
        }
      },
      weigh(listing, isPassing) {
        const itself = own[listing] ?? 0;
        const ofAll = together[listing] ?? 0;
        if (itself + ofAll === 0) return undefined;
        const first = facts.firstRoutes[listing] as number;
        const count = facts.routeCounts[listing] as number;
        let [route, most] = [first, mostExtra[listing] as number];
        if (most > 0) route = bestRoutes[listing] as number;
        if (isPassing !== undefined && count > 0) {
          most = -1;
          for (let at = 0; at < count; at += 1) {
            const value = extra[first + at] as number;
            if (value > most && isPassing(at)) [route, most] = [first + at, value];
          }
          if (most < 0) return undefined;
        }
        if (itself + most < least) return undefined;
        weighed.listing = listing;
        weighed.position = count === 0 ? -1 : route - first;
        weighed.score = (itself + (1 - TOGETHER_SHARE) * most + TOGETHER_SHARE * ofAll) / whole;
        weighed.match = Math.min(1, (itself + most) / enough);
        return weighed;
      },
      isAnswering(listing, position) {
        const first = facts.firstRoutes[listing] as number;
        const most = (position < 0 ? mostExtra[listing] : extra[first + position]) as number;
        return (own[listing] ?? 0) + most >= least;
      },
      addLikeness(worth) {
        const likeness = Math.max(0, getLikeness(vector, facts.vectors, worth.listing * DIMENSIONS));
        worth.score += LIKENESS_WEIGHT * likeness;
        worth.match = Math.min(1, worth.match + MATCH.likeness * likeness);
      },
      weighRoute(listing, position, score) {
        const route = (facts.firstRoutes[listing] as number) + position;
        const itself = ((own[listing] as number) + (extra[route] as number)) / whole;
        return (1 - LISTING_SHARE) * itself + LISTING_SHARE * score;
      },
    };
  };
}

function makeListingScores(length: number) {
  return {
    /** What its own words are worth, and what its routes together add. */
    own: new Float32Array(length),
    together: new Float32Array(length),
    /** Of the word at hand: what it is worth, the weight of its fields, and the best of the routes. */
    gains: new Float32Array(length),
    sums: new Float32Array(length),
    best: new Float32Array(length),
    /** Of its routes the one that adds most, and how much. */
    mostExtra: new Float32Array(length),
    bestRoutes: new Uint32Array(length),
    /** For which word that was noted. */
    ownMarks: new Uint8Array(length),
    marks: new Uint8Array(length),
  };
}

function makeRouteScores(length: number) {
  return {
    /** What it adds to its listing. */
    extra: new Float32Array(length),
    /** Of the word at hand what it adds, and for which word that was noted. */
    routeGains: new Float32Array(length),
    routeMarks: new Uint8Array(length),
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
