import { FIXED_AFTER, getPayeeKind, listLastingOffers, ROTATING_AFTER } from '../evidence/payees.ts';
import { getRound, getRoundStart, ROUND_MS } from '../evidence/rounds.ts';
import { isPayable, PROBE_OUTCOMES, type ProbeSample } from '../model/probe.ts';
import type { PayeeKind } from '../model/route.ts';
import type { Terms } from '../model/terms.ts';
import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import { recordHost } from './hosts.ts';
import { recordObservedTerms } from './terms.ts';
import type { Writing } from './write.ts';

const PAYABLE = PROBE_OUTCOMES.filter(isPayable);

/** The route that a sample was taken of. */
export interface SampledRoute {
  listing_id: string;
  route_id: string;
  /** Origin that was asked. */
  host: string;
}

/** Largest number of offers stored of one answer: no honest answer has more, and each sample stores them. */
const KEPT_OFFERS = 20;

/**
 * Records what one probe saw: the sample, the terms of a valid 402 (the first 20 of its offers), and when the listing's
 * next probe is due (ISO 8601 UTC). Readers see nothing of this before `publishSampled`.
 */
export function recordSample(writing: Writing, taken: SampledRoute, seen: ProbeSample, nextAt: string): void {
  const { catalogue } = writing;
  const [terms, differences] = [seen.terms.slice(0, KEPT_OFFERS), seen.differences.slice(0, KEPT_OFFERS)];
  const sample = { ...seen, terms, differences };
  const { at, outcome, cause, status, latency_ms, ...rest } = sample;
  const columns = { at, outcome, cause, status, latency_ms, round: getRound(at) };
  const row = { ...taken, ...columns, document: JSON.stringify(rest) };
  runStatement(catalogue, catalogue.query.insertInto('samples').values(row));
  runStatement(
    catalogue,
    catalogue.query.updateTable('routes').set({ probed_at: at }).where('id', '=', taken.route_id),
  );
  if (isPayable(outcome)) recordValidAnswer(catalogue, taken, sample);
  const target = {
    listing_id: taken.listing_id,
    due_at: nextAt,
    sampled_round: columns.round,
    unpublished: 1 as const,
  };
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('probe_targets')
      .values(target)
      .onConflict((conflict) => conflict.column('listing_id').doUpdateSet(target)),
  );
}

function recordValidAnswer(catalogue: Catalogue, { route_id, host }: SampledRoute, sample: ProbeSample): void {
  const before = findRow(catalogue, catalogue.query.selectFrom('routes').select('payee').where('id', '=', route_id));
  const decisive = before?.payee === 'rotating' ? FIXED_AFTER : ROTATING_AFTER;
  const recent = listRecentOffers(catalogue, route_id, decisive);
  const payee = getPayeeKind(before?.payee ?? null, sample.payee_rotates, recent);
  if (payee !== before?.payee) recordPayee(catalogue, route_id, payee);
  recordObservedTerms(catalogue, route_id, listLastingOffers(sample.terms, payee), sample.at);
  recordHost(catalogue, host, { valid_at: sample.at });
}

function recordPayee(catalogue: Catalogue, routeId: string, payee: PayeeKind | null): void {
  runStatement(catalogue, catalogue.query.updateTable('routes').set({ payee }).where('id', '=', routeId));
}

/** How much older than the latest sample of its listing a sample may be: 90 days, in rounds. */
const KEPT_ROUNDS = (90 * 24 * 60 * 60 * 1000) / ROUND_MS;

/**
 * Removes the samples of a listing that are more than 90 days older than its latest one, which is of the round `latest`. The
 * last sample and the last valid sample of each route stay, so that it is known since when a route does not answer. The age
 * counts from the latest sample, so that nothing changes for a listing that is no longer probed. Decisions keep the
 * evidence recorded with them.
 */
export function pruneSamples({ catalogue }: Writing, listingId: string, latest: number): void {
  runStatement(
    catalogue,
    catalogue.query
      .deleteFrom('samples')
      .where('listing_id', '=', listingId)
      .where('at', '<', getRoundStart(latest - KEPT_ROUNDS))
      .where(({ eb, selectFrom }) =>
        eb('at', '<', selectFrom('routes').select('probed_at').whereRef('routes.id', '=', 'samples.route_id')),
      )
      .where(({ eb, or, selectFrom }) => {
        const lastValid = selectFrom('samples as others')
          .whereRef('others.route_id', '=', 'samples.route_id')
          .where('others.outcome', 'in', PAYABLE)
          .select(({ fn }) => fn.max('others.at').as('at'));
        return or([eb('outcome', 'not in', PAYABLE), eb('at', '<', lastValid)]);
      }),
  );
}

/** Lists the offers of the latest valid answers of a route, newest first. */
function listRecentOffers(catalogue: Catalogue, routeId: string, limit: number): Terms[][] {
  const rows = listRows(
    catalogue,
    catalogue.query
      .selectFrom('samples')
      .select('document')
      .where('route_id', '=', routeId)
      .where('outcome', 'in', PAYABLE)
      .orderBy('at', 'desc')
      .limit(limit),
  );
  return rows.map(({ document }) => JSON.parse(document).terms);
}
