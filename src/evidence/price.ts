import type { Route } from '../model/route.ts';
import { getCurrentTerms } from './terms.ts';

export interface PriceRange {
  min: number;
  max: number;
}

/**
 * Gives the lowest and highest price of one request, in atomic USDC, over the routes' current terms; the declared range
 * where no route is itemised; null where no price is known.
 */
export function getPriceRange(routes: readonly Pick<Route, 'terms'>[], declared: PriceRange | null): PriceRange | null {
  const amounts = routes.flatMap(({ terms }) => getCurrentTerms(terms)).map(({ amount }) => amount);
  if (amounts.length === 0) return routes.length === 0 ? declared : null;
  return { min: amounts.reduce((a, b) => Math.min(a, b)), max: amounts.reduce((a, b) => Math.max(a, b)) };
}
