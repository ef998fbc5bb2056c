/**
 * What providers reply to cautions, by the listing's address: one that no source lists yet can have replies too. `route`
 * is empty where the reply is to that caution of the whole listing.
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
