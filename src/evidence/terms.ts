import type { Listing } from '../model/listing.ts';
import type { Route } from '../model/route.ts';
import { listCounted } from '../model/route.ts';
import { isCeiling, type RecordedTerms } from '../model/terms.ts';
import type { PriceCeilings } from '../model/usdc.ts';

/**
 * Returns the terms that a buyer should expect now: those last seen in a live 402, or, if none was seen, those that the
 * provider declares.
 */
export function getCurrentTerms<Recorded extends RecordedTerms>(history: readonly Recorded[]): Recorded[] {
  const current = history.filter((terms) => terms.current);
  const observed = current.filter(({ evidence }) => evidence === 'observed');
  return observed.length > 0 ? observed : current;
}

/** Number of past terms in the published history of a route. The rules use all of them. */
const PUBLISHED_HISTORY = 20;

/** Returns the current terms, preceded by the latest of the past ones. */
export function cutHistory(history: readonly RecordedTerms[]): RecordedTerms[] {
  const past = history.filter(({ current }) => !current).length;
  return history.slice(Math.max(0, past - PUBLISHED_HISTORY));
}

/**
 * Returns which ends of a listing's prices are ceilings: all current offers of that price, of all its routes, let the
 * seller take less.
 */
export function getPriceCeilings({
  routes,
  price_min,
  price_max,
}: Pick<Listing, 'routes' | 'price_min' | 'price_max'>): PriceCeilings {
  const offers = listCounted(routes).flatMap(({ terms }) => getCurrentTerms(terms));
  const [min, max] = [price_min, price_max].map((price) => {
    const asked = offers.filter(({ amount }) => amount === price);
    return asked.length > 0 && asked.every(isCeiling);
  });
  return { min: min === true, max: max === true };
}

/** Terms with a known payee. */
export type PayableTerms = RecordedTerms & { pay_to: string };

/**
 * Lists the terms of a route that can be paid now: current ones with a known payee. A claim without a payee is a price,
 * not an offer.
 */
export function listPayableTerms({ terms }: Pick<Route, 'terms'>): PayableTerms[] {
  return getCurrentTerms(terms).filter((offer): offer is PayableTerms => offer.pay_to !== null);
}
