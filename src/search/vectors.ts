import { readWordFile } from './word-files.ts';
import { getStem, listWords } from './words.ts';

/** Numbers in one vector. */
export const DIMENSIONS = 100;

/** Value of 1 in a file. Most numbers of a vector of length 1 are below a half; the few above are cut. */
const ONE = 254;

/** English words as vectors. Words that are used alike have similar directions. */
export interface WordVectors {
  /** Number of stems. */
  readonly size: number;
  /** Finds the rank of a stem by frequency in English, from 0; undefined for a rare or unknown one. */
  findRank(stem: string): number | undefined;
  /** The vectors in the order of rank. */
  readonly all: Int8Array;
}

let vectors: WordVectors | undefined;

/** Returns the vectors of English words, which are read when first needed; see `data/words/README.md`. */
export function getWordVectors(): WordVectors {
  vectors ??= parseVectorFile(readWordFile('vectors.bin'));
  return vectors;
}

function parseVectorFile(bytes: Buffer): WordVectors {
  const end = bytes.indexOf('\n');
  const stems = bytes.toString('latin1', 0, end).split(' ');
  const ranks = new Map(stems.map((stem, rank) => [stem, rank]));
  const all = new Int8Array(bytes.buffer, bytes.byteOffset + end + 1, stems.length * DIMENSIONS);
  return { size: stems.length, findRank: (stem) => ranks.get(stem), all };
}

/**
 * Frequency of a word that counts half as much as a rare one. The more frequent a word is, the less it says (Arora et al., "A
 * simple but tough-to-beat baseline for sentence embeddings", 2017).
 */
const HALF_FREQUENCY = 1e-3;

/** The sum of 1/rank over the words of English: by Zipf's law a word has 1/(rank times this) of a text. */
const HARMONIC_SUM = 13.5;

/** Returns the vector of words, given as stems and weights, of length 1; empty if no word is known. */
export function getVector(words: Iterable<readonly [stem: string, weight: number]>): Float64Array {
  const { findRank, all } = getWordVectors();
  const sum = new Float64Array(DIMENSIONS);
  for (const [stem, weight] of words) {
    const rank = findRank(stem);
    if (rank === undefined) continue;
    const frequency = 1 / ((rank + 5) * HARMONIC_SUM);
    const factor = (weight * HALF_FREQUENCY) / (HALF_FREQUENCY + frequency);
    for (let at = 0; at < DIMENSIONS; at += 1) {
      sum[at] = (sum[at] as number) + factor * (all[rank * DIMENSIONS + at] as number);
    }
  }
  const length = Math.hypot(...sum);
  return length === 0 ? new Float64Array(0) : sum.map((number) => number / length);
}

/** Returns the vector of a text as it is stored. */
export function encodeVector(vector: Float64Array): Int8Array {
  return Int8Array.from(vector, (number) => Math.max(-127, Math.min(127, Math.round(number * ONE))));
}

/** Lists the stems of a text with a weight, for `getVector`; a repeated stem is listed again. */
export function* weighText(text: string, weight: number): Generator<[stem: string, weight: number]> {
  for (const word of listWords(text)) yield [getStem(word), weight];
}

/** Returns the likeness of a vector of length 1 and a stored one, from about -1 to 1; 0 if either is unknown. */
export function getLikeness(vector: Float64Array, stored: Int8Array, from: number): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += (vector[at] as number) * (stored[from + at] as number);
  return sum / ONE;
}
