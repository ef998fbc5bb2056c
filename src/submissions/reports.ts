import type Sqlite from 'better-sqlite3';

/** Time for which reports and the times of checks are kept, in milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Most reports, their bytes together, and most times of checks. */
const MAX_REPORTS = 5_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_CHECKS = 100_000;

export const REPORTS_SCHEMA = `
CREATE TABLE IF NOT EXISTS reports (
  id TEXT PRIMARY KEY, at INTEGER NOT NULL, origin TEXT NOT NULL, size INTEGER NOT NULL, document TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS reports_origin ON reports (origin, at);
CREATE TABLE IF NOT EXISTS checks (
  id INTEGER PRIMARY KEY, domain TEXT NOT NULL, at INTEGER NOT NULL, network TEXT NOT NULL, has_file INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS checks_domain ON checks (domain, at);`;

/** A check of a domain: its time in milliseconds since 1970, the hash of the network that asked, and whether it found the provider's file. */
export interface PastCheck {
  readonly at: number;
  readonly network: string;
  readonly has_file: number;
}

export type KeptReports = ReturnType<typeof openReports>;

/** Opens what outlives the process of the intake: the reports of a day, as JSON, and the times of its checks. Times are milliseconds. */
export function openReports(sqlite: Sqlite.Database) {
  const find = (rows: string, value: string) =>
    sqlite.prepare<[string], string>(`SELECT document FROM reports WHERE ${rows}`).pluck().get(value);
  return {
    keep(report: { id: string; at: number; origin: string; document: string }): void {
      const size = Buffer.byteLength(report.document);
      sqlite.prepare('INSERT INTO reports VALUES (@id, @at, @origin, @size, @document)').run({ ...report, size });
    },
    find: (id: string): string | undefined => find('id = ?', id),
    findLatest: (origin: string): string | undefined => find('origin = ? ORDER BY at DESC LIMIT 1', origin),
    /** Lists the checks of a domain in the day before `now`, the oldest first. */
    listChecks: (domain: string, now: number): PastCheck[] =>
      sqlite
        .prepare<[string, number], PastCheck>('SELECT * FROM checks WHERE domain = ? AND at > ? ORDER BY at')
        .all(domain, now - KEPT_MS),
    addCheck: (domain: string, at: number, network: string): void =>
      void sqlite.prepare('INSERT INTO checks (domain, at, network) VALUES (?, ?, ?)').run(domain, at, network),
    /** Says of the latest check of a domain that it found the provider's file. */
    noteFile: (domain: string): void =>
      void sqlite
        .prepare('UPDATE checks SET has_file = 1 WHERE id = (SELECT max(id) FROM checks WHERE domain = ?)')
        .run(domain),
    /** Drops what is older than a day, and of more than may be kept the oldest. */
    prune: sqlite.transaction((now: number): void => {
      sqlite.prepare('DELETE FROM reports WHERE at <= ?').run(now - KEPT_MS);
      sqlite.prepare('DELETE FROM checks WHERE at <= ?').run(now - KEPT_MS);
      const held = 'sum(size) OVER latest AS bytes, row_number() OVER latest AS number';
      const rows = `SELECT id, ${held} FROM reports WINDOW latest AS (ORDER BY at DESC, id)`;
      sqlite
        .prepare(`DELETE FROM reports WHERE id IN (SELECT id FROM (${rows}) WHERE bytes > ? OR number > ?)`)
        .run(MAX_BYTES, MAX_REPORTS);
      sqlite
        .prepare('DELETE FROM checks WHERE id IN (SELECT id FROM checks ORDER BY at DESC LIMIT -1 OFFSET ?)')
        .run(MAX_CHECKS);
    }),
  };
}
