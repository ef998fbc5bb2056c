import { endianness } from 'node:os';
import { type Entry, MASK, MASK_BITS } from '../search/packed.ts';
import type { Catalogue } from './database.ts';

/** What the search index has that a reader does not know yet. */
export interface SearchNews {
  /** New words by their numbers. */
  readonly words: readonly { number: number; word: string }[];
  /** Entries that are new or changed, each with the slug of its listing. */
  readonly entries: readonly (Entry & { slug: string })[];
  /** Up to which entry a reader knows the index then. */
  readonly seq: number;
}

interface EntryRow {
  seq: number;
  listing: number;
  slug: string;
  terms: Buffer;
}

/** Reads what came to the search index after entry `seq` and word `word`, in one transaction; all of it from 0 on. */
export function readSearchNews({ sqlite }: Catalogue, { seq, word }: { seq: number; word: number }): SearchNews {
  return sqlite.transaction((): SearchNews => {
    const words = sqlite.prepare<[number], { number: number; word: string }>(
      'SELECT number, word FROM search_words WHERE number > ? ORDER BY number',
    );
    const rows = sqlite.prepare<[number], EntryRow>(
      'SELECT seq, listing, slug, terms FROM search_entries JOIN listings ON listings.number = listing WHERE seq > ? ORDER BY seq',
    );
    const length = sqlite.prepare<[number], number>('SELECT total(length(terms)) FROM search_entries WHERE seq > ?');
    const terms = openTerms(length.pluck().get(seq) ?? 0);
    const entries: (Entry & { slug: string })[] = [];
    let latest = seq;
    for (const row of rows.iterate(seq)) {
      entries.push({ listing: row.listing, slug: row.slug, terms: terms.add(row.terms) });
      latest = row.seq;
    }
    return { words: words.all(word), entries, seq: latest };
  })();
}

/** Lists what the index holds of each listing: by slug, its words with their masks of fields. */
export function listIndexed(catalogue: Catalogue): Map<string, Map<string, number>> {
  const { words, entries } = readSearchNews(catalogue, { seq: 0, word: 0 });
  const byNumber = new Map(words.map(({ number, word }) => [number, word]));
  return new Map(
    entries.map(({ slug, terms }) => [
      slug,
      new Map(Array.from(terms, (term) => [byNumber.get(term >>> MASK_BITS) ?? '', term & MASK])),
    ]),
  );
}

/** Opens room for terms of so many bytes in all: hundreds of thousands of small arrays would take several times as much. */
function openTerms(length: number): { add(stored: Buffer): Uint32Array } {
  const all = new Uint32Array(length >>> 2);
  let at = 0;
  return {
    /** Reads terms as they are stored: 32 bits each, little-endian. */
    add(stored) {
      const bytes = Buffer.from(all.buffer, at, stored.length);
      stored.copy(bytes);
      if (endianness() === 'BE') bytes.swap32();
      const terms = all.subarray(at >>> 2, (at + stored.length) >>> 2);
      at += stored.length;
      return terms;
    },
  };
}
