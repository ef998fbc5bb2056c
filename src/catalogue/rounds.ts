import { sql } from 'kysely';
import { getRound, getRoundStart, isRoundOurFault, type RoundHost } from '../evidence/rounds.ts';
import { isConclusive, isPayable, PROBE_OUTCOMES } from '../model/probe.ts';
import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import type { Writing } from './write.ts';

const CONCLUSIVE = PROBE_OUTCOMES.filter(isConclusive);
const PAYABLE = PROBE_OUTCOMES.filter(isPayable);

/** A host counts as known to be good if it answered validly within this time before the round, in milliseconds: 30 days. */
const KNOWN_GOOD_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Judges the rounds of all samples that are not published yet: whether their failures are our own fault. If that changed for
 * a round, all listings sampled in it are marked as unpublished. To be called before samples are published.
 */
export function judgeRounds({ catalogue }: Writing): void {
  for (const round of listUnjudged(catalogue)) judgeRound(catalogue, round);
}

/**
 * Lists the rounds that may have new samples since they were judged, in order. These are the rounds of the latest sample of
 * each unpublished listing, and all sampled rounds from the one before the last judged round on. They are needed because a
 * listing that was sampled in two rounds before it was published (in a run over the end of a round, or after a killed one)
 * has only the later round on record.
 */
function listUnjudged(catalogue: Catalogue): number[] {
  const { query } = catalogue;
  const touched = listRows(
    catalogue,
    query.selectFrom('probe_targets').select('sampled_round').distinct().where('unpublished', '=', sql.lit(1)),
  ).map(({ sampled_round }) => sampled_round);
  if (touched.length === 0) return [];
  const judged = findRow(
    catalogue,
    query.selectFrom('rounds').select(({ fn }) => fn.max<number | null>('round').as('round')),
  );
  const since = listRows(
    catalogue,
    query
      .selectFrom('samples')
      .select('round')
      .distinct()
      .where('round', '>=', (judged?.round ?? 0) - 1),
  ).map(({ round }) => round);
  return [...new Set([...touched, ...since])].sort((a, b) => a - b);
}

function judgeRound(catalogue: Catalogue, round: number): void {
  const { query } = catalogue;
  const goodSince = new Date(Date.parse(getRoundStart(round)) - KNOWN_GOOD_MS).toISOString();
  const hosts = listRoundHosts(catalogue, round, goodSince);
  const was_ours = isOurs(catalogue, round - 1);
  const ours = isRoundOurFault(hosts, { known_good: countKnownGood(catalogue, goodSince), was_ours });
  const before = isOurs(catalogue, round);
  const failing = hosts.filter(({ valid }) => !valid).length;
  const row = { round, hosts: hosts.length, failing, ours: ours ? (1 as const) : (0 as const), pending: 1 as const };
  runStatement(
    catalogue,
    query
      .insertInto('rounds')
      .values(row)
      .onConflict((conflict) => conflict.column('round').doUpdateSet(row)),
  );
  if (ours === before) return;
  const sampled = query.selectFrom('samples').select('listing_id').where('round', '=', round);
  runStatement(
    catalogue,
    query.updateTable('probe_targets').set({ unpublished: 1 }).where('listing_id', 'in', sampled),
  );
}

/**
 * Lists for each host probed in a round whether it answered validly, and whether it is known to be good. Outcomes that say
 * nothing about host or service are left out. Requests that this machine could not send are kept: they speak against us.
 */
function listRoundHosts(catalogue: Catalogue, round: number, goodSince: string): RoundHost[] {
  const rows = listRows(
    catalogue,
    catalogue.query
      .selectFrom('samples')
      .leftJoin('hosts', 'hosts.host', 'samples.host')
      .where('samples.round', '=', round)
      .where(({ or, and, eb }) =>
        or([
          eb('samples.outcome', 'in', CONCLUSIVE),
          and([eb('samples.outcome', '=', 'internal'), eb('samples.cause', '!=', 'robots_disallowed')]),
        ]),
      )
      .select(({ eb, fn }) => [
        fn.max<number>(eb('samples.outcome', 'in', PAYABLE)).as('valid'),
        fn.max('hosts.valid_at').as('valid_at'),
      ])
      .groupBy('samples.host'),
  );
  return rows.map(({ valid, valid_at }) => ({
    valid: valid === 1,
    known_good: valid_at !== null && valid_at >= goodSince,
  }));
}

function countKnownGood(catalogue: Catalogue, goodSince: string): number {
  const good = catalogue.query
    .selectFrom('hosts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('valid_at', '>=', goodSince);
  return findRow(catalogue, good)?.count ?? 0;
}

function isOurs(catalogue: Catalogue, round: number): boolean {
  const query = catalogue.query.selectFrom('rounds').select('ours').where('round', '=', round);
  return findRow(catalogue, query)?.ours === 1;
}

/** Returns whether the failures in the round of a time (ISO 8601 UTC) are judged to be our own fault. */
export function isOurRound(catalogue: Catalogue, at: string): boolean {
  return isOurs(catalogue, getRound(at));
}
