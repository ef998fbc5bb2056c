/**
 * Words of the live listings, found when a listing is written, for the index that the serving process keeps in memory. Each
 * word has a number. An entry lists the numbers of a listing's words, and gets a higher `seq` with every change. Entries of
 * an older catalogue are made when it is opened.
 */
export const sql = `
DROP TABLE listing_search;

CREATE TABLE search_words (
  number INTEGER PRIMARY KEY,
  word TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE search_entries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  listing INTEGER NOT NULL UNIQUE REFERENCES listings (number) ON DELETE CASCADE,
  terms BLOB NOT NULL
) STRICT;
`;
