import { findRow, runStatement } from './database.ts';
import type { Writing } from './write.ts';

/** How often listings are published of which only times and counts changed, in milliseconds. */
const FRESHENED_EVERY_MS = 24 * 60 * 60 * 1000;

const SCOPE = 'freshening';

/**
 * Returns whether to publish also the listings of which only times and counts changed. That is done once a day for all
 * listings together, because otherwise each sample would raise the revision. True again if an earlier run did not end it.
 * The start marks all probed listings as unpublished; the caller publishes them and then calls `endFreshening`.
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

/** Records that all listings are published with their latest times and counts. */
export function endFreshening({ catalogue, at }: Writing): void {
  const open = catalogue.query.updateTable('probe_runs').set({ ended_at: at }).where('scope', '=', SCOPE);
  runStatement(catalogue, open.where('ended_at', 'is', null));
}
