import { sql } from 'kysely';
import { isConclusive, isPayable, PROBE_OUTCOMES, type ProbeSample } from '../../model/probe.ts';
import type { Catalogue } from '../database.ts';

/** Outcomes of an answer that can be paid. */
export const PAYABLE = PROBE_OUTCOMES.filter(isPayable);
const FAILURES = PROBE_OUTCOMES.filter((outcome) => isConclusive(outcome) && !isPayable(outcome));

/**
 * Finds the time since which a listing has been failing, ISO 8601 UTC; null if it is not failing. This is its first failure after
 * its last valid answer, without rounds that were our own fault. `newest` is its newest sample, which is not recorded yet.
 */
export async function findFailingSince(
  { query }: Catalogue,
  listingId: string,
  newest: Pick<ProbeSample, 'at' | 'outcome'>,
): Promise<string | null> {
  if (isPayable(newest.outcome)) return null;
  const ofListing = query.selectFrom('samples').where('listing_id', '=', listingId);
  const valid = await ofListing
    .where('outcome', 'in', PAYABLE)
    .select(({ fn }) => fn.max<string | null>('at').as('at'))
    .executeTakeFirst();
  const failed = await ofListing
    .where('outcome', 'in', FAILURES)
    .where('at', '>', valid?.at ?? '')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('rounds')
            .select('round')
            .whereRef('rounds.round', '=', 'samples.round')
            .whereRef('rounds.prober', '=', 'samples.prober')
            .where('ours', '=', sql.lit(1)),
        ),
      ),
    )
    .select(({ fn }) => fn.min<string | null>('at').as('at'))
    .executeTakeFirst();
  return failed?.at ?? (FAILURES.includes(newest.outcome) ? newest.at : null);
}
