import { endianness } from 'node:os';
import { MASK, MASK_BITS } from '../search/packed.ts';
import type { Catalogue } from './database.ts';

/** Lists what the index holds of each listing: by slug, its words with their masks of fields. */
export function listIndexed({ sqlite }: Catalogue): Map<string, Map<string, number>> {
  return sqlite.transaction(() => {
    const words = sqlite.prepare<[], { number: number; word: string }>('SELECT number, word FROM search_words').all();
    const byNumber = new Map(words.map(({ number, word }) => [number, word]));
    const entries = sqlite.prepare<[], { slug: string; terms: Buffer }>(
      'SELECT slug, terms FROM search_entries JOIN listings ON listings.number = listing',
    );
    return new Map(
      entries
        .all()
        .map(({ slug, terms }) => [
          slug,
          new Map(Array.from(parseTerms(terms), (term) => [byNumber.get(term >>> MASK_BITS) ?? '', term & MASK])),
        ]),
    );
  })();
}

/** Reads terms as they are stored: 32 bits each, little-endian. */
function parseTerms(stored: Buffer): Uint32Array {
  const bytes = Buffer.from(stored);
  if (endianness() === 'BE') bytes.swap32();
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
