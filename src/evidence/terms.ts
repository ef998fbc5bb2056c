import type { Listing } from '../model/listing.ts';
import type { DeclaredRoute, Route } from '../model/route.ts';
import { listCounted } from '../model/route.ts';
import { isCeiling, type RecordedTerms, type Terms } from '../model/terms.ts';
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
  return getCeilings(offers, price_min, price_max);
}

/** Returns which of two prices are ceilings: all offers of that price let the seller take less. */
export function getCeilings(offers: readonly Terms[], min: number | null, max: number | null): PriceCeilings {
  const isAlwaysCeiling = (price: number | null) => {
    const asked = offers.filter(({ amount }) => amount === price);
    return asked.length > 0 && asked.every(isCeiling);
  };
  return { min: isAlwaysCeiling(min), max: isAlwaysCeiling(max) };
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

/** The terms of a route as one source declares them. */
type DeclaredTerms = Pick<DeclaredRoute, 'terms' | 'network_assumed'>;

/**
 * Returns whether two declarations of a route contradict each other in price: both have one, and no amount is in both.
 * Amounts on networks that both state are compared with each other alone.
 */
export function isOtherPrice(one: DeclaredTerms, other: DeclaredTerms): boolean {
  if (one.terms.length === 0 || other.terms.length === 0) return false;
  const pairs = one.terms.flatMap((offer) => other.terms.map((beside) => [offer, beside] as const));
  const isStated = !one.network_assumed && !other.network_assumed;
  const shared = isStated ? pairs.filter(([offer, beside]) => offer.network === beside.network) : [];
  const compared = shared.length > 0 ? shared : pairs;
  return compared.every(([offer, beside]) => offer.amount !== beside.amount);
}

/** Returns the lowest amount of terms, of which there is at least one. */
export function getLowestAmount(terms: readonly Terms[]): number {
  return terms.map(({ amount }) => amount).reduce((a, b) => Math.min(a, b));
}
