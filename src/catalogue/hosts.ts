import { type Catalogue, findRow, runStatement } from './database.ts';
import type { HostsTable } from './tables.ts';

/** What probing knows of a host; all null for one that was never probed. */
export type HostRecord = Omit<HostsTable, 'host'>;

const UNKNOWN: HostRecord = Object.freeze({
  robots: null,
  robots_at: null,
  door_at: null,
  sibling_at: null,
  valid_at: null,
  wait_until: null,
});

/** Returns what is known of a host, by its origin. */
export function getHost(catalogue: Catalogue, host: string): HostRecord {
  return findRow(catalogue, catalogue.query.selectFrom('hosts').selectAll().where('host', '=', host)) ?? UNKNOWN;
}

/** Records the given facts about a host and keeps the others. Readers see none of them. */
export function recordHost(catalogue: Catalogue, host: string, learned: Partial<HostRecord>): void {
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('hosts')
      .values({ ...UNKNOWN, host, ...learned })
      .onConflict((conflict) => conflict.column('host').doUpdateSet(learned)),
  );
}
