import { LRUCache } from 'lru-cache';
import { isLive, type LiveListing } from '../model/listing.ts';
import { findNetwork } from '../model/network.ts';
import type { Route } from '../model/route.ts';
import { DISCOVERY_EXTENSIONS, type DiscoveryFilters } from '../views/discovery.ts';
import { findAccount } from '../x402/offer-fields.ts';
import { getRef } from './columns.ts';
import type { Published } from './file.ts';
import { findListing, type ListingRef } from './listings.ts';
import type { Snapshot } from './snapshot.ts';

/** A route that can be paid for, with its listing. */
export interface Resource {
  listing: LiveListing;
  route: Route;
}

/** Where the resources of each listing begin, in the order of slugs, for one filter. */
interface Places {
  readonly listings: readonly ListingRef[];
  /** For each listing, how many resources come before it. */
  readonly starts: readonly number[];
  readonly total: number;
}

/** For how many filters the places are kept, of one snapshot. */
const KEPT_FILTERS = 16;

const placesOf = new WeakMap<Snapshot, LRUCache<string, Places>>();

/**
 * Lists a page of the routes that can be paid for, by slug and then as their listing has them, and how many there are.
 * Listings before the page are counted, not read, so a page costs what is on it. Call it while the file stays at the
 * revision of the snapshot.
 */
export function listResources(
  published: Published,
  snapshot: Snapshot,
  { offset, limit, ...filters }: DiscoveryFilters & { offset: number; limit: number },
): { total: number; resources: Resource[] } {
  const { listings, starts, total } = getPlaces(published, snapshot, filters);
  const resources: Resource[] = [];
  const end = Math.min(offset + limit, total);
  for (let index = findPlace(starts, offset); (starts[index] ?? total) < end; index += 1) {
    const start = starts[index] ?? total;
    const found = listMatching(published, listings[index], filters);
    resources.push(...found.slice(Math.max(0, offset - start), end - start));
  }
  return { total, resources };
}

/** For how many filters the payable routes are kept, of one snapshot. */
const KEPT_PAYABLE = 4;

const payableOf = new WeakMap<Snapshot, LRUCache<string, ReadonlyMap<number, ReadonlySet<number>>>>();

/** Lists the positions of the routes that a filter lets through, by the row number of their listing, in their order. */
export function listPayable(
  published: Published,
  snapshot: Snapshot,
  filters: DiscoveryFilters,
): ReadonlyMap<number, ReadonlySet<number>> {
  const kept = payableOf.get(snapshot) ?? new LRUCache({ max: KEPT_PAYABLE });
  payableOf.set(snapshot, kept);
  const key = JSON.stringify(filters);
  const known = kept.get(key);
  if (known) return known;
  const rows = published.prepare<{ listing: number; position: number }>(
    `SELECT DISTINCT listing, position FROM offers WHERE ${buildCondition(filters)} ORDER BY listing, position`,
  );
  const positions = new Map<number, Set<number>>();
  for (const { listing, position } of rows.iterate(buildParameters(filters))) {
    const ofListing = positions.get(listing);
    if (ofListing) ofListing.add(position);
    else positions.set(listing, new Set([position]));
  }
  kept.set(key, positions);
  return positions;
}

/** Reads routes by their listing and their position there. */
export function readResources(
  published: Published,
  places: readonly { listing: ListingRef; position: number }[],
): Resource[] {
  const read = new Map<string, LiveListing>();
  return places.flatMap(({ listing: { slug }, position }) => {
    const listing = read.get(slug) ?? findListing(published, { slug });
    const route = listing?.routes[position];
    if (!listing || !isLive(listing) || !route) return [];
    read.set(slug, listing);
    return { listing, route };
  });
}

/** Counts the routes that a filter lets through, by the row number of their listing. */
function countMatching(published: Published, filters: DiscoveryFilters): Map<number, number> {
  const rows = published
    .prepare<{ listing: number; count: number }>(
      `SELECT listing, count(DISTINCT position) AS count FROM offers WHERE ${buildCondition(filters)} GROUP BY listing`,
    )
    .all(buildParameters(filters));
  return new Map(rows.map(({ listing, count }) => [listing, count]));
}

/** Lists the routes of a listing that a filter lets through, in the order of the listing. */
function listMatching(published: Published, ref: ListingRef | undefined, filters: DiscoveryFilters): Resource[] {
  const listing = ref && findListing(published, { slug: ref.slug });
  if (!listing || !isLive(listing)) return [];
  const rows = published
    .prepare<{ position: number }>(
      `SELECT DISTINCT position FROM offers WHERE listing = @listing AND ${buildCondition(filters)} ORDER BY position`,
    )
    .all({ ...buildParameters(filters), listing: ref.number });
  return rows.flatMap(({ position }) => {
    const route = listing.routes[position];
    return route ? { listing, route } : [];
  });
}

/** Builds the test of an offer from what a client asks, as SQL: all of it must hold of one and the same offer. */
function buildCondition(filters: DiscoveryFilters): string {
  const { type, network, scheme, payTo } = filters;
  return [
    isKnown(filters) ? 'pay_to IS NOT NULL' : 'FALSE',
    network !== undefined && 'network = @network',
    scheme !== undefined && 'scheme = @scheme',
    type === 'mcp' && `(' ' || needs || ' ') LIKE '% mcp %'`,
    type === 'http' && `(' ' || needs || ' ') NOT LIKE '% mcp %'`,
    payTo !== undefined && 'pay_to = @payTo',
  ]
    .filter(Boolean)
    .join(' AND ');
}

function buildParameters({ network, scheme, payTo }: DiscoveryFilters): Record<string, string> {
  return {
    ...(network !== undefined && { network: findNetwork(network)?.key ?? '' }),
    ...(scheme !== undefined && { scheme: scheme.toLowerCase() }),
    ...(payTo !== undefined && { payTo: findAccount(payTo)?.account ?? payTo }),
  };
}

/** Says whether this catalogue has what a client asks for at all. */
function isKnown({ network, extensions }: DiscoveryFilters): boolean {
  return (
    (network === undefined || findNetwork(network) !== undefined) &&
    (extensions === undefined || DISCOVERY_EXTENSIONS.some((name) => name === extensions))
  );
}

function getPlaces(published: Published, snapshot: Snapshot, filters: DiscoveryFilters): Places {
  const kept = placesOf.get(snapshot) ?? new LRUCache<string, Places>({ max: KEPT_FILTERS });
  placesOf.set(snapshot, kept);
  const key = JSON.stringify(filters);
  const places = kept.get(key) ?? buildPlaces(snapshot, countMatching(published, filters));
  kept.set(key, places);
  return places;
}

function buildPlaces({ columns }: Snapshot, counts: ReadonlyMap<number, number>): Places {
  const listings: ListingRef[] = [];
  const starts: number[] = [];
  let total = 0;
  for (const [place, number] of columns.numbers.entries()) {
    const count = counts.get(number);
    if (count === undefined) continue;
    listings.push(getRef(columns, place));
    starts.push(total);
    total += count;
  }
  return { listings, starts, total };
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
