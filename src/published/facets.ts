import { getUsdcNumber, parseUsdc } from '../model/usdc.ts';
import type { Scores } from '../search/ranking.ts';
import { FACET_NAMES, FACET_VALUES, type FacetName, type Facets, type ListQuery } from '../views/listing/query.ts';
import { type Facts, isAtMost, type ListingFacts, type LowestPrices } from './facts.ts';
import { buildListingFilter, getRouteWishes, isOnNetwork } from './filters.ts';
import type { NamedRoutes } from './named-routes.ts';

/** A price limit, in atomic USDC and in USDC, the unit of `ORDERS.price`. */
interface Limit {
  readonly atomic: number;
  readonly usdc: number;
}

/**
 * Returns the number of matching listings for each value of each filter: those that would match if that filter had that value and
 * all others stayed as they are. Goes once through all listings, and through the routes of those that may match.
 */
export function countFacets(
  facts: Facts,
  query: ListQuery,
  { scores, named }: { scores?: Scores; named: NamedRoutes | undefined },
): Facets {
  const { category, network, verified, band, max_price_usdc, ...rest } = query;
  const isRestPassing = buildListingFilter(rest, named);
  const limit = readLimit(max_price_usdc);
  const { canPay } = getRouteWishes(query);
  const findPrices = facts.openLowestPrices(canPay);
  const isNamed = (listing: ListingFacts, position: number) => named?.get(listing.number)?.has(position) !== false;
  const isCounted =
    scores || named
      ? (listing: ListingFacts, position: number) =>
          scores?.isMatching(listing.number, position) !== false && isNamed(listing, position)
      : undefined;
  const facets = Object.fromEntries(
    FACET_NAMES.map((name) => [name, FACET_VALUES[name].map((value) => ({ value: String(value), count: 0 }))]),
  ) as Facets;
  const [ofCategories, ofBands] = [facets.category, facets.band].map(
    (counts) => new Map(counts.map((one) => [one.value, one])),
  );
  const increment = (counted: Facets[FacetName][number] | undefined) => {
    if (counted) counted.count += 1;
  };
  /** Returns true if a listing has a counted route that is on the network, verified if asked, and within the price limit. */
  const isPassing = (
    listing: ListingFacts,
    prices: LowestPrices,
    asked: Pick<ListQuery, 'network' | 'verified'>,
    most: Limit | undefined,
  ) => {
    if (asked.network !== undefined && !isOnNetwork(listing, asked.network, query.seen)) return false;
    if (asked.verified !== undefined && asked.verified !== listing.isVerified) return false;
    if (most !== undefined && listing.price > most.usdc) return false;
    // A listing of which no route counts is judged as a whole, unless a path names a route.
    if (listing.isWhole && query.path === undefined) return true;
    const isAnyRoute = asked.network === undefined && most === undefined && asked.verified !== true && !canPay;
    return isAnyRoute || isAtMost(prices.find(asked.network, asked.verified === true), most?.atomic);
  };
  const asked = { network, verified };
  const ofNetworks = FACET_VALUES.network.map((key) => ({ network: key, verified }));
  const ofStates = FACET_VALUES.verified.map((state) => ({ network, verified: state === 'true' }));
  const countListing = (listing: ListingFacts) => {
    const isOfCategory = category === undefined || listing.category === category;
    const isOfBand = band === undefined || listing.band === band;
    if ((!isOfCategory && !isOfBand) || isRestPassing?.(listing) === false) return;
    const prices = findPrices(listing, isCounted);
    if (!prices) return;
    if (isPassing(listing, prices, asked, limit)) {
      if (isOfBand) increment(ofCategories?.get(listing.category));
      if (isOfCategory) increment(ofBands?.get(listing.band));
    }
    if (!isOfCategory || !isOfBand) return;
    for (const [at, of] of ofNetworks.entries())
      if (isPassing(listing, prices, of, limit)) increment(facets.network[at]);
    for (const [at, of] of ofStates.entries())
      if (isPassing(listing, prices, of, limit)) increment(facets.verified[at]);
    for (const [at, step] of STEPS.entries()) {
      if (isPassing(listing, prices, asked, step)) increment(facets.max_price_usdc[at]);
    }
  };
  if (scores) scores.visit((number) => countListing(facts.get(number) as ListingFacts));
  else facts.visit(countListing);
  return facets;
}

const STEPS = FACET_VALUES.max_price_usdc.map((value) => readLimit(value) as Limit);

function readLimit(text: string | undefined): Limit | undefined {
  const atomic = text === undefined ? undefined : parseUsdc(text);
  return atomic === undefined ? undefined : { atomic, usdc: getUsdcNumber(atomic) };
}
