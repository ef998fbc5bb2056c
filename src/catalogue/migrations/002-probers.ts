import type { SchemaWords } from '../engines.ts';

/** Lists the statements that record the machine of each sample, and judge rounds separately for each machine. */
export function listStatements({ text, integer, strict }: SchemaWords): string[] {
  const flag = (column: string) => `${column} ${integer} NOT NULL CHECK (${column} IN (0, 1))`;
  const shown = 'shown_hosts, shown_failing, shown_ours, revision, pending';
  return [
    `ALTER TABLE samples ADD COLUMN prober ${text} NOT NULL DEFAULT ''`,
    'DROP INDEX samples_by_listing',
    'DROP INDEX samples_by_round',
    'CREATE INDEX samples_by_listing ON samples (listing_id, at, route_id, outcome, cause, status, round, prober, latency_ms)',
    'CREATE INDEX samples_by_round ON samples (round, prober, host, outcome, listing_id)',
    'ALTER TABLE rounds RENAME TO old_rounds',
    'DROP INDEX rounds_pending',
    'DROP INDEX rounds_ours',
    `CREATE TABLE rounds (
      round ${integer} NOT NULL,
      prober ${text} NOT NULL,
      hosts ${integer} NOT NULL,
      failing ${integer} NOT NULL,
      ${flag('ours')},
      shown_hosts ${integer},
      shown_failing ${integer},
      shown_ours ${integer},
      revision ${integer},
      ${flag('pending')},
      PRIMARY KEY (round, prober)
    ) ${strict}`,
    `INSERT INTO rounds (round, prober, hosts, failing, ours, ${shown})
      SELECT round, '', hosts, failing, ours, ${shown} FROM old_rounds`,
    'DROP TABLE old_rounds',
    'CREATE INDEX rounds_pending ON rounds (round) WHERE pending = 1',
  ];
}
