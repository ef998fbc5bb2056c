/** The catalogue, its evidence and its log. */
export const sql = `
CREATE TABLE catalogue (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  identity TEXT NOT NULL,
  revision INTEGER NOT NULL,
  revised_at TEXT NOT NULL
) STRICT;

CREATE TABLE listings (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  slug TEXT NOT NULL UNIQUE,
  base_url TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('live', 'held', 'delisted')),
  verified INTEGER NOT NULL CHECK (verified IN (0, 1)),
  revision INTEGER NOT NULL,
  document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
CREATE INDEX listings_by_revision ON listings (revision);

CREATE TABLE declarations (
  listing_id TEXT NOT NULL REFERENCES listings (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  source TEXT NOT NULL,
  withdrawn_at TEXT,
  document TEXT NOT NULL CHECK (json_valid(document)),
  PRIMARY KEY (listing_id, kind, source)
) STRICT;
CREATE INDEX declarations_by_source ON declarations (kind, source);

CREATE TABLE delistings (
  listing_id TEXT PRIMARY KEY REFERENCES listings (id) ON DELETE CASCADE,
  by TEXT NOT NULL CHECK (by IN ('operator', 'provider', 'rule')),
  reason TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;

CREATE TABLE routes (
  id TEXT PRIMARY KEY,
  listing_id TEXT NOT NULL REFERENCES listings (id) ON DELETE CASCADE,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (listing_id, method, path)
) STRICT;

CREATE TABLE terms (
  id INTEGER PRIMARY KEY,
  route_id TEXT NOT NULL REFERENCES routes (id) ON DELETE CASCADE,
  evidence TEXT NOT NULL CHECK (evidence IN ('declared', 'observed')),
  terms_key TEXT NOT NULL,
  network TEXT NOT NULL CHECK (network IN ('base', 'solana')),
  scheme TEXT NOT NULL,
  asset TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  pay_to TEXT,
  max_timeout_seconds INTEGER,
  x402_version INTEGER,
  source TEXT NOT NULL,
  first_seen_at TEXT,
  last_seen_at TEXT,
  current INTEGER NOT NULL CHECK (current IN (0, 1)),
  UNIQUE (route_id, evidence, source, terms_key)
) STRICT;

CREATE TABLE receipts (
  id TEXT PRIMARY KEY,
  route_id TEXT NOT NULL REFERENCES routes (id),
  network TEXT NOT NULL CHECK (network IN ('base', 'solana')),
  asset TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0),
  payer TEXT NOT NULL,
  pay_to TEXT NOT NULL,
  "transaction" TEXT NOT NULL,
  settled_at TEXT NOT NULL,
  settled INTEGER NOT NULL CHECK (settled IN (0, 1)),
  delivered INTEGER NOT NULL CHECK (delivered IN (0, 1)),
  conforming TEXT NOT NULL CHECK (conforming IN ('yes', 'no', 'undeclared'))
) STRICT;
CREATE INDEX receipts_by_route ON receipts (route_id);

CREATE TABLE changes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  revision INTEGER NOT NULL,
  at TEXT NOT NULL,
  listing_id TEXT NOT NULL REFERENCES listings (id),
  kind TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL CHECK (json_valid(detail))
) STRICT;
CREATE INDEX changes_by_revision ON changes (revision);
CREATE INDEX changes_by_listing ON changes (listing_id);

CREATE TABLE pulls (
  id INTEGER PRIMARY KEY,
  feed TEXT NOT NULL,
  started_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  completed_at TEXT,
  next_offset INTEGER NOT NULL,
  pages INTEGER NOT NULL,
  items INTEGER NOT NULL DEFAULT 0,
  ended TEXT CHECK (ended IN ('complete', 'incomplete'))
) STRICT;
CREATE INDEX pulls_by_feed ON pulls (feed);

CREATE TABLE feed_items (
  feed TEXT NOT NULL,
  item_key TEXT NOT NULL,
  item_hash TEXT NOT NULL,
  pull_id INTEGER NOT NULL REFERENCES pulls (id),
  raw TEXT NOT NULL,
  PRIMARY KEY (feed, item_key, item_hash)
) STRICT;
CREATE INDEX feed_items_by_pull ON feed_items (pull_id);

CREATE TABLE findings (
  source TEXT NOT NULL,
  item TEXT NOT NULL,
  code TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('refused', 'noted')),
  message TEXT NOT NULL,
  found_at TEXT NOT NULL,
  PRIMARY KEY (source, item, code, message)
) STRICT;

CREATE VIRTUAL TABLE listing_search USING fts5(
  listing_id UNINDEXED, title, tagline, description, provider, category, routes,
  tokenize = 'porter unicode61 remove_diacritics 2'
);
`;
