import { MASK, MASK_BITS } from './packed.ts';
import { type Plan, UNKNOWN_WORD } from './plan.ts';
import { LENGTH_CLASSES, type Postings } from './postings.ts';
import { FIELDS, type Field } from './terms.ts';

/** What a word is worth by the field it is in; of several fields, their sum. */
const FIELD_WEIGHTS: Record<Field, number> = {
  name: 6,
  tagline: 6,
  description: 3,
  provider: 2,
  category: 2,
  paths: 3,
  routes: 3,
  inputs: 1,
};

/** Saturation, as in BM25: the more of its fields a word is in, the less another one adds. */
const SATURATION = 4;

/** What long texts take off a word of theirs: the more different words a listing has, the less one of them says. */
const LENGTH_PENALTY = 0.12;
/** Fields that say in a few words what the listing is; the length of the others does not take from them. */
const SHORT_FIELDS: readonly Field[] = ['name', 'tagline', 'provider', 'category'];

/**
 * The share of what is known of a request, by the weight of its words, that a listing must have to match at all. Whole
 * sentences say much besides.
 */
const MATCH_SHARE = 0.05;

/** What listings are worth by a plan, by their numbers. Good until the next call. */
export interface Scores {
  /** What a listing is worth: at most 1, and 0 where it does not match. */
  readonly scores: Float64Array;
  /** How much of the request it answers, by the weight of the words: from 0 to 1. */
  readonly matches: Float64Array;
}

export type Score = (plan: Plan) => Scores;

/** Makes the scoring of listings: for each word of a request the best of what stands for it, by field, added up. */
export function createScoring(postings: Postings): Score {
  const gains = buildGains();
  let scores = new Float64Array(0);
  let shares = new Float64Array(0);
  let best = new Float64Array(0);
  let marks = new Uint8Array(0);

  return (plan) => {
    const classes = postings.getLengthClasses();
    if (scores.length === classes.length) {
      for (const array of [scores, shares, marks]) array.fill(0);
    } else {
      scores = new Float64Array(classes.length);
      shares = new Float64Array(classes.length);
      best = new Float64Array(classes.length);
      marks = new Uint8Array(classes.length);
    }
    let [whole, known] = [0, 0];
    for (const [index, group] of plan.entries()) {
      const most = group[0]?.weight ?? 0;
      whole += most;
      if (group[0]?.word !== UNKNOWN_WORD) known += most;
      const mark = index + 1;
      for (const { word, weight } of group) {
        postings.visit(word, (listing, mask) => {
          const score = weight * (gains[((classes[listing] as number) << MASK_BITS) | mask] as number);
          if (marks[listing] !== mark) {
            // Terms come by weight, so the first that is found is the most the listing has of this word.
            marks[listing] = mark;
            best[listing] = score;
            shares[listing] = (shares[listing] as number) + weight;
            scores[listing] = (scores[listing] as number) + score;
          } else if (score > (best[listing] as number)) {
            scores[listing] = (scores[listing] as number) + score - (best[listing] as number);
            best[listing] = score;
          }
        });
      }
    }
    const least = Math.max(known * MATCH_SHARE, Number.MIN_VALUE);
    for (let listing = 0; listing < scores.length; listing += 1) {
      if ((shares[listing] as number) < least) scores[listing] = 0;
      else scores[listing] = (scores[listing] as number) / whole;
      shares[listing] = whole === 0 ? 0 : (shares[listing] as number) / whole;
    }
    return { scores, matches: shares };
  };
}

/** Works out what finding a word is worth, for each class of length and each mask of fields. */
function buildGains(): Float64Array {
  const gains = new Float64Array(LENGTH_CLASSES << MASK_BITS);
  for (let lengthClass = 0; lengthClass < LENGTH_CLASSES; lengthClass += 1) {
    const penalty = 1 / (1 + LENGTH_PENALTY * lengthClass);
    for (let mask = 0; mask <= MASK; mask += 1) {
      let sum = 0;
      for (const [bit, field] of FIELDS.entries()) {
        if ((mask & (1 << bit)) === 0) continue;
        sum += FIELD_WEIGHTS[field] * (SHORT_FIELDS.includes(field) ? 1 : penalty);
      }
      gains[(lengthClass << MASK_BITS) | mask] = sum / (sum + SATURATION);
    }
  }
  return gains;
}
