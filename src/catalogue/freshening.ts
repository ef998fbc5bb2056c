import { findRow, runStatement } from './database.ts';
import type { Writing } from './write.ts';

/** How often everything is published of which only times and counts moved on, in milliseconds: once a day. */
const FRESHENED_EVERY_MS = 24 * 60 * 60 * 1000;

const SCOPE = 'freshening';

/**
 * Says whether what merely became fresher is to be published as well, with all there is to publish now: where that was
 * not done for a day, or was begun and left. Once a day for all listings together, so that samples alone do not keep the
 * revision moving. Whoever is told so publishes until nothing is left, and says so by `endFreshening`.
 */
export function startFreshening({ catalogue, at }: Writing): boolean {
  const last = findRow(
    catalogue,
    catalogue.query
      .selectFrom('probe_runs')
      .select(['started_at', 'ended_at'])
      .where('scope', '=', SCOPE)
      .orderBy('id', 'desc')
      .limit(1),
  );
  if (last && last.ended_at === null) return true;
  if (last && Date.parse(at) - Date.parse(last.started_at) < FRESHENED_EVERY_MS) return false;
  const row = { scope: SCOPE, started_at: at, ended_at: null };
  runStatement(catalogue, catalogue.query.insertInto('probe_runs').values(row));
  runStatement(catalogue, catalogue.query.updateTable('probe_targets').set({ unpublished: 1 }));
  return true;
}

/** Records that everything is as fresh to readers as it is on record. */
export function endFreshening({ catalogue, at }: Writing): void {
  const open = catalogue.query.updateTable('probe_runs').set({ ended_at: at }).where('scope', '=', SCOPE);
  runStatement(catalogue, open.where('ended_at', 'is', null));
}
