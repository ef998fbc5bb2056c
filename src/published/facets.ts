import { getUsdcNumber, parseUsdc } from '../model/usdc.ts';
import type { Scores } from '../search/ranking.ts';
import { FACET_VALUES, type Facets, type ListQuery } from '../views/listing/query.ts';
import { buildListingFilter, type Columns, getRouteWishes, TRAIT_BITS } from './columns.ts';
import { getProductGroups } from './folding.ts';
import type { NamedRoutes } from './named-routes.ts';
import { isAtMost, openRoutePrices } from './route-facts.ts';

/** A value of a filter by what a listing must have to pass it, and how many do. */
interface Counted<Key> {
  readonly value: string;
  readonly key: Key;
  count: number;
  /** Products at several addresses that are counted already. */
  readonly groups: Set<number>;
}

/**
 * Counts the listings that match a query by the values of each filter: as many as would match if the filter had that
 * value, all others being as they are. In a search
 * a product at several addresses counts once, as it is shown. Goes once through all listings, and through the routes of those that may match.
 */
export function countFacets(
  columns: Columns,
  query: ListQuery,
  scores: Scores | undefined,
  named: NamedRoutes | undefined,
): Facets {
  const { traits, keys, numbers, routes, slugs } = columns;
  const { category, network, verified, band, max_price_usdc, ...rest } = query;
  const isRestPassing = buildListingFilter(columns, rest);
  const wishes = getRouteWishes(query);
  const mostUsdc = wishes.most === undefined ? undefined : getUsdcNumber(wishes.most);
  const isCounted = (place: number, at: number) =>
    scores?.isAnswering(numbers[place] as number, at) !== false &&
    named?.get(numbers[place] as number)?.has(at) !== false;
  /** Without a wish for its price or network any route does, of those that are named. */
  const hasCounted = (place: number) => {
    const positions = named?.get(numbers[place] as number);
    return positions === undefined || [...positions].some((at) => isCounted(place, at));
  };
  // A listing without routes is what is said of it as a whole.
  const isReached = (lowest: number | undefined) => lowest === undefined || isAtMost(lowest, wishes.most);
  const findPrices = openRoutePrices(routes, wishes, scores || named ? isCounted : undefined);
  const groups = scores && getProductGroups(columns);
  const add = (one: Counted<unknown>, place: number) => {
    const group = groups?.get(place);
    if (group !== undefined && one.groups.has(group)) return;
    if (group !== undefined) one.groups.add(group);
    one.count += 1;
  };

  const bits = {
    category: category && TRAIT_BITS.category[category],
    band: band && TRAIT_BITS.band[band],
    network: network && TRAIT_BITS.network[network],
    verified: verified === undefined ? undefined : TRAIT_BITS.verified[`${verified}`],
  };
  const categories = FACET_VALUES.category.map((value) => startCount(value, TRAIT_BITS.category[value]));
  const bands = FACET_VALUES.band.map((value) => startCount(value, TRAIT_BITS.band[value]));
  const networks = FACET_VALUES.network.map((value) => startCount(value, value));
  const [proved, unproved] = FACET_VALUES.verified.map((value) => startCount(value, TRAIT_BITS.verified[value])) as [
    Counted<number>,
    Counted<number>,
  ];
  const prices = FACET_VALUES.max_price_usdc.map((value) => startCount(value, parseUsdc(value) ?? 0));

  for (let place = 0; place < slugs.length; place += 1) {
    const has = traits[place] as number;
    const isIn = (bit: number | undefined) => bit === undefined || (has & bit) !== 0;
    const [isOfCategory, isOfBand] = [isIn(bits.category), isIn(bits.band)];
    if (!isOfCategory && !isOfBand) continue;
    if (isRestPassing !== undefined && !isRestPassing(place)) continue;
    if (named !== undefined && !named.has(numbers[place] as number)) continue;
    if (scores !== undefined && scores.weigh(numbers[place] as number) === undefined) continue;
    const found = findPrices(place);
    const price = keys.price[place] as number;
    const [isOfNetwork, isOfState] = [isIn(bits.network), isIn(bits.verified)];
    const isCheap = mostUsdc === undefined || price <= mostUsdc;
    // What no route has to pass is not asked of one.
    const isAnyRoute = found === undefined || (network === undefined && wishes.most === undefined && hasCounted(place));

    if (isOfNetwork && isOfState && isCheap && ((isAnyRoute && !wishes.isVerified) || isReached(found?.wished))) {
      if (isOfBand) for (const one of categories) if (isIn(one.key)) add(one, place);
      if (isOfCategory) for (const one of bands) if (isIn(one.key)) add(one, place);
    }
    if (!isOfCategory || !isOfBand) continue;
    if (isOfState && isCheap) {
      for (const one of networks) {
        if (isIn(TRAIT_BITS.network[one.key]) && isReached(found?.onNetworks[one.key])) add(one, place);
      }
    }
    if (isOfNetwork && isCheap) {
      if (isIn(proved.key) && isReached(found?.verified)) add(proved, place);
      if (isIn(unproved.key) && (isAnyRoute || isReached(found?.all))) add(unproved, place);
    }
    if (isOfNetwork && isOfState) {
      for (const one of prices) {
        if (price <= getUsdcNumber(one.key) && (found === undefined || isAtMost(found.wished, one.key)))
          add(one, place);
      }
    }
  }
  return {
    category: listCounts(categories),
    network: listCounts(networks),
    verified: listCounts([proved, unproved]),
    band: listCounts(bands),
    max_price_usdc: listCounts(prices),
  };
}

function startCount<Key>(value: string, key: Key): Counted<Key> {
  return { value, key, count: 0, groups: new Set() };
}

function listCounts(counted: readonly Counted<unknown>[]): Facets['category'] {
  return counted.map(({ value, count }) => ({ value, count }));
}
