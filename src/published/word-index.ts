import { buildPlan, type Planned, type Vocabulary } from '../search/plan.ts';
import { Postings } from '../search/postings.ts';
import { createScoring, type Score } from '../search/ranking.ts';
import { createWords, type Words } from '../search/vocabulary.ts';
import type { Published } from './file.ts';
import type { Snapshot } from './snapshot.ts';
import { readSearchNews } from './words.ts';

/** The words of the live listings in memory, as of one snapshot. */
export interface WordIndex {
  /** Works a request out against the words there are. */
  buildPlan(request: string): Planned;
  /** Scores listings by their row numbers, and their routes. */
  readonly score: Score;
}

interface KeptIndex extends WordIndex {
  readonly words: Words;
  readonly postings: Postings;
  readonly known: { snapshot: Snapshot; seq: number; word: number };
}

const indexOf = new WeakMap<Published['sqlite'], KeptIndex>();

/**
 * Gives the word index of a published catalogue, read when something is first searched for. When the snapshot is another than
 * the index was last used with, what changed in between is read, and everything where another file took the place of that one.
 */
export function getWordIndex(published: Published, snapshot: Snapshot): WordIndex {
  const before = indexOf.get(published.sqlite);
  if (before?.known.snapshot === snapshot) return before;
  const isLater = before && !before.postings.isWorn();
  const index = isLater ? before : openWordIndex(published, snapshot);
  if (isLater) update(published, index, snapshot);
  indexOf.set(published.sqlite, index);
  return index;
}

function openWordIndex(published: Published, snapshot: Snapshot): KeptIndex {
  const words = createWords();
  const news = readSearchNews(published, { seq: 0, word: 0 });
  words.add(news.words);
  const postings = new Postings(news.entries);
  const count = (word: number) => postings.count(word);
  const vocabulary: Vocabulary = {
    find: (stem) => {
      const number = words.find(stem);
      return number !== undefined && count(number) > 0 ? number : undefined;
    },
    count,
    getSize: () => postings.getSize(),
    listNear: (stem) => words.listNear(stem, count),
    listBeginning: (start) => words.listBeginning(start, count),
  };
  return {
    words,
    postings,
    known: { snapshot, seq: news.seq, word: news.words.at(-1)?.number ?? 0 },
    buildPlan: (request) => buildPlan(request, vocabulary),
    score: createScoring(postings),
  };
}

function update(published: Published, { words, postings, known }: KeptIndex, snapshot: Snapshot): void {
  const news = readSearchNews(published, known);
  words.add(news.words);
  if (news.entries.length > 0) postings.put(news.entries);
  known.snapshot = snapshot;
  known.seq = news.seq;
  known.word = news.words.at(-1)?.number ?? known.word;
}
