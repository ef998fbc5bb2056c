import type { Catalogue } from '../catalogue/database.ts';
import { readSearchNews } from '../catalogue/search.ts';
import { buildPlan } from '../search/plan.ts';
import { buildPostings, type Postings } from '../search/postings.ts';
import { createScoring, type Score } from '../search/ranking.ts';
import { createWords, type Words } from '../search/vocabulary.ts';
import type { Snapshot } from './snapshot.ts';

/** The words of the live listings in memory, as of one snapshot. */
export interface WordIndex {
  /** Works a request out against the words there are. */
  buildPlan(request: string): ReturnType<typeof buildPlan>;
  readonly score: Score;
  /** Lists the numbers under which the listings of a chunk are scored; `NO_NUMBER` for one that has none. */
  listNumbers(chunk: Snapshot['chunks'][number]): Uint32Array;
  /** Gives the number under which one listing is scored; `NO_NUMBER` for one that has none. */
  getNumber(slug: string): number;
}

/** Of a listing that the index does not have: higher than any there is. */
const NO_NUMBER = 0xffff_ffff;

interface KeptIndex extends WordIndex {
  readonly words: Words;
  readonly postings: Postings;
  readonly numbers: Map<string, number>;
  readonly known: { revision: number; seq: number; word: number };
}

const indexOf = new WeakMap<Catalogue, KeptIndex>();

/**
 * Gives the word index of a catalogue, read when something is first searched for. When the snapshot is another than the
 * index was last used with, what changed in between is read.
 */
export function getWordIndex(catalogue: Catalogue, { revision }: Pick<Snapshot, 'revision'>): WordIndex {
  const kept = indexOf.get(catalogue) ?? openWordIndex(catalogue);
  indexOf.set(catalogue, kept);
  if (kept.known.revision !== revision) update(catalogue, kept, revision);
  return kept;
}

function openWordIndex(catalogue: Catalogue): KeptIndex {
  const words = createWords();
  const numbers = new Map<string, number>();
  const news = readSearchNews(catalogue, { seq: 0, word: 0 });
  words.add(news.words);
  for (const { slug, listing } of news.entries) numbers.set(slug, listing);
  const postings = buildPostings(news.entries);
  const numbersOf = new WeakMap<Snapshot['chunks'][number], Uint32Array>();
  const vocabulary = {
    find: (stem: string) => {
      const number = words.find(stem);
      return number !== undefined && postings.count(number) > 0 ? number : undefined;
    },
    count: postings.count,
    getSize: postings.getSize,
    listNear: (stem: string) => words.listNear(stem, postings.count),
    listBeginning: (start: string) => words.listBeginning(start, postings.count),
  };
  return {
    words,
    postings,
    numbers,
    known: { revision: -1, seq: news.seq, word: news.words.at(-1)?.number ?? 0 },
    buildPlan: (request) => buildPlan(request, vocabulary),
    score: createScoring(postings),
    getNumber: (slug) => numbers.get(slug) ?? NO_NUMBER,
    listNumbers: (chunk) => {
      let listed = numbersOf.get(chunk);
      if (!listed) {
        listed = Uint32Array.from(chunk.entries, ({ slug }) => numbers.get(slug) ?? NO_NUMBER);
        // One without a number may get it from a repair, which changes no chunk.
        if (!listed.includes(NO_NUMBER)) numbersOf.set(chunk, listed);
      }
      return listed;
    },
  };
}

function update(catalogue: Catalogue, { words, postings, numbers, known }: KeptIndex, revision: number): void {
  const news = readSearchNews(catalogue, known);
  words.add(news.words);
  for (const { slug, listing } of news.entries) numbers.set(slug, listing);
  if (news.entries.length > 0) postings.put(news.entries);
  known.revision = revision;
  known.seq = news.seq;
  known.word = news.words.at(-1)?.number ?? known.word;
}
