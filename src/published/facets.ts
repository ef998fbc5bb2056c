import { getUsdcNumber, parseUsdc } from '../model/usdc.ts';
import type { Scores } from '../search/ranking.ts';
import { FACET_VALUES, type FacetName, type Facets, type ListQuery } from '../views/listing/query.ts';
import { type Columns, getNetworkBits, TRAIT_BITS } from './columns.ts';
import { buildListingFilter, getRouteWishes } from './filters.ts';
import { getProductGroups } from './folding.ts';
import type { NamedRoutes } from './named-routes.ts';
import { isAtMost, openRoutePrices } from './route-facts.ts';

/** What a listing must have to pass a filter, by the values of the filter. */
const BITS = {
  category: FACET_VALUES.category.map((value) => TRAIT_BITS.category[value]),
  band: FACET_VALUES.band.map((value) => TRAIT_BITS.band[value]),
};
const STEPS = FACET_VALUES.max_price_usdc.map((value) => parseUsdc(value) ?? 0);
const STEPS_USDC = STEPS.map(getUsdcNumber);
const ANY = 0xffff;

/**
 * Counts the listings that match a query by the values of each filter: as many as would match if the filter had that
 * value, all others being as they are. In a search a product at several addresses counts once. Goes once through all listings, and through the routes of those that may match.
 */
export function countFacets(
  columns: Columns,
  query: ListQuery,
  { scores, named }: { scores: Scores | undefined; named: NamedRoutes | undefined },
): Facets {
  const { traits, keys, numbers, routes, slugs } = columns;
  const { category, network, verified, band, max_price_usdc, ...rest } = query;
  const isRestPassing = buildListingFilter(columns, rest, named);
  const wishes = getRouteWishes(query);
  const mostUsdc = wishes.most === undefined ? Number.POSITIVE_INFINITY : getUsdcNumber(wishes.most);
  const isCounted = (place: number, at: number) =>
    scores?.isAnswering(numbers[place] as number, at) !== false &&
    named?.get(numbers[place] as number)?.has(at) !== false;
  const findPrices = openRoutePrices(routes, wishes, scores || named ? isCounted : undefined);
  /** Without a wish for its price or network any route will do, of those that are named. */
  const hasCounted = (place: number) => {
    const positions = named?.get(numbers[place] as number);
    return positions === undefined || [...positions].some((at) => isCounted(place, at));
  };
  // A listing without routes is what is said of it as a whole.
  const isReached = (lowest: number | undefined) => lowest === undefined || isAtMost(lowest, wishes.most);

  const networkBits = getNetworkBits(query.seen);
  const categoryBit = category === undefined ? ANY : TRAIT_BITS.category[category];
  const bandBit = band === undefined ? ANY : TRAIT_BITS.band[band];
  const networkBit = network === undefined ? ANY : networkBits[network];
  const verifiedBit = verified === undefined ? ANY : TRAIT_BITS.verified[`${verified}`];
  const counts = {
    category: new Uint32Array(BITS.category.length),
    band: new Uint32Array(BITS.band.length),
    network: new Uint32Array(FACET_VALUES.network.length),
    verified: new Uint32Array(FACET_VALUES.verified.length),
    max_price_usdc: new Uint32Array(STEPS.length),
  };

  const groups = scores && getProductGroups(columns);
  const seen = new Map<Uint32Array, Set<number>>(Object.values(counts).map((counted) => [counted, new Set<number>()]));
  let group: number | undefined;
  const increment = (counted: Uint32Array, at: number) => {
    const key = group === undefined ? undefined : group * GROUP_STEP + at;
    if (key !== undefined && seen.get(counted)?.has(key)) return;
    if (key !== undefined) seen.get(counted)?.add(key);
    counted[at] = (counted[at] as number) + 1;
  };
  /** Counts a listing by the one value of its kind that it has. */
  const countBit = (counted: Uint32Array, bits: readonly number[], has: number) => {
    for (let at = 0; at < bits.length; at += 1) if ((has & (bits[at] as number)) !== 0) increment(counted, at);
  };

  for (let place = 0; place < slugs.length; place += 1) {
    const has = traits[place] as number;
    const [isOfCategory, isOfBand] = [(has & categoryBit) !== 0, (has & bandBit) !== 0];
    if (!isOfCategory && !isOfBand) continue;
    if (!isRestPassing(place)) continue;
    if (scores !== undefined && scores.weigh(numbers[place] as number) === undefined) continue;
    const found = findPrices(place);
    const price = keys.price[place] as number;
    const [isOfNetwork, isOfState, isCheap] = [(has & networkBit) !== 0, (has & verifiedBit) !== 0, price <= mostUsdc];
    // Where no filter is about routes, a route without a price is as good as any.
    const isAnyRoute = network === undefined && wishes.most === undefined && !wishes.isPriced && hasCounted(place);
    group = groups?.get(place);

    if (isOfNetwork && isOfState && isCheap && ((isAnyRoute && !wishes.isVerified) || isReached(found?.wished))) {
      if (isOfBand) countBit(counts.category, BITS.category, has);
      if (isOfCategory) countBit(counts.band, BITS.band, has);
    }
    if (!isOfCategory || !isOfBand) continue;
    if (isOfState && isCheap) {
      for (const [at, key] of FACET_VALUES.network.entries()) {
        const isOffered = (has & networkBits[key]) !== 0 && isReached(found?.onNetworks[at]);
        if (isOffered) increment(counts.network, at);
      }
    }
    if (isOfNetwork && isCheap) {
      if ((has & TRAIT_BITS.verified.true) !== 0) {
        if (isReached(found?.verified)) increment(counts.verified, PROVED);
      } else if (isAnyRoute || isReached(found?.all)) increment(counts.verified, UNPROVED);
    }
    if (isOfNetwork && isOfState) {
      for (let at = 0; at < STEPS.length; at += 1) {
        if (price > (STEPS_USDC[at] as number)) continue;
        if (found === undefined || isAtMost(found.wished, STEPS[at])) increment(counts.max_price_usdc, at);
      }
    }
  }
  return Object.fromEntries(
    Object.entries(counts).map(([name, counted]) => [name, listCounts(name as FacetName, counted)]),
  ) as Facets;
}

const PROVED = FACET_VALUES.verified.indexOf('true');
const UNPROVED = FACET_VALUES.verified.indexOf('false');

/** More than a filter has values. */
const GROUP_STEP = 64;

function listCounts(name: FacetName, counts: Uint32Array): Facets[FacetName] {
  return FACET_VALUES[name].map((value, at) => ({ value, count: counts[at] as number }));
}
