import { listNeeds } from '../evidence/abilities.ts';
import { getProviderDomain } from '../evidence/domains.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { Category } from '../model/catalogue.ts';
import { getHost, type LiveListing, listRouteCautions, type Reliability } from '../model/listing.ts';
import { type NetworkKey, networkKey } from '../model/network.ts';
import { isToolPath } from '../model/route.ts';
import { grow } from '../search/inverted-index.ts';
import { type KeyedSort, ORDERS } from './orders.ts';

/**
 * Points added to relevance (at most 1) for verification and for reliability. They order listings that fit equally well, and no
 * more.
 */
const VERIFIED_BONUS = 0.01;
const RELIABILITY_BONUS = 0.01;

/** Points subtracted for a mark: more than verification and reliability can add. */
const MARK_MALUS = 0.021;

/** Highest bonus that a listing can have besides its words. */
export const BONUS_MAX = VERIFIED_BONUS + RELIABILITY_BONUS;

/** Flags of a route, as bits. */
const VERIFIED = 1;
const DANGER = 2;
const PAYABLE = 4;
const SET_ASIDE = 8;

const NETWORKS = networkKey.options;
const SORTS = Object.keys(ORDERS) as KeyedSort[];

/**
 * A route as its facts are stored: its flags, and for each current offer the position of its network in `NETWORKS`, its amount in
 * atomic USDC, and its needs.
 */
type StoredRoute = [bits: number, ...offers: [network: number, amount: number, needs: string][]];

/** Encodes as JSON the facts about a listing's routes that filters and orders read. */
export function encodeFacts(listing: LiveListing): string {
  const routes = listing.routes.map((route): StoredRoute => {
    // Routes that are only named by others are not recommended.
    const offers = route.set_aside ? [] : getCurrentTerms(route.terms);
    const isTool = isToolPath(route.path);
    const isDanger = listRouteCautions(listing.cautions, route).some(({ severity }) => severity === 'danger');
    const bits =
      (route.verification === 'settlement-verified' ? VERIFIED : 0) |
      (isDanger ? DANGER : 0) |
      (route.set_aside ? SET_ASIDE : 0) |
      (offers.some(({ pay_to }) => pay_to !== null) ? PAYABLE : 0);
    return [
      bits,
      ...offers.map((offer): StoredRoute[1] => [
        NETWORKS.indexOf(offer.network),
        offer.amount,
        listNeeds(offer, { isTool }).join(' '),
      ]),
    ];
  });
  return JSON.stringify(routes);
}

/**
 * The facts about a listing as a whole that filters read. The value that each order compares has the order's name, see `ORDERS`.
 */
export interface ListingFacts extends Readonly<Record<KeyedSort, number>> {
  readonly number: number;
  readonly slug: string;
  /** Provider's name in lower case. */
  readonly provider: string;
  /** Registered domain of its host; for a host without one, the host with its port. */
  readonly domain: string;
  readonly category: Category;
  readonly band: Reliability['band'];
  readonly isVerified: boolean;
  readonly networks: readonly string[];
  /** Those of `networks` on which dated evidence shows that payment is advertised. */
  readonly seenNetworks: readonly string[];
  /** Number shared by the listings of one product at several addresses (`product.ts`); null if not known. */
  readonly product: number | null;
  /** Points added to its score in the order of relevance. */
  readonly bonus: number;
  /** Number of its first document in the `InvertedIndex`. */
  readonly first: number;
  /** Number of its routes. */
  readonly count: number;
  /** True if none of its routes counts, so that it is judged as a whole. */
  readonly isWhole: boolean;
}

/** A row of a live listing, as `FACTS_COLUMNS` reads it. */
export interface FactsRow extends Readonly<Record<KeyedSort, number>> {
  readonly number: number;
  readonly slug: string;
  readonly category: Category;
  readonly reliability_band: Reliability['band'];
  readonly reliability_score: number | null;
  readonly verified_routes: number;
  readonly networks: string;
  readonly seen_networks: string;
  readonly provider_key: string;
  readonly base_url: string;
  readonly domain: string;
  readonly product: number | null;
  readonly marked: string | null;
  readonly facts: string;
}

/** The columns of a `FactsRow`, selected from `listings` joined with `search_entries`. */
export const FACTS_COLUMNS = `number, slug, category, reliability_band, reliability_score, verified_routes, networks, seen_networks, provider_key, base_url, domain,
  product, marked, ${SORTS.map((sort) => `${ORDERS[sort].sql} AS ${sort}`).join(', ')}, facts`;

