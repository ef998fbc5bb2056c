import type Sqlite from 'better-sqlite3';
import { DAY_MS } from '../model/duration.ts';

/** Time for which reports and the times of checks are kept, in milliseconds. */
const KEPT_MS = DAY_MS;

/** Most reports, most bytes of all reports together, and most checks. */
const MAX_REPORTS = 5_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_CHECKS = 100_000;

export const REPORTS_SCHEMA = `
CREATE TABLE IF NOT EXISTS reports (
  id TEXT PRIMARY KEY, at INTEGER NOT NULL, origin TEXT NOT NULL, size INTEGER NOT NULL, document TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS reports_at ON reports (at);
CREATE INDEX IF NOT EXISTS reports_origin ON reports (origin, at);
CREATE TABLE IF NOT EXISTS checks (
  id INTEGER PRIMARY KEY, domain TEXT NOT NULL, at INTEGER NOT NULL, network TEXT NOT NULL, has_file INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS checks_at ON checks (at);
CREATE INDEX IF NOT EXISTS checks_domain ON checks (domain, id);`;

/** A check of a domain: its time in milliseconds since 1970, the hash of the network that asked, and whether it found the provider's file. */
export interface PastCheck {
  readonly at: number;
  readonly network: string;
  readonly has_file: number;
}

export type KeptReports = ReturnType<typeof openReports>;

/**
 * Opens the reports and checks of the last day, which the process of the intake finds again when it restarts. Reports are JSON.
 * All times are milliseconds since 1970. Entries with a time after `now` are ignored: a clock was ahead when they were written.
 */
export function openReports(sqlite: Sqlite.Database) {
  const find = (rows: string, value: string, now: number) =>
    sqlite
      .prepare<unknown[], string>(
        `SELECT document FROM reports WHERE ${rows} AND at BETWEEN ? AND ? ORDER BY at DESC LIMIT 1`,
      )
      .pluck()
      .get(value, now - KEPT_MS, now);
  const dropBeyond = () => {
    const held = 'sum(size) OVER latest AS bytes, row_number() OVER latest AS number';
    const rows = `SELECT id, ${held} FROM reports WINDOW latest AS (ORDER BY at DESC, id)`;
    sqlite
      .prepare(`DELETE FROM reports WHERE id IN (SELECT id FROM (${rows}) WHERE bytes > ? OR number > ?)`)
      .run(MAX_BYTES, MAX_REPORTS);
  };
  return {
    /** Records a report, and removes the oldest ones beyond the limits. */
    keep: sqlite.transaction((report: { id: string; at: number; origin: string; document: string }): void => {
      const size = Buffer.byteLength(report.document);
      sqlite.prepare('INSERT INTO reports VALUES (@id, @at, @origin, @size, @document)').run({ ...report, size });
      dropBeyond();
    }),
    find: (id: string, now: number): string | undefined => find('id = ?', id, now),
    findLatest: (origin: string, now: number): string | undefined => find('origin = ?', origin, now),
    /** Lists the checks of a domain in the day before `now`, the oldest first. */
    listChecks: (domain: string, now: number): PastCheck[] =>
      sqlite
        .prepare<unknown[], PastCheck>('SELECT * FROM checks WHERE domain = ? AND at BETWEEN ? AND ? ORDER BY id')
        .all(domain, now - KEPT_MS, now),
    addCheck: (domain: string, at: number, network: string): void =>
      void sqlite.prepare('INSERT INTO checks (domain, at, network) VALUES (?, ?, ?)').run(domain, at, network),
    /** Records that the latest check of a domain found the provider's file. */
    noteFile: (domain: string): void =>
      void sqlite
        .prepare('UPDATE checks SET has_file = 1 WHERE id = (SELECT max(id) FROM checks WHERE domain = ?)')
        .run(domain),
    /** Removes all that is not of the day before `now`, and the oldest checks beyond the limit. */
    prune: sqlite.transaction((now: number): void => {
      for (const table of ['reports', 'checks'])
        sqlite.prepare(`DELETE FROM ${table} WHERE at NOT BETWEEN ? AND ?`).run(now - KEPT_MS, now);
      sqlite.prepare('DELETE FROM checks WHERE id <= (SELECT max(id) FROM checks) - ?').run(MAX_CHECKS);
    }),
  };
}
