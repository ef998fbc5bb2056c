import { sql } from 'kysely';
import { FIXED_AFTER, getPayeeKind, listLastingOffers, ROTATING_AFTER } from '../../evidence/payees.ts';
import { getRound, ROUND_MS } from '../../evidence/rounds.ts';
import { DAY_MS } from '../../model/duration.ts';
import { isPayable, type ProbeSample } from '../../model/probe.ts';
import type { Terms } from '../../model/terms.ts';
import type { Catalogue } from '../database.ts';
import { PAYABLE } from '../read/samples.ts';
import type { Writing } from '../transaction.ts';
import { recordHost } from './hosts.ts';
import { recordObservedTerms } from './terms.ts';

/** The route of a sample. */
export interface SampledRoute {
  listing_id: string;
  route_id: string;
  /** Origin that was asked. */
  host: string;
  /** Name of the machine that asked. */
  prober: string;
}

/** Most offers stored of one answer. No honest answer has more, and each sample stores them. */
const KEPT_OFFERS = 20;

/**
 * Records the result of one probe: the sample, the terms of a valid 402 (its first 20 offers), and the time of the listing's next
 * probe (ISO 8601 UTC). Readers see it only after `publishSampled`.
 */
export async function recordSample(
  { catalogue }: Writing,
  taken: SampledRoute,
  seen: ProbeSample,
  nextAt: string,
): Promise<void> {
  const { query } = catalogue;
  const [terms, differences] = [seen.terms.slice(0, KEPT_OFFERS), seen.differences.slice(0, KEPT_OFFERS)];
  const sample = { ...seen, terms, differences };
  const { at, outcome, cause, status, latency_ms, ...rest } = sample;
  const round = getRound(at);
  await query
    .insertInto('samples')
    .values({ ...taken, at, outcome, cause, status, latency_ms, round, document: JSON.stringify(rest) })
    .execute();
  await query.updateTable('routes').set({ probed_at: at }).where('id', '=', taken.route_id).execute();
  if (isPayable(outcome)) await recordValidAnswer(catalogue, taken, sample);
  const target = { listing_id: taken.listing_id, due_at: nextAt, sampled_round: round, unpublished: 1 as const };
  await query
    .insertInto('probe_targets')
    .values(target)
    .onConflict((conflict) => conflict.column('listing_id').doUpdateSet(target))
    .execute();
}

async function recordValidAnswer(
  catalogue: Catalogue,
  { route_id, host }: SampledRoute,
  sample: ProbeSample,
): Promise<void> {
  const { query } = catalogue;
  const before = await query.selectFrom('routes').select('payee').where('id', '=', route_id).executeTakeFirst();
  const decisive = before?.payee === 'rotating' ? FIXED_AFTER : ROTATING_AFTER;
  const recent = await listRecentOffers(catalogue, route_id, decisive);
  const payee = getPayeeKind(before?.payee ?? null, sample.payee_rotates, recent);
  const payment_identifier = sample.payment_identifier ?? 'none';
  await query.updateTable('routes').set({ payee, payment_identifier }).where('id', '=', route_id).execute();
  await recordObservedTerms(catalogue, route_id, listLastingOffers(sample.terms, payee), sample.at);
  await recordHost(catalogue, host, { valid_at: sample.at });
}

/** Number of samples of a listing that are kept at any age, since a clock that was once ahead would make all others look old. */
const KEPT_SAMPLES = 50;

/** Largest age of a sample, counted from the latest sample of its listing: 90 days, in rounds. */
const KEPT_ROUNDS = (90 * DAY_MS) / ROUND_MS;

/**
 * Removes samples that are more than 90 days older than the latest one of their listing. The newest 50 of each listing stay, and
 * so do the last sample and the last valid sample of each route, which show since when a route does not answer. The age is
 * counted from the latest sample, so that nothing changes for a listing that is no longer probed. Decisions keep the evidence
 * recorded with them.
 */
export async function pruneSamples({ catalogue }: Writing, listingIds: readonly string[]): Promise<void> {
  await catalogue.query
    .deleteFrom('samples')
    .where('listing_id', 'in', listingIds)
    .where(({ eb, selectFrom }) =>
      eb(
        'round',
        '<',
        selectFrom('probe_targets')
          .select(({ eb: of }) => of('sampled_round', '-', KEPT_ROUNDS).as('oldest'))
          .whereRef('probe_targets.listing_id', '=', 'samples.listing_id'),
      ),
    )
    .where(({ eb, selectFrom }) =>
      eb('at', '<', selectFrom('routes').select('probed_at').whereRef('routes.id', '=', 'samples.route_id')),
    )
    .where(({ eb, or, selectFrom }) => {
      const lastValid = selectFrom('samples as others')
        .whereRef('others.route_id', '=', 'samples.route_id')
        .where('others.outcome', 'in', PAYABLE)
        .select(({ fn }) => fn.max('others.at').as('at'));
      return or([eb('outcome', 'not in', PAYABLE), eb('at', '<', lastValid)]);
    })
    .where(
      sql<boolean>`at < (SELECT newer.at FROM samples AS newer WHERE newer.listing_id = samples.listing_id
        ORDER BY newer.at DESC LIMIT 1 OFFSET ${sql.lit(KEPT_SAMPLES - 1)})`,
    )
    .execute();
}

/** Lists the offers of the latest valid answers of a route, newest first. */
async function listRecentOffers({ query }: Catalogue, routeId: string, limit: number): Promise<Terms[][]> {
  const rows = await query
    .selectFrom('samples')
    .select('document')
    .where('route_id', '=', routeId)
    .where('outcome', 'in', PAYABLE)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ document }) => JSON.parse(document).terms);
}
