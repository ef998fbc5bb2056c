import { LENGTH_MAX } from './entry.ts';
import { MASK } from './packed.ts';
import { LISTING_FIELDS, ROUTE_FIELDS } from './terms.ts';

/** Saturation (k1 of BM25): the more a text says a word, the less once more adds. */
const SATURATION = 1;

/** Share of a text's length that counts against its words (b of BM25). */
const LENGTH_SHARE = 0.75;

/** The share of the usual length that shorter texts count as: two words that say little are not the better for it. */
const SHORTEST_SHARE = 0.6;

/** The own texts of listings. */
export const LISTING_SCORING = buildFieldScoring(
  LISTING_FIELDS,
  { name: 2.8, tagline: 1, description: 1.1, again: 0.5, provider: 0.5, category: 0.5 },
  30,
);

/** The texts of routes. */
export const ROUTE_SCORING = buildFieldScoring(
  ROUTE_FIELDS,
  { path: 2, description: 1.5, again: 0.5, inputs: 0.5, outputs: 0.6 },
  25,
);

function buildFieldScoring<Field extends string>(
  fields: readonly Field[],
  weights: Readonly<Record<Field, number>>,
  usualLength: number,
) {
  const add = (mask: number) =>
    fields.reduce((sum, field, bit) => ((mask & (1 << bit)) === 0 ? sum : sum + weights[field]), 0);
  const ofMasks = Float64Array.from({ length: MASK + 1 }, (_, mask) => add(mask));
  const ofLengths = Float64Array.from(
    { length: LENGTH_MAX + 1 },
    (_, length) => 1 / (1 - LENGTH_SHARE + LENGTH_SHARE * Math.max(SHORTEST_SHARE, length / usualLength)),
  );
  return {
    /** Returns a share of 1, which rises with the weight of the fields in a mask and falls with the length of the text. */
    getShare(mask: number, length: number): number {
      const sum = (ofMasks[mask] as number) * (ofLengths[length] as number);
      return sum / (sum + SATURATION);
    },
  };
}
