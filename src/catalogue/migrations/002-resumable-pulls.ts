/**
 * A pull remembers how many items it brought and how it ended, so that one that was killed between its last page and its
 * listings goes on with those. Several different items under one key are all kept.
 */
export const sql = `
ALTER TABLE pulls ADD COLUMN items INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pulls ADD COLUMN ended TEXT CHECK (ended IN ('complete', 'incomplete'));

DROP TABLE feed_items;
CREATE TABLE feed_items (
  feed TEXT NOT NULL,
  item_key TEXT NOT NULL,
  item_hash TEXT NOT NULL,
  pull_id INTEGER NOT NULL REFERENCES pulls (id),
  raw TEXT NOT NULL,
  PRIMARY KEY (feed, item_key, item_hash)
) STRICT;
CREATE INDEX feed_items_by_pull ON feed_items (pull_id);
`;
