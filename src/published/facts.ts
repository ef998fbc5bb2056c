import { listNeeds } from '../evidence/abilities.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { Category } from '../model/catalogue.ts';
import { getHost, type LiveListing, listRouteCautions, type Reliability } from '../model/listing.ts';
import { type NetworkKey, networkKey } from '../model/network.ts';
import { isToolPath } from '../model/route.ts';
import { grow } from '../search/inverted-index.ts';
import { type KeyedSort, ORDERS } from './orders.ts';

/** Points of relevance (at most 1) for verification and reliability: enough to order listings that fit alike, and no more. */
const VERIFIED_BONUS = 0.01;
const RELIABILITY_BONUS = 0.01;

/** Points that a mark takes away: more than verification and reliability can give. */
const MARK_MALUS = 0.021;

/** The most that a listing has beyond its words. */
export const BONUS_MAX = VERIFIED_BONUS + RELIABILITY_BONUS;

/** Bits of a route. */
const VERIFIED = 1;
const DANGER = 2;
const PAYABLE = 4;

const NETWORKS = networkKey.options;
const SORTS = Object.keys(ORDERS) as KeyedSort[];

/** A route as facts are stored of it: its bits, and of each current offer the network by its place, atomic USDC, and its needs. */
type StoredRoute = [bits: number, ...offers: [network: number, amount: number, needs: string][]];

/** Writes down as JSON what filters and orders ask of the routes of a listing. */
export function encodeFacts(listing: LiveListing): string {
  const routes = listing.routes.map((route): StoredRoute => {
    // Nobody is sent to what only others name.
    const offers = route.set_aside ? [] : getCurrentTerms(route.terms);
    const isTool = isToolPath(route.path);
    const isDanger = listRouteCautions(listing.cautions, route).some(({ severity }) => severity === 'danger');
    const bits =
      (route.verification === 'settlement-verified' ? VERIFIED : 0) |
      (isDanger ? DANGER : 0) |
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

/** What is asked of a listing as a whole. What each order compares goes by its name, see `ORDERS`. */
export interface ListingFacts extends Readonly<Record<KeyedSort, number>> {
  readonly number: number;
  readonly slug: string;
  /** Provider's name in lower case. */
  readonly provider: string;
  /** Registered domain of its host; of a host without one, that and its port. */
  readonly domain: string;
  readonly category: Category;
  readonly band: Reliability['band'];
  readonly isVerified: boolean;
  readonly networks: readonly string[];
  /** Of these, those on which dated evidence shows that payment is advertised. */
  readonly seenNetworks: readonly string[];
  /** Number that the listings of one product at several addresses have in common (`product.ts`); null if not known. */
  readonly product: number | null;
  /** What it has beyond its words where relevance decides. */
  readonly bonus: number;
  /** Number of its first document, see `InvertedIndex`. */
  readonly first: number;
  /** Number of its routes. */
  readonly count: number;
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

/** The columns of a `FactsRow`, of `listings` joined with `search_entries`. */
export const FACTS_COLUMNS = `number, slug, category, reliability_band, reliability_score, verified_routes, networks, seen_networks, provider_key, base_url, domain,
  product, marked, ${SORTS.map((sort) => `${ORDERS[sort].sql} AS ${sort}`).join(', ')}, facts`;

/** What one and the same route must be. */
export interface RouteWishes {
  readonly network?: NetworkKey | undefined;
  readonly isVerified: boolean;
  /** In atomic USDC. */
  readonly most?: number | undefined;
  /** Says whether a client can pay an offer with these needs; undefined for any client. */
  readonly canPay?: ((needs: readonly string[]) => boolean) | undefined;
}

/** Says of a route of a listing, by its position, whether it passes. */
export type RouteFilter = (listing: ListingFacts, position: number) => boolean;

/** Lowest prices of some routes of a listing in atomic USDC, on a network or any, of verified routes or all; `Infinity` without one. */
export interface LowestPrices {
  find(network: NetworkKey | undefined, isVerified: boolean): number;
}

/** What filters, orders and facets ask of the live listings and of their routes. */
export type Facts = ReturnType<typeof createFacts>;

/** Makes facts of nothing. */
export function createFacts() {
  /** By row number. */
  const listings: (ListingFacts | undefined)[] = [];
  let size = 0;
  /** By document. */
  let bits = new Uint8Array(1024);
  let firstOffers = new Uint32Array(1024);
  let offerCounts = new Uint16Array(1024);
  /** By offer. */
  let amounts = new Float64Array(1024);
  let networks = new Uint8Array(1024);
  let needs = new Uint16Array(1024);
  let offers = 0;
  /** There are few different lists of needs, networks, and providers' names: each is in memory once. */
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
    // What changes mostly has as many offers as before.
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

  /** Returns what finds the lowest price of a route that is as wished, in atomic USDC; `Infinity` where no offer is. */
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
   * Returns what finds the lowest prices of a listing over those of its routes that count, by network and verification; undefined
   * where none counts. What it returns is good until the next listing is asked for.
   */
  const openLowestPrices = (canPay: RouteWishes['canPay']) => {
    const isPayable = canPay && needLists.map((text) => canPay(internList(text)));
    /** On any network and on each, of all routes and of verified ones. */
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
    /** Puts a live listing in the place of what was known of it. `first` is the number of its first document. */
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
      listings[number] = {
        ...{
          number,
          slug: row.slug,
          provider: intern(row.provider_key),
          domain: intern(getProviderDomain(row)),
          category: intern(row.category) as Category,
        },
        ...{ band: intern(row.reliability_band) as Reliability['band'], isVerified },
        ...{ networks: internList(row.networks), seenNetworks: internList(row.seen_networks) },
        ...{ product: row.product, bonus, first, count: routes.length },
        ...{
          price: row.price,
          updated: row.updated,
          reliability: row.reliability,
          latency: row.latency,
          proof: row.proof,
        },
      };
    },
    remove(number: number): void {
      if (listings[number] !== undefined) size -= 1;
      listings[number] = undefined;
    },
    /** Calls `visit` with each live listing, in the order of their numbers. */
    visit(visit: (listing: ListingFacts) => void): void {
      for (const listing of listings) if (listing !== undefined) visit(listing);
    },
    /** Says whether something grave speaks against a route. */
    isDangerous: ({ first }: ListingFacts, position: number) => ((bits[first + position] as number) & DANGER) !== 0,
    /** Says whether a route has an offer with a known payee. */
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

function getProviderDomain({ base_url, domain }: Pick<FactsRow, 'base_url' | 'domain'>): string {
  const host = getHost(base_url);
  return host.replace(/:\d+$/, '') === domain ? host : domain;
}

/** Says whether a lowest price passes a limit, both in atomic USDC. No price (`Infinity`) passes none. */
export function isAtMost(price: number, most: number | undefined): boolean {
  return price !== Number.POSITIVE_INFINITY && (most === undefined || price <= most);
}
