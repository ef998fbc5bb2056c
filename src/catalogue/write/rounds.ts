import { sql } from 'kysely';
import { getRoundStart, isRoundOurFault, type RoundHost } from '../../evidence/rounds.ts';
import { DAY_MS } from '../../model/duration.ts';
import { isConclusive, PROBE_OUTCOMES } from '../../model/probe.ts';
import type { Catalogue } from '../database.ts';
import { isOurs } from '../read/rounds.ts';
import { PAYABLE } from '../read/samples.ts';
import type { Writing } from '../transaction.ts';

const CONCLUSIVE = PROBE_OUTCOMES.filter(isConclusive);

/** Time before a round in which a host must have answered validly to count as good, in milliseconds: 30 days. */
const KNOWN_GOOD_MS = 30 * DAY_MS;

/**
 * Judges the rounds of all unpublished samples: whether the failures that a prober saw are our own fault. If the judgement of a
 * round changes, all listings sampled in it are marked as unpublished. Call it before samples are published.
 */
export async function judgeRounds({ catalogue }: Writing): Promise<void> {
  for (const { round, prober } of await listUnjudged(catalogue)) await judgeRound(catalogue, round, prober);
}

/**
 * Lists the rounds that may have new samples since they were judged, in order, with each of their probers: the rounds of the
 * latest sample of each unpublished listing, and all sampled rounds from the one before the last judged round on. The latter are
 * needed because a listing that was sampled in two rounds before it was published (in a run across the end of a round, or after a
 * killed run) has only the later round on record.
 */
async function listUnjudged({ query }: Catalogue): Promise<{ round: number; prober: string }[]> {
  const unpublished = query.selectFrom('probe_targets').select('sampled_round').where('unpublished', '=', sql.lit(1));
  if (!(await unpublished.limit(1).executeTakeFirst())) return [];
  const judged = await query
    .selectFrom('rounds')
    .select(({ fn }) => fn.max<number | null>('round').as('round'))
    .executeTakeFirst();
  return await query
    .selectFrom('samples')
    .select(['round', 'prober'])
    .distinct()
    .where(({ or, eb }) => or([eb('round', '>=', (judged?.round ?? 0) - 1), eb('round', 'in', unpublished)]))
    .orderBy('round')
    .orderBy('prober')
    .execute();
}

async function judgeRound(catalogue: Catalogue, round: number, prober: string): Promise<void> {
  const { query } = catalogue;
  const goodSince = new Date(Date.parse(getRoundStart(round)) - KNOWN_GOOD_MS).toISOString();
  const hosts = await listRoundHosts(catalogue, { round, prober, goodSince });
  const was_ours = await isOurs(catalogue, prober, round - 1);
  const known_good = await countKnownGood(catalogue, goodSince);
  const ours = isRoundOurFault(hosts, { known_good, was_ours });
  const before = await isOurs(catalogue, prober, round);
  const failing = hosts.filter(({ valid }) => !valid).length;
  const row = {
    round,
    prober,
    hosts: hosts.length,
    failing,
    ours: ours ? (1 as const) : (0 as const),
    pending: 1 as const,
  };
  await query
    .insertInto('rounds')
    .values(row)
    .onConflict((conflict) => conflict.columns(['round', 'prober']).doUpdateSet(row))
    .execute();
  if (ours === before) return;
  const sampled = query
    .selectFrom('samples')
    .select('listing_id')
    .where('round', '=', round)
    .where('prober', '=', prober);
  await query.updateTable('probe_targets').set({ unpublished: 1 }).where('listing_id', 'in', sampled).execute();
}

/**
 * Lists for each host that a prober asked in a round whether it answered validly, and whether it is known to be good. Outcomes
 * that say nothing about the host or our service are left out. Requests that this machine could not send are kept, since they
 * count against us.
 */
async function listRoundHosts(
  { query }: Catalogue,
  { round, prober, goodSince }: { round: number; prober: string; goodSince: string },
): Promise<RoundHost[]> {
  const rows = await query
    .selectFrom('samples')
    .leftJoin('hosts', 'hosts.host', 'samples.host')
    .where('samples.round', '=', round)
    .where('samples.prober', '=', prober)
    .where(({ or, and, eb }) =>
      or([
        eb('samples.outcome', 'in', CONCLUSIVE),
        and([eb('samples.outcome', '=', 'internal'), eb('samples.cause', '!=', 'robots_disallowed')]),
      ]),
    )
    .select(({ eb, fn }) => [
      fn.max<number>(eb.case().when('samples.outcome', 'in', PAYABLE).then(1).else(0).end()).as('valid'),
      fn.max('hosts.valid_at').as('valid_at'),
    ])
    .groupBy('samples.host')
    .execute();
  return rows.map(({ valid, valid_at }) => ({
    valid: valid === 1,
    known_good: valid_at !== null && valid_at >= goodSince,
  }));
}

async function countKnownGood({ query }: Catalogue, goodSince: string): Promise<number> {
  const good = await query
    .selectFrom('hosts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('valid_at', '>=', goodSince)
    .executeTakeFirstOrThrow();
  return good.count;
}
