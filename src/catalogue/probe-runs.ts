import { type Catalogue, findRow, runStatement } from './database.ts';
import type { Writing } from './write.ts';

/** A run over all routes. Routes probed after its start are done. */
export interface ProbeRun {
  id: number;
  started_at: string;
  /** Whether an earlier process began it. */
  resumed: boolean;
}

/** A run that began longer ago, in milliseconds, is not continued: what it probed is out of date. */
const RESUMED_WITHIN_MS = 24 * 60 * 60 * 1000;

/** Starts a run over all routes, or continues an unfinished one that began less than a day ago. `again` always starts one. */
export function startProbeRun({ catalogue, at }: Writing, { again }: { again: boolean }): ProbeRun {
  const since = new Date(Date.parse(at) - RESUMED_WITHIN_MS).toISOString();
  const open = findRow(
    catalogue,
    catalogue.query
      .selectFrom('probe_runs')
      .select(['id', 'started_at'])
      .where('scope', '=', 'all')
      .where('ended_at', 'is', null)
      .where('started_at', '>=', since)
      .orderBy('id', 'desc')
      .limit(1),
  );
  if (open && !again) return { ...open, resumed: true };
  const row = { scope: 'all', started_at: at, ended_at: null };
  const { lastInsertRowid } = runStatement(catalogue, catalogue.query.insertInto('probe_runs').values(row));
  return { id: Number(lastInsertRowid), started_at: at, resumed: false };
}

/** Records that a run has ended, and with it all earlier runs that did not end. */
export function endProbeRun({ catalogue, at }: Writing, { id }: ProbeRun): void {
  runStatement(
    catalogue,
    catalogue.query
      .updateTable('probe_runs')
      .set({ ended_at: at })
      .where('scope', '=', 'all')
      .where('id', '<=', id)
      .where('ended_at', 'is', null),
  );
}

/** Counts the routes that were probed since a time, ISO 8601 UTC. */
export function countProbedSince(catalogue: Catalogue, since: string): number {
  const query = catalogue.query
    .selectFrom('routes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('probed_at', '>=', since);
  return findRow(catalogue, query)?.count ?? 0;
}
