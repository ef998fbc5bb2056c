/** Samples, what probing needs to know of hosts and listings, and observed terms as a history of periods. */
export const sql = `
CREATE TABLE terms_by_period (
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
  current INTEGER NOT NULL CHECK (current IN (0, 1))
) STRICT;
INSERT INTO terms_by_period SELECT * FROM terms;
DROP TABLE terms;
ALTER TABLE terms_by_period RENAME TO terms;
CREATE UNIQUE INDEX declared_terms ON terms (route_id, source, terms_key) WHERE evidence = 'declared';
CREATE UNIQUE INDEX observed_terms ON terms (route_id, source, terms_key) WHERE evidence = 'observed' AND current = 1;
CREATE INDEX terms_by_route ON terms (route_id);

ALTER TABLE routes ADD COLUMN payee TEXT CHECK (payee IN ('fixed', 'rotating'));
ALTER TABLE routes ADD COLUMN probed_at TEXT;

CREATE TABLE samples (
  id INTEGER PRIMARY KEY,
  listing_id TEXT NOT NULL REFERENCES listings (id) ON DELETE CASCADE,
  route_id TEXT NOT NULL REFERENCES routes (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  round INTEGER NOT NULL,
  at TEXT NOT NULL,
  outcome TEXT NOT NULL,
  cause TEXT,
  status INTEGER,
  document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;
CREATE INDEX samples_by_listing ON samples (listing_id, at, route_id, outcome, cause, status, round);
CREATE INDEX samples_by_route ON samples (route_id, at);
CREATE INDEX samples_by_round ON samples (round, host, outcome, listing_id);

CREATE TABLE rounds (
  round INTEGER PRIMARY KEY,
  hosts INTEGER NOT NULL,
  failing INTEGER NOT NULL,
  ours INTEGER NOT NULL CHECK (ours IN (0, 1))
) STRICT;

CREATE INDEX rounds_ours ON rounds (round) WHERE ours = 1;

CREATE TABLE probe_targets (
  listing_id TEXT PRIMARY KEY REFERENCES listings (id) ON DELETE CASCADE,
  due_at TEXT NOT NULL,
  sampled_round INTEGER NOT NULL,
  unpublished INTEGER NOT NULL CHECK (unpublished IN (0, 1))
) STRICT;
CREATE INDEX probe_targets_unpublished ON probe_targets (sampled_round) WHERE unpublished = 1;
CREATE INDEX probe_targets_by_due ON probe_targets (due_at);

CREATE TABLE hosts (
  host TEXT PRIMARY KEY,
  robots TEXT,
  robots_at TEXT,
  door_at TEXT,
  sibling_at TEXT,
  valid_at TEXT,
  wait_until TEXT
) STRICT;

CREATE TABLE probe_runs (
  id INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at TEXT
) STRICT;

UPDATE listings SET document = json_set(
  document,
  '$.reliability.days', json('[]'),
  '$.routes', json((SELECT json_group_array(json(json_set(value, '$.payee', NULL, '$.probe', NULL)))
                    FROM json_each(listings.document, '$.routes')))
) WHERE document != '{}';
`;
