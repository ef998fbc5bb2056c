import { DAY_MS } from '../../model/duration.ts';
import type { Writing } from '../transaction.ts';

/** A run over all routes, without routes probed after its start. */
export interface ProbeRun {
  id: number;
  started_at: string;
  /** True if an earlier process began it. */
  resumed: boolean;
}

/** Longest time since its start for which a run is continued, in milliseconds; later its probes are out of date. */
const RESUMED_WITHIN_MS = DAY_MS;

/**
 * Starts a run over all routes, or continues an unfinished one that began less than a day ago. With `again` it always starts a
 * new one.
 */
export async function startProbeRun(
  { catalogue: { query }, at }: Writing,
  { again }: { again: boolean },
): Promise<ProbeRun> {
  const since = new Date(Date.parse(at) - RESUMED_WITHIN_MS).toISOString();
  const open = await query
    .selectFrom('probe_runs')
    .select(['id', 'started_at'])
    .where('scope', '=', 'all')
    .where('ended_at', 'is', null)
    .where('started_at', '>=', since)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (open && !again) return { ...open, resumed: true };
  const { id } = await query
    .insertInto('probe_runs')
    .values({ scope: 'all', started_at: at, ended_at: null })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, started_at: at, resumed: false };
}

/** Records that a run has ended, and all earlier unfinished runs with it. */
export async function endProbeRun({ catalogue: { query }, at }: Writing, { id }: ProbeRun): Promise<void> {
  await query
    .updateTable('probe_runs')
    .set({ ended_at: at })
    .where('scope', '=', 'all')
    .where('id', '<=', id)
    .where('ended_at', 'is', null)
    .execute();
}

/** Time between two publications of listings of which only times and counts changed, in milliseconds. */
const FRESHENED_EVERY_MS = DAY_MS;

const FRESHENING = 'freshening';

/**
 * Starts a run that also publishes listings in which only times and counts changed, and returns true if one is due: once a day
 * for all listings together, since otherwise each sample would raise the revision; also if an earlier run did not end it. Marks
 * all probed listings as unpublished; the caller publishes them and then calls `endFreshening`.
 */
export async function startFreshening({ catalogue: { query }, at }: Writing): Promise<boolean> {
  const last = await query
    .selectFrom('probe_runs')
    .select(['started_at', 'ended_at'])
    .where('scope', '=', FRESHENING)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (last && last.ended_at === null) return true;
  if (last && Date.parse(at) - Date.parse(last.started_at) < FRESHENED_EVERY_MS) return false;
  await query.insertInto('probe_runs').values({ scope: FRESHENING, started_at: at, ended_at: null }).execute();
  await query.updateTable('probe_targets').set({ unpublished: 1 }).execute();
  return true;
}

/** Records that all listings are published with their latest times and counts. */
export async function endFreshening({ catalogue: { query }, at }: Writing): Promise<void> {
  const open = query.updateTable('probe_runs').set({ ended_at: at }).where('scope', '=', FRESHENING);
  await open.where('ended_at', 'is', null).execute();
}
