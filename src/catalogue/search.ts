import { endianness } from 'node:os';
import { listDocuments } from '../search/entry.ts';
import { MASK, MASK_BITS } from '../search/packed.ts';
import type { Catalogue } from './database.ts';

/** A listing or one of its routes in the index: its words with the mask of fields of each, and the length of its text. */
export interface IndexedText {
  readonly terms: Map<string, number>;
  readonly length: number;
}

/** Returns what the index holds of each listing, by slug: first the listing itself, then its routes. */
export function listIndexed({ sqlite }: Catalogue): Map<string, IndexedText[]> {
  return sqlite.transaction(() => {
    const words = sqlite.prepare<[], { number: number; word: string }>('SELECT number, word FROM search_words').all();
    const byNumber = new Map(words.map(({ number, word }) => [number, word]));
    const entries = sqlite.prepare<[], { slug: string; documents: Buffer }>(
      'SELECT slug, documents FROM search_entries JOIN listings ON listings.number = listing',
    );
    const read = (terms: Uint32Array) =>
      new Map(Array.from(terms, (term) => [byNumber.get(term >>> MASK_BITS) ?? '', term & MASK]));
    return new Map(
      entries
        .all()
        .map(({ slug, documents }) => [
          slug,
          listDocuments(parseNumbers(documents)).map(({ terms, length }) => ({ terms: read(terms), length })),
        ]),
    );
  })();
}

/** Parses stored numbers: 32 bits each, little-endian. */
function parseNumbers(stored: Buffer): Uint32Array {
  const bytes = Buffer.from(stored.subarray(0, stored.length - (stored.length % 4)));
  if (endianness() === 'BE') bytes.swap32();
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
