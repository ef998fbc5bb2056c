import type Sqlite from 'better-sqlite3';
import type { Listing } from '../model/listing.ts';
import { buildDocuments } from '../search/entry.ts';
import { getListingVector, listTerms } from '../search/terms.ts';

/** An open catalogue, or one whose opening has not finished. */
interface Database {
  readonly sqlite: Sqlite.Database;
  readonly statements: Map<string, Sqlite.Statement>;
}

/** The entry of a listing in the search index. */
interface StoredEntry {
  readonly documents: Buffer;
  readonly vector: Buffer;
}

/** Puts the words of a listing into the search index, in place of the earlier ones. A listing that is not live has none. */
export function indexListing(database: Database, listing: Listing): void {
  const { documents, vector } = listing.state === 'live' ? buildEntry(database, listing) : NOTHING;
  const number = prepare(database, 'SELECT number FROM listings WHERE id = ?').pluck().get(listing.id);
  const before = prepare(database, 'SELECT documents, vector FROM search_entries WHERE listing = ?').get(number) as
    | StoredEntry
    | undefined;
  if (before ? documents.equals(before.documents) && vector.equals(before.vector) : documents.length === 0) return;
  // Not updated but replaced, because readers recognise a new entry by its new `seq`.
  prepare(database, 'REPLACE INTO search_entries (listing, documents, vector) VALUES (?, ?, ?)').run(
    number,
    documents,
    vector,
  );
}

/** Adds all live listings without an entry to the search index, for example after a migration that empties it. */
export function indexMissing(database: Database): void {
  const missing = database.sqlite.prepare<[], string>(
    "SELECT document FROM listings WHERE state = 'live' AND number NOT IN (SELECT listing FROM search_entries)",
  );
  for (const document of missing.pluck().all()) {
    if (document !== '{}') indexListing(database, JSON.parse(document));
  }
}

const NOTHING: StoredEntry = { documents: Buffer.alloc(0), vector: Buffer.alloc(0) };

/** Builds the entry of a listing: numbers of 32 bits, little-endian. New words get a number. */
function buildEntry(database: Database, listing: Listing): StoredEntry {
  const find = prepare(database, 'SELECT number FROM search_words WHERE word = ?').pluck();
  const add = prepare(database, 'INSERT INTO search_words (word) VALUES (?)');
  const coded = buildDocuments(listTerms(listing), (word) => Number(find.get(word) ?? add.run(word).lastInsertRowid));
  const bytes = Buffer.alloc(coded.length * 4);
  for (const [at, term] of coded.entries()) bytes.writeUInt32LE(term, at * 4);
  return { documents: bytes, vector: Buffer.from(getListingVector(listing)) };
}

function prepare({ sqlite, statements }: Database, sql: string) {
  const statement = statements.get(sql) ?? sqlite.prepare(sql);
  statements.set(sql, statement);
  return statement;
}
