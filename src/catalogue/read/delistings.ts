import type { Delisting } from '../../evidence/listing.ts';
import { getListingId } from '../../model/ids.ts';
import type { Catalogue } from '../database.ts';

/** A decision that an address is not listed. */
export interface RecordedDelisting extends Delisting {
  /** Address of the provider's statement; null for a decision of the operator or of a rule. */
  source: string | null;
}

/** Deciders, in order of precedence. Readers see the decision of the first one. */
const DECIDERS: readonly Delisting['by'][] = ['operator', 'provider', 'rule'];

/** Finds the decision of one decider that an address is not listed. */
export async function findDelisting(
  { query }: Catalogue,
  baseUrl: string,
  by: Delisting['by'],
): Promise<RecordedDelisting | undefined> {
  return await query
    .selectFrom('delistings')
    .select(['by', 'reason', 'source', 'at'])
    .where('listing_id', '=', getListingId(baseUrl))
    .where('by', '=', by)
    .executeTakeFirst();
}

/** Returns the decision about an address that readers see. */
export function chooseDelisting(rows: readonly RecordedDelisting[]): RecordedDelisting | undefined {
  for (const decider of DECIDERS) {
    const found = rows.find((row) => row.by === decider);
    if (found) return { by: found.by, reason: found.reason, source: found.source, at: found.at };
  }
  return undefined;
}
