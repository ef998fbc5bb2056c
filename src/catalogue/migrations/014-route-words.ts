/**
 * The words of listings are kept by route, with a vector of what each listing is about. Entries are made again when the
 * catalogue is opened.
 */
export const sql = `
DROP TABLE search_entries;

CREATE TABLE search_entries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  listing INTEGER NOT NULL UNIQUE REFERENCES listings (number) ON DELETE CASCADE,
  documents BLOB NOT NULL,
  vector BLOB NOT NULL
) STRICT;
`;
