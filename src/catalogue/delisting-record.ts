import type { Delisting } from '../evidence/listing.ts';
import { getCanonicalBaseUrl } from '../model/listing.ts';
import { type Catalogue, listRows } from './database.ts';

/** A decision that an address is not listed. */
export interface RecordedDelisting extends Delisting {
  /** Address of the provider's statement; null for a decision of the operator or of a rule. */
  source: string | null;
}

/** Who may decide. Of several decisions, readers are shown that of the first. */
const DECIDERS: readonly Delisting['by'][] = ['operator', 'provider', 'rule'];

/** Finds the decision that an address is not listed: with `by` that decider's, without it the one that readers are shown. */
export function findDelisting(
  catalogue: Catalogue,
  baseUrl: string,
  by?: Delisting['by'],
): RecordedDelisting | undefined {
  const query = catalogue.query
    .selectFrom('delistings')
    .select(['by', 'reason', 'source', 'at'])
    .where('base_url', '=', getCanonicalBaseUrl(baseUrl));
  const rows = listRows(catalogue, query);
  return DECIDERS.filter((decider) => by === undefined || by === decider)
    .map((decider) => rows.find((row) => row.by === decider))
    .find((row) => row !== undefined);
}
