import { readWordFile } from './word-files.ts';
import { getStem, listWords } from './words.ts';

/** Numbers of one vector. */
export const DIMENSIONS = 100;

/** What 1 is in a file: numbers of a vector of length 1 are mostly below a half, and those few above are cut. */
const ONE = 254;

/** English words as vectors: those of words that are used alike point the same way. */
export interface WordVectors {
  /** How many stems there are. */
  readonly size: number;
  /** Finds the place of a stem in the order of frequency in English, from 0; undefined for a rare one or none. */
  findRank(stem: string): number | undefined;
  /** The vectors one after the other by rank. */
  readonly all: Int8Array;
}

/** Builds the bytes of a file: the stems by rank with a blank between, a line end, and their vectors. */
export function buildVectorFile(entries: readonly { stem: string; vector: Float64Array }[]): Buffer {
  const numbers = entries.flatMap(({ vector }) => Array.from(vector, (number) => clip(Math.round(number * ONE))));
  return Buffer.concat([
    Buffer.from(`${entries.map(({ stem }) => stem).join(' ')}\n`),
    Buffer.from(Int8Array.from(numbers).buffer),
  ]);
}

let vectors: WordVectors | undefined;

/** Gives the vectors of English words, read when first wanted; see `data/words/README.md`. */
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
 * Words say the less of a text, the more frequent they are: one of this frequency half of what a rare one does (Arora et al.,
 * "A simple but tough-to-beat baseline for sentence embeddings", 2017).
 */
const HALF_FREQUENCY = 1e-3;

/** The sum of 1/rank over the words of English: by Zipf's law a word has 1/(rank times this) of a text. */
const HARMONIC_SUM = 13.5;

/** Gives a vector for words by their stems and what each weighs, of length 1; empty where none is known. */
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

/** Gives the vector of a text in the form in which it is stored. */
export function encodeVector(vector: Float64Array): Int8Array {
  return Int8Array.from(vector, (number) => clip(Math.round(number * ONE)));
}

/** Lists the stems of a text, each as often as it is said, for `getVector`. */
export function* weighText(text: string, weight: number): Generator<[stem: string, weight: number]> {
  for (const word of listWords(text)) yield [getStem(word), weight];
}

/** Gives how alike a vector of length 1 and one that is stored are, from about -1 to 1; 0 where either is not known. */
export function getLikeness(vector: Float64Array, stored: Int8Array, from: number): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += (vector[at] as number) * (stored[from + at] as number);
  return sum / ONE;
}

function clip(number: number): number {
  return Math.max(-127, Math.min(127, number));
}
