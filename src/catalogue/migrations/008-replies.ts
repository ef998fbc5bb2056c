/**
 * Replies of providers to cautions, by address: one that no source declares yet can have replies too. `route` is empty for a
 * reply to the caution of the whole listing.
 */
export const sql = `
CREATE TABLE replies (
  base_url TEXT NOT NULL,
  caution TEXT NOT NULL,
  route TEXT NOT NULL,
  text TEXT NOT NULL,
  source TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (base_url, caution, route)
) STRICT;
CREATE INDEX replies_by_source ON replies (source);
`;
