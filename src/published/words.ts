import { endianness } from 'node:os';
import type { Entry } from '../search/entry.ts';
import type { Published } from './file.ts';

/** What the search index has that a reader does not know yet. */
export interface SearchNews {
  /** New words by their numbers. */
  readonly words: readonly { number: number; word: string }[];
  /** Entries that are new or changed. */
  readonly entries: readonly Entry[];
  /** Up to which entry a reader knows the index then. */
  readonly seq: number;
}

/** Reads what came to the search index after entry `seq` and word `word`; all of it from 0 on. Call it within a transaction. */
export function readSearchNews(published: Published, { seq, word }: { seq: number; word: number }): SearchNews {
  const words = published.prepare<{ number: number; word: string }>(
    'SELECT number, word FROM search_words WHERE number > ? ORDER BY number',
  );
  const rows = published.prepare<{ seq: number; listing: number; documents: Buffer; vector: Buffer }>(
    'SELECT seq, listing, documents, vector FROM search_entries WHERE seq > ? ORDER BY seq',
  );
  const length = published.prepare<{ length: number }>(
    'SELECT total(length(documents)) AS length FROM search_entries WHERE seq > ?',
  );
  const numbers = openNumbers(length.get(seq)?.length ?? 0);
  const entries: Entry[] = [];
  let latest = seq;
  for (const { listing, documents, vector, ...row } of rows.iterate(seq)) {
    entries.push({ listing, documents: numbers.add(documents), vector: new Int8Array(vector) });
    latest = row.seq;
  }
  return { words: words.all(word), entries, seq: latest };
}

/** Opens one array for numbers of `length` bytes: hundreds of thousands of small arrays would take several times as much. */
function openNumbers(length: number): { add(stored: Buffer): Uint32Array } {
  const all = new Uint32Array(length >>> 2);
  let at = 0;
  return {
    /** Reads numbers as they are stored: 32 bits each, little-endian. */
    add(stored) {
      const bytes = Buffer.from(all.buffer, at, stored.length);
      stored.copy(bytes);
      if (endianness() === 'BE') bytes.swap32();
      const numbers = all.subarray(at >>> 2, (at + stored.length) >>> 2);
      at += stored.length;
      return numbers;
    },
  };
}