/** The conditions that one and the same route must meet. */
export interface RouteWishes {
  readonly network?: NetworkKey | undefined;
  readonly isVerified: boolean;
  /** Highest price, in atomic USDC. */
  readonly most?: number | undefined;
  /** Returns true if a client can pay an offer with these needs; undefined for any client. */
  readonly canPay?: ((needs: readonly string[]) => boolean) | undefined;
}

/** Returns true if the route at a position of a listing passes. */
export type RouteFilter = (listing: ListingFacts, position: number) => boolean;

/**
 * The lowest prices of a listing in atomic USDC, by network (undefined: any) and for verified routes or all; `Infinity` if there
 * is none.
 */
export interface LowestPrices {
  find(network: NetworkKey | undefined, isVerified: boolean): number;
}

/** The facts about all live listings and their routes that filters, orders and facets read. */
export type Facts = ReturnType<typeof createFacts>;

/** Creates facts without any listing. */
export function createFacts() {
  /** Listings by row number. */
  const listings: (ListingFacts | undefined)[] = [];
  let size = 0;
  /** Number of live listings of each product. */
  const addresses = new Map<number, number>();
  /** Routes by the number of their document. */
  let bits = new Uint8Array(1024);
  let firstOffers = new Uint32Array(1024);
  let offerCounts = new Uint16Array(1024);
  /** Offers of all routes, one after the other. */
  let amounts = new Float64Array(1024);
  let networks = new Uint8Array(1024);
  let needs = new Uint16Array(1024);
  let offers = 0;
  /** Lists of needs, networks and provider names repeat a lot, so each is in memory once. */
  const needLists: string[] = [];
  const needNumbers = new Map<string, number>();
  const known = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();

  const intern = (text: string) => {
    const first = known.get(text) ?? text;
    known.set(first, first);
    return first;
  };
  const internList = (text: string) => {
    const list = lists.get(text) ?? (text === '' ? [] : text.split(' '));
    lists.set(text, list);
    return list;
  };
  const countAddress = (product: number | null | undefined, step: 1 | -1) => {
    if (product === null || product === undefined) return;
    const count = (addresses.get(product) ?? 0) + step;
    if (count === 0) addresses.delete(product);
    else addresses.set(product, count);
  };
  const numberNeeds = (text: string) => {
    const number = needNumbers.get(text) ?? needLists.push(text) - 1;
    needNumbers.set(text, number);
    return number;
  };
  const putOffers = (document: number, stored: StoredRoute) => {
    const [ofRoute, ...ofOffers] = stored;
    if (document >= bits.length) {
      [bits, firstOffers, offerCounts] = [
        grow(bits, document),
        grow(firstOffers, document),
        grow(offerCounts, document),
      ];
    }
    // A changed route mostly has no more offers than before, and then reuses their place.
    const place = ofOffers.length <= (offerCounts[document] as number) ? (firstOffers[document] as number) : offers;
    const end = place + ofOffers.length;
    if (end > amounts.length) [amounts, networks, needs] = [grow(amounts, end), grow(networks, end), grow(needs, end)];
    offers = Math.max(offers, end);
    bits[document] = ofRoute;
    firstOffers[document] = place;
    offerCounts[document] = ofOffers.length;
    for (const [at, [network, amount, text]] of ofOffers.entries()) {
      amounts[place + at] = amount;
      networks[place + at] = network;
      needs[place + at] = numberNeeds(text);
    }
  };

  /**
   * Returns a function that finds the lowest price of a route that meets the wishes, in atomic USDC; `Infinity` if no offer does.
   */
  const openPrices = ({ network, isVerified, canPay }: Omit<RouteWishes, 'most'>) => {
    const wished = network === undefined ? undefined : NETWORKS.indexOf(network);
    const isPayable = canPay && needLists.map((text) => canPay(internList(text)));
    return (document: number): number => {
      if (isVerified && ((bits[document] as number) & VERIFIED) === 0) return Number.POSITIVE_INFINITY;
      let lowest = Number.POSITIVE_INFINITY;
      const first = firstOffers[document] as number;
      const end = first + (offerCounts[document] as number);
      for (let at = first; at < end; at += 1) {
        if (wished !== undefined && networks[at] !== wished) continue;
        if (isPayable !== undefined && !isPayable[needs[at] as number]) continue;
        if ((amounts[at] as number) < lowest) lowest = amounts[at] as number;
      }
      return lowest;
    };
  };

  /**
   * Returns a function that finds the lowest prices of a listing over its counted routes; undefined if no route counts. The
   * prices that it returns are valid until its next call.
   */
  const openLowestPrices = (canPay: RouteWishes['canPay']) => {
    const isPayable = canPay && needLists.map((text) => canPay(internList(text)));
    /** For any network, then for each network: the lowest price of all routes, and of verified ones. */
    const lowest = new Float64Array(2 * (1 + NETWORKS.length));
    const prices: LowestPrices = {
      find: (network, isVerified) =>
        lowest[2 * (network === undefined ? 0 : 1 + NETWORKS.indexOf(network)) + Number(isVerified)] as number,
    };
    return (listing: ListingFacts, isCounted?: RouteFilter): LowestPrices | undefined => {
      let isAnyCounted = false;
      lowest.fill(Number.POSITIVE_INFINITY);
      for (let position = 0; position < Math.max(1, listing.count); position += 1) {
        if (isCounted !== undefined && !isCounted(listing, position)) continue;
        isAnyCounted = true;
        if (listing.count === 0) break;
        const document = listing.first + position;
        const isVerified = ((bits[document] as number) & VERIFIED) !== 0;
        const first = firstOffers[document] as number;
        const end = first + (offerCounts[document] as number);
        for (let at = first; at < end; at += 1) {
          if (isPayable !== undefined && !isPayable[needs[at] as number]) continue;
          const amount = amounts[at] as number;
          for (const kind of [0, 2 * (1 + (networks[at] as number))]) {
            if (amount < (lowest[kind] as number)) lowest[kind] = amount;
            if (isVerified && amount < (lowest[kind + 1] as number)) lowest[kind + 1] = amount;
          }
        }
      }
      return isAnyCounted ? prices : undefined;
    };
  };

  return {
    /** Number of live listings. */
    getSize: () => size,
    get: (number: number): ListingFacts | undefined => listings[number],
    /** Adds a live listing, or replaces the facts about it. `first` is the number of its first document. */
    put(row: FactsRow, first: number): void {
      const { number, reliability_score, marked } = row;
      const routes: StoredRoute[] = JSON.parse(row.facts);
      for (const [at, route] of routes.entries()) putOffers(first + at, route);
      const isVerified = row.verified_routes > 0;
      const bonus =
        (isVerified ? VERIFIED_BONUS : 0) +
        (RELIABILITY_BONUS * (reliability_score ?? 0)) / 100 -
        (marked === null ? 0 : MARK_MALUS);
      if (listings[number] === undefined) size += 1;
      countAddress(listings[number]?.product, -1);
      countAddress(row.product, 1);
      listings[number] = {
        number,
        slug: row.slug,
        provider: intern(row.provider_key),
        domain: intern(getProviderDomain(getHost(row.base_url), row.domain)),
        category: intern(row.category) as Category,
        band: intern(row.reliability_band) as Reliability['band'],
        isVerified,
        networks: internList(row.networks),
        seenNetworks: internList(row.seen_networks),
        product: row.product,
        bonus,
        first,
        count: routes.length,
        isWhole: routes.every(([ofRoute]) => (ofRoute & SET_ASIDE) !== 0),
        price: row.price,
        updated: row.updated,
        reliability: row.reliability,
        latency: row.latency,
        proof: row.proof,
      };
    },
    remove(number: number): void {
      if (listings[number] !== undefined) size -= 1;
      countAddress(listings[number]?.product, -1);
      listings[number] = undefined;
    },
    /** Calls `visit` with each live listing, in the order of row numbers. */
    visit(visit: (listing: ListingFacts) => void): void {
      for (const listing of listings) if (listing !== undefined) visit(listing);
    },
    /** Returns true if other live listings are the same product at other addresses. */
    isElsewhere: ({ product }: ListingFacts) => product !== null && (addresses.get(product) ?? 0) > 1,
    /** Returns true if a route has a grave caution. */
    isDangerous: ({ first }: ListingFacts, position: number) => ((bits[first + position] as number) & DANGER) !== 0,
    /** Returns true if a route has an offer with a known payee. */
    isPayable: ({ first }: ListingFacts, position: number) => ((bits[first + position] as number) & PAYABLE) !== 0,
    openPrices,
    openLowestPrices,
    /** Builds the filter of routes; undefined where every route passes. */
    buildRouteFilter(wishes: RouteWishes): RouteFilter | undefined {
      const { network, most, isVerified, canPay } = wishes;
      if (network === undefined && most === undefined && !isVerified && !canPay) return undefined;
      const findLowest = openPrices(wishes);
      return ({ first }, position) => isAtMost(findLowest(first + position), most);
    },
  };
}

/** Returns true if a lowest price is within a limit, both in atomic USDC. No price (`Infinity`) is within no limit. */
export function isAtMost(price: number, most: number | undefined): boolean {
  return price !== Number.POSITIVE_INFINITY && (most === undefined || price <= most);
}
