import { endianness } from 'node:os';
import { getCurrentTerms } from '../evidence/terms.ts';
import { type LiveListing, listRouteCautions } from '../model/listing.ts';
import { type NetworkKey, networkKey } from '../model/network.ts';

/** What filters and orders know of a route: its bits, and its lowest price on each network. */
const NETWORK_KEYS = networkKey.options;
const FACTS = 1 + NETWORK_KEYS.length;
const VERIFIED = 1;
const DANGER = 2;
const PAYABLE = 4;

/** Stands for no price: no filter lets it pass. */
const NO_PRICE = Number.POSITIVE_INFINITY;

/** Bytes of a fact: a price may need more than 32 bits, and all facts are stored alike. */
const BYTES = 8;

const IS_BIG_ENDIAN = endianness() === 'BE';

/** What filters and orders know of the routes of the live listings, by the place of their listing. */
export interface RouteFacts {
  /** Where the routes of each listing begin, and at the end where the last ones do. */
  readonly starts: Uint32Array;
  readonly facts: Float64Array;
}

/** Writes down what filters know of the routes of a listing: 64-bit floats, little-endian. */
export function encodeRouteFacts(listing: LiveListing): Buffer {
  const facts = listing.routes.flatMap((route) => {
    const cautions = listRouteCautions(listing, route);
    const isVerified = route.verification === 'settlement-verified';
    const isDanger = cautions.some(({ severity }) => severity === 'danger');
    const offers = route.set_aside ? [] : getCurrentTerms(route.terms);
    const prices = NETWORK_KEYS.map((key) => {
      const amounts = offers.filter(({ network }) => network === key).map(({ amount }) => amount);
      return Math.min(...amounts, NO_PRICE);
    });
    const isPayable = offers.some(({ pay_to }) => pay_to !== null);
    return [(isVerified ? VERIFIED : 0) | (isDanger ? DANGER : 0) | (isPayable ? PAYABLE : 0), ...prices];
  });
  const bytes = Buffer.alloc(facts.length * BYTES);
  for (const [at, fact] of facts.entries()) bytes.writeDoubleLE(fact, at * BYTES);
  return bytes;
}

/** An offer of a route that a client can pay: the place of its listing, the position of the route, and the price. */
export interface PayableOffer {
  readonly place: number;
  readonly position: number;
  readonly network: NetworkKey;
  /** Atomic USDC. */
  readonly amount: number;
}

/** Builds the facts of the same routes with the prices of these offers alone; other routes have no price. */
export function narrowRouteFacts({ starts, facts }: RouteFacts, offers: Iterable<PayableOffer>): RouteFacts {
  const narrowed = facts.map((fact, at) => (at % FACTS === 0 ? fact : NO_PRICE));
  for (const { place, position, network, amount } of offers) {
    const key = NETWORK_KEYS.indexOf(network);
    const at = (starts[place] as number) + position * FACTS + 1 + key;
    narrowed[at] = Math.min(amount, narrowed[at] ?? NO_PRICE);
  }
  return { starts, facts: narrowed };
}

/** Puts together what is stored of the routes of listings, in the order of their places. */
export function packRouteFacts(stored: readonly (Buffer | Float64Array)[]): RouteFacts {
  const lengths = stored.map((facts) => (Buffer.isBuffer(facts) ? facts.length / BYTES : facts.length));
  const starts = new Uint32Array(stored.length + 1);
  for (const [at, length] of lengths.entries()) starts[at + 1] = (starts[at] as number) + length;
  const all = new Float64Array(starts.at(-1) ?? 0);
  for (const [at, facts] of stored.entries()) {
    const start = starts[at] as number;
    if (!Buffer.isBuffer(facts)) all.set(facts, start);
    else {
      const bytes = Buffer.from(all.buffer, start * BYTES, facts.length);
      facts.copy(bytes);
      if (IS_BIG_ENDIAN) bytes.swap64();
    }
  }
  return { starts, facts: all };
}

/** Gives what is known of the routes of the listing at a place. */
export function getRouteFacts({ starts, facts }: RouteFacts, place: number): Float64Array {
  return facts.subarray(starts[place], starts[place + 1]);
}

/** Lists the positions of the routes of a listing that can be paid for: they have an offer with a known payee. */
export function listPayablePositions({ starts, facts }: RouteFacts, place: number): Set<number> {
  const positions = new Set<number>();
  const [first, end] = [starts[place] as number, starts[place + 1] as number];
  for (let start = first; start < end; start += FACTS)
    if (((facts[start] as number) & PAYABLE) !== 0) positions.add((start - first) / FACTS);
  return positions;
}

/** Says whether something grave speaks against a route. */
export function isDangerous({ starts, facts }: RouteFacts, place: number, position: number): boolean {
  return ((facts[(starts[place] as number) + position * FACTS] ?? 0) & DANGER) !== 0;
}

