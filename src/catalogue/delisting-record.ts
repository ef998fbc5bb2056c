import type { Delisting } from '../evidence/listing.ts';
import { getCanonicalBaseUrl } from '../model/listing.ts';
import { type Catalogue, listRows } from './database.ts';

/** A decision that there is no listing at an address. */
export interface RecordedDelisting extends Delisting {
  /** Address of the statement that says so; null for a decision made here. */
  source: string | null;
}

/** Whose decision readers are shown where several stand: the operator's before the provider's before a rule's. */
const DECIDERS: readonly Delisting['by'][] = ['operator', 'provider', 'rule'];

/** Finds the decision that keeps an address out: of `by` alone, or the one that readers are shown. Undefined when there is none. */
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
