import { MASK_BITS } from './packed.ts';
import type { TextTerms } from './terms.ts';

/** What one listing says, as it is stored: of itself and of each route a head and its terms, one after the other. */
export interface Entry {
  readonly listing: number;
  /** Empty for a listing that is not to be found. */
  readonly documents: Uint32Array;
  /** What the listing is about, as a vector of `DIMENSIONS`; empty where that is not known. */
  readonly vector: Int8Array;
}

/** The listing itself or one of its routes, as an entry holds it. */
export interface EntryDocument {
  /** How many words its text has, up to `LENGTH_MAX`. */
  readonly length: number;
  /** Word numbers shifted by `MASK_BITS`, with the masks of their fields, in their order. */
  readonly terms: Uint32Array;
}

/** Longer texts count as this long. */
export const LENGTH_MAX = 255;

/** Builds the documents of an entry. `number` gives the number of a stem. */
export function buildDocuments(texts: readonly TextTerms[], number: (stem: string) => number): Uint32Array {
  const documents = texts.map(({ terms, length }) => {
    const coded = Uint32Array.from(terms, ([stem, mask]) => (number(stem) << MASK_BITS) | mask).sort();
    return [(coded.length << MASK_BITS) | Math.min(length, LENGTH_MAX), ...coded];
  });
  return Uint32Array.from(documents.flat());
}

/** Goes through the documents of an entry: the listing itself, then its routes in their order. */
export function listDocuments(documents: Uint32Array): EntryDocument[] {
  const found: EntryDocument[] = [];
  for (let at = 0; at < documents.length; ) {
    const head = documents[at] as number;
    const end = at + 1 + (head >>> MASK_BITS);
    found.push({ length: head & LENGTH_MAX, terms: documents.subarray(at + 1, end) });
    at = end;
  }
  return found;
}