/** Finds the lowest price of a route, in atomic USDC, on one network or any; undefined where it has none. */
export function findRoutePrice(
  { starts, facts }: RouteFacts,
  place: number,
  position: number,
  network: NetworkKey | undefined,
): number | undefined {
  const start = (starts[place] as number) + position * FACTS;
  let lowest = NO_PRICE;
  for (const [at, key] of NETWORK_KEYS.entries())
    if (network === undefined || network === key) lowest = Math.min(lowest, facts[start + 1 + at] ?? NO_PRICE);
  return lowest === NO_PRICE ? undefined : lowest;
}

/** Says whether a listing has a route that passes; one without routes on record is what is said of it as a whole. */
export function hasPassingRoute(facts: RouteFacts, isPassing: RouteFilter, place: number): boolean {
  const { starts } = facts;
  return starts[place] === starts[place + 1] || findPassingRoute(facts, isPassing, place) >= 0;
}

/** Finds the position of the first route of a listing that passes; -1 where none does, or there is nothing to pass. */
export function findPassingRoute({ starts }: RouteFacts, isPassing: RouteFilter | undefined, place: number): number {
  const count = ((starts[place + 1] as number) - (starts[place] as number)) / FACTS;
  if (isPassing !== undefined) {
    for (let position = 0; position < count; position += 1) if (isPassing(place, position)) return position;
  }
  return -1;
}

/** What one and the same route must be. */
export interface RouteWishes {
  readonly network?: NetworkKey | undefined;
  readonly isVerified: boolean;
  /** In atomic USDC. */
  readonly most?: number | undefined;
  /** It has a price at all: one without was left out by what the client can do. */
  readonly isPriced: boolean;
}

/** Says of a route, by the place of its listing and its position there, whether it passes. */
export type RouteFilter = (place: number, position: number) => boolean;

/** Builds the filter of routes; undefined where every route passes. */
export function buildRouteFilter(
  { starts, facts }: RouteFacts,
  { network, isVerified, most, isPriced }: RouteWishes,
): RouteFilter | undefined {
  if (network === undefined && most === undefined && !isVerified && !isPriced) return undefined;
  const networks = NETWORK_KEYS.flatMap((key, at) => (network === undefined || network === key ? 1 + at : []));
  return (place, position) => {
    const start = (starts[place] as number) + position * FACTS;
    if (isVerified && ((facts[start] as number) & VERIFIED) === 0) return false;
    for (const at of networks) if (isAtMost(facts[start + at] as number, most)) return true;
    return false;
  };
}

/** The lowest prices of the routes of a listing that can pass, in atomic USDC; `NO_PRICE` where no route can. */
export interface RoutePrices {
  /** On each network in the order of their keys, of routes that are verified if that is wished. */
  readonly onNetworks: Float64Array;
  /** On the networks wished for: of those routes, of all routes, and of verified ones. */
  wished: number;
  all: number;
  verified: number;
}

/**
 * Makes a function that finds the lowest prices of a listing in one go, each as if one of the wishes were another: with
 * them it is known what passes by any network, by any price, verified or not. Undefined for a listing without routes. The
 * object is the same each time, and its loops make no objects: they pass every route of the catalogue.
 */
export function openRoutePrices(
  { starts, facts }: RouteFacts,
  { network, isVerified }: Pick<RouteWishes, 'network' | 'isVerified'>,
  isCounted: RouteFilter | undefined,
): (place: number) => RoutePrices | undefined {
  const onNetworks = new Float64Array(NETWORK_KEYS.length);
  const isWished = NETWORK_KEYS.map((key) => network === undefined || network === key);
  const found: RoutePrices = { onNetworks, wished: NO_PRICE, all: NO_PRICE, verified: NO_PRICE };
  return (place) => {
    const [first, end] = [starts[place] as number, starts[place + 1] as number];
    if (first === end) return undefined;
    onNetworks.fill(NO_PRICE);
    let [all, verified] = [NO_PRICE, NO_PRICE];
    for (let start = first; start < end; start += FACTS) {
      if (isCounted !== undefined && !isCounted(place, (start - first) / FACTS)) continue;
      const isOfVerified = ((facts[start] as number) & VERIFIED) !== 0;
      const isPassing = isOfVerified || !isVerified;
      for (let at = 0; at < onNetworks.length; at += 1) {
        const price = facts[start + 1 + at] as number;
        if (isPassing && price < (onNetworks[at] as number)) onNetworks[at] = price;
        if (!isWished[at]) continue;
        if (price < all) all = price;
        if (isOfVerified && price < verified) verified = price;
      }
    }
    found.all = all;
    found.verified = verified;
    found.wished = isVerified ? verified : all;
    return found;
  };
}

/** Says whether a lowest price passes a limit. No price passes none. */
export function isAtMost(price: number, most: number | undefined): boolean {
  return price !== NO_PRICE && (most === undefined || price <= most);
}
