import { endianness } from 'node:os';
import type { Listing } from '../model/listing.ts';
import { buildDocuments, listDocuments } from '../search/entry.ts';
import { MASK, MASK_BITS } from '../search/packed.ts';
import { getListingVector, listTerms } from '../search/terms.ts';
import type { Published } from './file.ts';

/** The entry of a listing in the search index. */
interface StoredEntry {
  readonly documents: Buffer;
  readonly vector: Buffer;
}

const NOTHING: StoredEntry = { documents: Buffer.alloc(0), vector: Buffer.alloc(0) };

/**
 * Puts the words of a listing into the search index, in place of the earlier ones. A listing that is not live has none. Where
 * they are the same as before, nothing is written.
 */
export function indexListing(published: Published, number: number, listing: Listing | undefined): void {
  const { documents, vector } = listing?.state === 'live' ? buildEntry(published, listing) : NOTHING;
  const before = published
    .prepare<StoredEntry>('SELECT documents, vector FROM search_entries WHERE listing = ?')
    .get(number);
  if (before ? documents.equals(before.documents) && vector.equals(before.vector) : documents.length === 0) return;
  // Not updated but replaced, because readers recognise a new entry by its new `seq`.
  published
    .prepare(
      `REPLACE INTO search_entries (seq, listing, documents, vector)
       VALUES ((SELECT coalesce(max(seq), 0) + 1 FROM search_entries), ?, ?, ?)`,
    )
    .run(number, documents, vector);
}

/** Builds the entry of a listing: numbers of 32 bits, little-endian. New words get a number. */
function buildEntry(published: Published, listing: Listing): StoredEntry {
  const find = published.prepare<{ number: number }>('SELECT number FROM search_words WHERE word = ?');
  const add = published.prepare('INSERT INTO search_words (word) VALUES (?)');
  const coded = buildDocuments(listTerms(listing), (word) =>
    Number(find.get(word)?.number ?? add.run(word).lastInsertRowid),
  );
  const bytes = Buffer.alloc(coded.length * 4);
  for (const [at, term] of coded.entries()) bytes.writeUInt32LE(term, at * 4);
  return { documents: bytes, vector: Buffer.from(getListingVector(listing)) };
}

/** What the index holds of one listing: of the listing itself, and of each route. */
export interface IndexedListing {
  readonly listing: number;
  /** Words with the mask of fields of each, by word, and the length of the text. */
  readonly texts: readonly { terms: [word: string, fields: number][]; length: number }[];
  readonly vector: Buffer;
}

/** Goes through what the index holds of listings with words, by their numbers. Words have other numbers in every file. */
export function* iterateIndexed(published: Published): Generator<IndexedListing> {
  const words = published.prepare<{ number: number; word: string }>('SELECT number, word FROM search_words').all();
  const byNumber = new Map(words.map(({ number, word }) => [number, word]));
  const read = (terms: Uint32Array) =>
    Array.from(terms, (term): [string, number] => [byNumber.get(term >>> MASK_BITS) ?? '', term & MASK]).sort(
      ([a], [b]) => (a < b ? -1 : 1),
    );
  const entries = published.prepare<StoredEntry & { listing: number }>(
    'SELECT listing, documents, vector FROM search_entries WHERE length(documents) > 0 ORDER BY listing',
  );
  for (const { listing, documents, vector } of entries.iterate()) {
    const texts = listDocuments(parseNumbers(documents)).map(({ terms, length }) => ({ terms: read(terms), length }));
    yield { listing, texts, vector };
  }
}

/** Parses stored numbers: 32 bits each, little-endian. */
function parseNumbers(stored: Buffer): Uint32Array {
  const bytes = Buffer.from(stored.subarray(0, stored.length - (stored.length % 4)));
  if (endianness() === 'BE') bytes.swap32();
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
