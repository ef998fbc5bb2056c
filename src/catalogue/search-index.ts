import type Sqlite from 'better-sqlite3';
import type { Listing } from '../model/listing.ts';
import { MASK_BITS } from '../search/packed.ts';
import { listTerms } from '../search/terms.ts';

/** An open catalogue, or one that is just being opened. */
interface Database {
  readonly sqlite: Sqlite.Database;
  readonly statements: Map<string, Sqlite.Statement>;
}

/** Puts a listing's words into the search index in place of what was there; one that is not live leaves it. */
export function indexListing(database: Database, listing: Listing): void {
  const terms = listing.state === 'live' ? encodeTerms(database, listTerms(listing)) : Buffer.alloc(0);
  const number = prepare(database, 'SELECT number FROM listings WHERE id = ?').pluck().get(listing.id);
  const before = prepare(database, 'SELECT terms FROM search_entries WHERE listing = ?').pluck().get(number);
  if (before === undefined ? terms.length === 0 : terms.equals(before as Buffer)) return;
  // Replaced rather than updated: the new row's `seq` is what tells readers that it is new.
  prepare(database, 'REPLACE INTO search_entries (listing, terms) VALUES (?, ?)').run(number, terms);
}

/** Puts the live listings into the search index that have no entry there, as after a migration that empties it. */
export function indexMissing(database: Database): void {
  const missing = database.sqlite.prepare<[], string>(
    "SELECT document FROM listings WHERE state = 'live' AND number NOT IN (SELECT listing FROM search_entries)",
  );
  for (const document of missing.pluck().all()) {
    if (document !== '{}') indexListing(database, JSON.parse(document));
  }
}

/** Writes terms as the reading side packs them: 32 bits each, little-endian, in the order of the words' numbers. */
function encodeTerms(database: Database, terms: Map<string, number>): Buffer {
  const find = prepare(database, 'SELECT number FROM search_words WHERE word = ?').pluck();
  const add = prepare(database, 'INSERT INTO search_words (word) VALUES (?)');
  const coded = Uint32Array.from(terms, ([word, mask]) => {
    const number = find.get(word) ?? add.run(word).lastInsertRowid;
    return (Number(number) << MASK_BITS) | mask;
  }).sort();
  const bytes = Buffer.alloc(coded.length * 4);
  for (const [at, term] of coded.entries()) bytes.writeUInt32LE(term, at * 4);
  return bytes;
}

function prepare({ sqlite, statements }: Database, sql: string) {
  const statement = statements.get(sql) ?? sqlite.prepare(sql);
  statements.set(sql, statement);
  return statement;
}
