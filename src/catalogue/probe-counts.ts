import { getRound } from '../evidence/rounds.ts';
import { PROBE_OUTCOMES, type ProbeOutcome } from '../model/probe.ts';
import { type Catalogue, listRows } from './database.ts';

/** Rounds of six hours that `countRecentProbes` looks back, besides the present one. */
const ROUNDS_BACK = 3;

/** Counts the probes of the last 18 to 24 hours before `at` (ISO 8601 UTC) by outcome, those that there were none of included. */
export async function countRecentProbes(catalogue: Catalogue, at: string): Promise<Record<ProbeOutcome, number>> {
  const rows = await listRows(
    catalogue,
    catalogue.query
      .selectFrom('samples')
      .select(({ fn }) => ['outcome', fn.countAll<number>().as('count')])
      .where('round', '>=', getRound(at) - ROUNDS_BACK)
      .groupBy('outcome'),
  );
  const counts = new Map(rows.map(({ outcome, count }) => [outcome, count]));
  return Object.fromEntries(PROBE_OUTCOMES.map((outcome) => [outcome, counts.get(outcome) ?? 0])) as Record<
    ProbeOutcome,
    number
  >;
}
