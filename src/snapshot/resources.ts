import { findListing } from '../catalogue/listings.ts';
import { listPayableTerms } from '../evidence/terms.ts';
import { isLive, type LiveListing } from '../model/listing.ts';
import { findNetwork } from '../model/network.ts';
import type { Route } from '../model/route.ts';
import { DISCOVERY_EXTENSIONS, type DiscoveryFilters } from '../views/discovery-query.ts';
import type { ListingEntry } from './entry.ts';
import { countPayable, type PayableOffer } from './payable.ts';
import type { Reading } from './reading.ts';
import { listEntries, type Snapshot } from './snapshot.ts';

/** A route that can be paid for, with its listing. */
export interface Resource {
  listing: LiveListing;
  route: Route;
}

/** Which of the offers of a route a client can use: all that it asks must hold of one and the same. */
export type OfferMatch = (offer: PayableOffer) => boolean;

/** Where the resources of each listing begin, in the order of slugs, for one filter. */
interface Places {
  readonly entries: readonly ListingEntry[];
  /** For each entry, how many resources come before it. */
  readonly starts: readonly number[];
  readonly total: number;
}

/** How many filters' places are kept of one snapshot. */
const KEPT_FILTERS = 16;

const placesOf = new WeakMap<Snapshot, Map<string, Places>>();

/**
 * Lists a page of the routes that can be paid for, by slug and then as their listing has them, and how many there are.
 * Listings before the page are counted, not read, so a page costs what is on it. Call it within a transaction with the
 * reading of the snapshot, so that both are of one revision.
 */
export function listResources(
  { catalogue }: Pick<Reading, 'catalogue'>,
  snapshot: Snapshot,
  { offset, limit, ...filters }: DiscoveryFilters & { offset: number; limit: number },
): { total: number; resources: Resource[] } {
  const isMatch = buildOfferMatch(filters);
  const { entries, starts, total } = getPlaces(snapshot, JSON.stringify(filters), isMatch);
  const resources: Resource[] = [];
  const end = Math.min(offset + limit, total);
  for (let index = findPlace(starts, offset); (starts[index] ?? total) < end; index += 1) {
    const start = starts[index] ?? total;
    const found = listMatching(catalogue, entries[index], isMatch);
    resources.push(...found.slice(Math.max(0, offset - start), end - start));
  }
  return { total, resources };
}

/** Lists the routes of a listing that a payment could be made to, as far as an offer of theirs matches. */
export function listMatching(
  catalogue: Reading['catalogue'],
  entry: ListingEntry | undefined,
  isMatch: OfferMatch,
): Resource[] {
  const listing = entry && findListing(catalogue, { slug: entry.slug });
  if (!listing || !isLive(listing)) return [];
  return listing.routes
    .filter((route) => listPayableTerms(route).some(isMatch))
    .map((route): Resource => ({ listing, route }));
}

/** Builds the test of an offer from what a client asks. */
export function buildOfferMatch({ type, network, scheme, payTo, extensions }: DiscoveryFilters): OfferMatch {
  const key = network === undefined ? undefined : findNetwork(network)?.key;
  const isKnown =
    (type === undefined || type === 'http') &&
    (network === undefined || key !== undefined) &&
    (extensions === undefined || DISCOVERY_EXTENSIONS.some((name) => name === extensions));
  const account = payTo?.toLowerCase();
  return (offer) =>
    isKnown &&
    (key === undefined || offer.network === key) &&
    (scheme === undefined || offer.scheme === scheme.toLowerCase()) &&
    // Accounts on Base are the same in any case, those on Solana are not.
    (account === undefined ||
      (offer.network === 'base' ? offer.pay_to.toLowerCase() === account : offer.pay_to === payTo));
}

function getPlaces(snapshot: Snapshot, filter: string, isMatch: OfferMatch): Places {
  const kept = placesOf.get(snapshot) ?? new Map<string, Places>();
  placesOf.set(snapshot, kept);
  const places = kept.get(filter) ?? buildPlaces(snapshot, isMatch);
  kept.delete(filter);
  kept.set(filter, places);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_FILTERS && oldest !== undefined) kept.delete(oldest);
  return places;
}

function buildPlaces(snapshot: Snapshot, isMatch: OfferMatch): Places {
  const entries: ListingEntry[] = [];
  const starts: number[] = [];
  let total = 0;
  for (const entry of listEntries(snapshot)) {
    const count = countPayable(entry.payable, isMatch);
    if (count === 0) continue;
    entries.push(entry);
    starts.push(total);
    total += count;
  }
  return { entries, starts, total };
}

/** Finds the last entry that begins at or before an offset. */
function findPlace(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
