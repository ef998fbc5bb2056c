import { getRound } from '../../evidence/rounds.ts';
import { DAY_MS } from '../../model/duration.ts';
import { isUnconfirmed } from '../../model/payment.ts';
import { PROBE_OUTCOMES, type ProbeOutcome } from '../../model/probe.ts';
import type { Catalogue } from '../database.ts';
import { listOpenPayments } from './payments.ts';

/** Number of listings in each state. `verified` counts the live ones with a settlement-verified route. */
export interface ListingCounts {
  live: number;
  verified: number;
  held: number;
  delisted: number;
}

/** Returns the number of listings in each state. */
export async function countListings({ query }: Catalogue): Promise<ListingCounts> {
  const rows = await query
    .selectFrom('listings')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count'), fn.sum<number>('verified').as('verified')])
    .groupBy('state')
    .execute();
  const counts: ListingCounts = { live: 0, verified: 0, held: 0, delisted: 0 };
  for (const { state, count, verified } of rows) {
    counts[state] = count;
    counts.verified += verified;
  }
  return counts;
}

/** State of probing: the time of its latest sample, and the number of listings that wait for a probe. */
export interface ProbingState {
  last_sample_at: string | null;
  /** Number of listings that were ever probed. */
  probed: number;
  /** Number of those that are due, and of new ones that were not probed within a day. */
  due: number;
  /** Number of live listings that were never probed: new ones, and those without itemised routes. */
  never_probed: number;
}

/** Time after which a listing that was never probed counts as due, in milliseconds since it was added. */
const NEW_FOR_MS = DAY_MS;

/** Returns the state of probing at a time, ISO 8601 UTC. */
export async function getProbingState({ query }: Catalogue, at: string): Promise<ProbingState> {
  const latest = await query
    .selectFrom('routes')
    .select(({ fn }) => fn.max<string | null>('probed_at').as('at'))
    .executeTakeFirst();
  const targets = await query
    .selectFrom('probe_targets')
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('probed'),
      fn
        .countAll<number>()
        .filterWhere(eb('due_at', '<=', at))
        .as('due'),
    ])
    .executeTakeFirst();
  const oldAt = new Date(Date.parse(at) - NEW_FOR_MS).toISOString();
  const unprobed = await query
    .selectFrom('listings')
    .leftJoin('probe_targets', 'probe_targets.listing_id', 'listings.id')
    .where('listings.state', '=', 'live')
    .where('probe_targets.listing_id', 'is', null)
    .select(({ fn, eb, exists, selectFrom }) => {
      const changes = selectFrom('changes').select('seq').whereRef('changes.listing_id', '=', 'listings.id');
      const isWaiting = eb('listings.routes', '>', 0).and(exists(changes.where('changes.at', '<=', oldAt)));
      return [fn.countAll<number>().as('count'), fn.countAll<number>().filterWhere(isWaiting).as('due')];
    })
    .executeTakeFirst();
  return {
    last_sample_at: latest?.at ?? null,
    probed: targets?.probed ?? 0,
    due: (targets?.due ?? 0) + (unprobed?.due ?? 0),
    never_probed: unprobed?.count ?? 0,
  };
}

/** Number of payments in each state, and sums in atomic USDC. */
export interface PaymentCounts {
  settled: number;
  not_settled: number;
  open: number;
  /** Payments that did not settle according to one node alone; `open` excludes them. */
  unconfirmed: number;
  /** Cost of the settled payments. */
  spent: number;
  /** Sum of the unconfirmed payments, which still count as spent. */
  still_counted: number;
}

/** Returns the number of payment attempts in each state, and their sums. */
export async function countPayments(catalogue: Catalogue): Promise<PaymentCounts> {
  const rows = await catalogue.query
    .selectFrom('payments')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count'), fn.sum<number>('amount').as('amount')])
    .groupBy('state')
    .execute();
  const counts: PaymentCounts = { settled: 0, not_settled: 0, open: 0, unconfirmed: 0, spent: 0, still_counted: 0 };
  for (const payment of await listOpenPayments(catalogue)) {
    counts[isUnconfirmed(payment) ? 'unconfirmed' : 'open'] += 1;
    if (isUnconfirmed(payment)) counts.still_counted += payment.amount;
  }
  for (const { state, count, amount } of rows) {
    if (state === 'settled') {
      counts.settled = count;
      counts.spent = amount;
    } else if (state === 'not_settled') counts.not_settled = count;
  }
  return counts;
}

/** Returns the number of routes that were probed since a time, ISO 8601 UTC. */
export async function countProbedSince({ query }: Catalogue, since: string): Promise<number> {
  const row = await query
    .selectFrom('routes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('probed_at', '>=', since)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Rounds of six hours that `countRecentProbes` includes besides the current one. */
const ROUNDS_BACK = 3;

/**
 * Returns the number of probes by outcome in the last 18 to 24 hours before `at` (ISO 8601 UTC); 0 for outcomes that did not
 * occur.
 */
export async function countRecentProbes({ query }: Catalogue, at: string): Promise<Record<ProbeOutcome, number>> {
  const rows = await query
    .selectFrom('samples')
    .select(({ fn }) => ['outcome', fn.countAll<number>().as('count')])
    .where('round', '>=', getRound(at) - ROUNDS_BACK)
    .groupBy('outcome')
    .execute();
  const counts = new Map(rows.map(({ outcome, count }) => [outcome, count]));
  return Object.fromEntries(PROBE_OUTCOMES.map((outcome) => [outcome, counts.get(outcome) ?? 0])) as Record<
    ProbeOutcome,
    number
  >;
}
