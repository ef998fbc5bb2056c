import type { Route } from '../model/route.ts';
import type { RecordedTerms } from '../model/terms.ts';
import { getCurrentTerms } from './terms.ts';

/** Terms that say whom to pay. */
export type PayableTerms = RecordedTerms & { pay_to: string };

/**
 * Lists the terms of a route that a payment could be made by, as things stand: current ones whose payee is known. A
 * claim without a payee is a price, not an offer.
 */
export function listPayableTerms({ terms }: Pick<Route, 'terms'>): PayableTerms[] {
  return getCurrentTerms(terms).filter((offer): offer is PayableTerms => offer.pay_to !== null);
}
