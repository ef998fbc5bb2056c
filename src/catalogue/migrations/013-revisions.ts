/**
 * Everything that readers see has a revision, including settled payments that change no listing. Such a revision has no
 * change in the log, so the time of each revision has a table of its own. Rounds are judged far more often than readers see
 * a change, so what readers see of a round (`shown_…`) is updated with the next revision.
 */
export const sql = `
CREATE TABLE revisions (
  revision INTEGER PRIMARY KEY,
  at TEXT NOT NULL
) STRICT;
INSERT INTO revisions SELECT revision, min(at) FROM changes GROUP BY revision;

ALTER TABLE payments ADD COLUMN revision INTEGER;
UPDATE payments SET revision = (SELECT revision FROM catalogue) WHERE "transaction" IS NOT NULL;
CREATE INDEX payments_by_revision ON payments (revision) WHERE revision IS NOT NULL;

ALTER TABLE rounds ADD COLUMN shown_hosts INTEGER;
ALTER TABLE rounds ADD COLUMN shown_failing INTEGER;
ALTER TABLE rounds ADD COLUMN shown_ours INTEGER;
ALTER TABLE rounds ADD COLUMN revision INTEGER;
ALTER TABLE rounds ADD COLUMN pending INTEGER NOT NULL DEFAULT 1;
UPDATE rounds SET shown_hosts = hosts, shown_failing = failing, shown_ours = ours, pending = 0,
  revision = (SELECT revision FROM catalogue);
CREATE INDEX rounds_pending ON rounds (round) WHERE pending = 1;
`;
