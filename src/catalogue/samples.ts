import { sql } from 'kysely';
import { getSampleSummary, type KeptSample, type SampleSummary } from '../evidence/sample-summary.ts';
import { isConclusive, isPayable, PROBE_OUTCOMES, type ProbeSample } from '../model/probe.ts';
import type { PayeeKind } from '../model/route.ts';
import { type Catalogue, findRow, listRows } from './database.ts';

/** Returns the summary of the samples on record of a listing. */
export function getSampledListing(catalogue: Catalogue, listingId: string): SampleSummary {
  const rows = listRows(
    catalogue,
    catalogue.query
      .selectFrom('samples')
      .select(['route_id', 'at', 'outcome', 'cause', 'status', 'round', 'latency_ms'])
      .where('listing_id', '=', listingId)
      .orderBy('at'),
  );
  return getSampleSummary(rows as KeptSample[], listOurRounds(catalogue));
}

/** Lists the rounds whose failures are judged to be our own fault. */
function listOurRounds(catalogue: Catalogue): Set<number> {
  const rows = listRows(catalogue, catalogue.query.selectFrom('rounds').select('round').where('ours', '=', sql.lit(1)));
  return new Set(rows.map(({ round }) => round));
}

const PAYABLE = PROBE_OUTCOMES.filter(isPayable);
const FAILURES = PROBE_OUTCOMES.filter((outcome) => isConclusive(outcome) && !isPayable(outcome));

/**
 * Finds since when a listing has been failing, ISO 8601 UTC; null if it is not. That is its first failure after its last
 * valid answer, without rounds that were our own fault. `newest` is its newest sample, which is not on record yet.
 */
export function findFailingSince(
  catalogue: Catalogue,
  listingId: string,
  newest: Pick<ProbeSample, 'at' | 'outcome'>,
): string | null {
  if (isPayable(newest.outcome)) return null;
  const { query } = catalogue;
  const ofListing = query.selectFrom('samples').where('listing_id', '=', listingId);
  const valid = findRow(
    catalogue,
    ofListing.where('outcome', 'in', PAYABLE).select(({ fn }) => fn.max<string | null>('at').as('at')),
  );
  const failed = findRow(
    catalogue,
    ofListing
      .where('outcome', 'in', FAILURES)
      .where('at', '>', valid?.at ?? '')
      .where('round', 'not in', query.selectFrom('rounds').select('round').where('ours', '=', sql.lit(1)))
      .select(({ fn }) => fn.min<string | null>('at').as('at')),
  );
  return failed?.at ?? (FAILURES.includes(newest.outcome) ? newest.at : null);
}

/** Returns for each route of a listing, by id, whether its payee is fixed or rotating; null while that is not known. */
export function listPayees(catalogue: Catalogue, listingId: string): Map<string, PayeeKind | null> {
  const rows = listRows(
    catalogue,
    catalogue.query.selectFrom('routes').select(['id', 'payee']).where('listing_id', '=', listingId),
  );
  return new Map(rows.map(({ id, payee }) => [id, payee]));
}

/** A sample on record, with the route it was taken of. */
export type RecordedSample = ProbeSample & { route_id: string };

/** Lists the latest samples of a listing that are still on record, newest first. */
export function listSamples(catalogue: Catalogue, listingId: string, limit: number): RecordedSample[] {
  const rows = listRows(
    catalogue,
    catalogue.query
      .selectFrom('samples')
      .select(['route_id', 'at', 'outcome', 'cause', 'status', 'latency_ms', 'document'])
      .where('listing_id', '=', listingId)
      .orderBy('at', 'desc')
      .limit(limit),
  );
  return rows.map(({ document, ...columns }) => ({ ...JSON.parse(document), ...columns }));
}
