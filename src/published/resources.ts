import { LRUCache } from 'lru-cache';
import { findNetwork } from '../model/network.ts';
import { parseUsdc } from '../model/usdc.ts';
import { DISCOVERY_EXTENSIONS, type DiscoveryFilters } from '../views/discovery.ts';
import type { PublicHead } from '../views/listing/record.ts';
import { type PublicRoute, parseRoute } from '../views/listing/route-record.ts';
import { findAccount } from '../x402/offer-fields.ts';
import type { Facts, ListingFacts } from './facts.ts';
import type { Published } from './file.ts';
import { readHead } from './listings.ts';
import type { Snapshot } from './snapshot.ts';
import type { Walk } from './walk.ts';

/** A route that can be paid for, with the record of its listing. */
export interface Resource {
  listing: PublicHead;
  route: PublicRoute;
}

/** A page of resources, and the number of them in all. */
export interface ResourcePage {
  total: number;
  resources: Resource[];
}

/** Row numbers in a block. Counts by block spare a page from going through all listings before it. */
const BLOCK = 64;

/** Blocks per step of a walk. */
const STEP = 4;

/** The first listing of a block with a resource that passes the filter, and the number of resources before it. */
interface Block {
  listing: number;
  before: number;
}

/** Number of filters for which counts are kept, for each snapshot. */
const KEPT_COUNTS = 64;

const countsOf = new WeakMap<Snapshot, LRUCache<string, { total: number; blocks: Block[] }>>();

/**
 * Returns a page of the routes that can be paid for, oldest listing first, and the number of them in all. The file must stay at
 * the revision of the snapshot until the walk is done.
 */
export function* walkResources(
  published: Published,
  snapshot: Snapshot,
  { offset, limit, ...filters }: DiscoveryFilters & { offset: number; limit: number },
): Walk<ResourcePage> {
  const { total, blocks } = yield* countResources(published, snapshot, filters);
  const rows = published.prepare<{ listing: number; route: string }>(
    `SELECT listing, document AS route
     FROM (SELECT DISTINCT listing, position FROM offers WHERE listing >= +@from AND listing < +@end AND ${buildCondition(filters)}
       ORDER BY listing, position LIMIT +@limit OFFSET +@skipped)
     JOIN routes USING (listing, position)`,
  );
  const parameters = buildParameters(filters);
  const heads = new Map<number, PublicHead>();
  const resources: Resource[] = [];
  const first = blocks.findLastIndex(({ before }) => before <= offset);
  for (const { listing: from, before } of blocks.slice(Math.max(0, first))) {
    const left = limit - resources.length;
    if (left === 0) break;
    const place = { from, end: from - (from % BLOCK) + BLOCK, skipped: Math.max(0, offset - before), limit: left };
    for (const { listing, route } of rows.all({ ...parameters, ...place })) {
      const head = heads.get(listing) ?? readHead(published, listing);
      heads.set(listing, head);
      resources.push({ listing: head, route: parseRoute(route) });
    }
    yield;
  }
  return { total, resources };
}

/** Returns the number of resources that pass a filter, with counts by block, once for each snapshot. */
function* countResources(published: Published, snapshot: Snapshot, filters: DiscoveryFilters) {
  const kept = countsOf.get(snapshot) ?? new LRUCache({ max: KEPT_COUNTS });
  countsOf.set(snapshot, kept);
  const key = JSON.stringify(filters);
  const known = kept.get(key);
  if (known) return known;
  const rows = published.prepare<{ listing: number; count: number }>(
    `SELECT min(listing) AS listing, count(*) AS count
     FROM (SELECT DISTINCT listing, position FROM offers WHERE listing >= +@from AND listing < +@end AND ${buildCondition(filters)})
     GROUP BY listing / ${BLOCK} ORDER BY 1`,
  );
  const parameters = buildParameters(filters);
  const last = published.prepare<{ listing: number }>('SELECT coalesce(max(listing), -1) AS listing FROM offers').get();
  let total = 0;
  const blocks: Block[] = [];
  for (let from = 0; from <= (last?.listing ?? -1); from += STEP * BLOCK) {
    for (const { listing, count } of rows.all({ ...parameters, from, end: from + STEP * BLOCK })) {
      blocks.push({ listing, before: total });
      total += count;
    }
    yield;
  }
  kept.set(key, { total, blocks });
  return { total, blocks };
}

/** Returns a function that lists the positions of a listing's routes that pass a filter. */
export function openPayable(
  published: Published,
  facts: Facts,
  filters: DiscoveryFilters,
): (listing: ListingFacts) => ReadonlySet<number> {
  if (Object.values(filters).every((filter) => filter === undefined)) {
    return (listing) =>
      new Set(Array.from({ length: listing.count }, (_, at) => at).filter((at) => facts.isPayable(listing, at)));
  }
  const rows = published.prepare<{ position: number }>(
    `SELECT DISTINCT position FROM offers WHERE listing = @number AND ${buildCondition(filters)} ORDER BY position`,
  );
  const parameters = buildParameters(filters);
  return ({ number }) => new Set(rows.all({ ...parameters, number }).map(({ position }) => position));
}

/** Returns true if a walk with these filters takes tens of milliseconds, because they read each route. */
export function isLongWalk({ urlSubstring, curatedOnly }: DiscoveryFilters): boolean {
  return urlSubstring !== undefined || curatedOnly === true;
}

/** SQL conditions on the listing and on the route of an offer. */
const OF_LISTING = (test: string) => `EXISTS (SELECT 1 FROM listings WHERE number = offers.listing AND ${test})`;
const OF_ROUTE = (test: string) =>
  `EXISTS (SELECT 1 FROM routes WHERE routes.listing = offers.listing AND routes.position = offers.position AND ${test})`;

/** Builds the SQL condition on an offer from a client's filters: one and the same offer must meet all of them. */
function buildCondition(filters: DiscoveryFilters): string {
  const { type, network, scheme, payTo, asset, maxUsdPrice, urlSubstring, tags, curatedOnly } = filters;
  return [
    isKnown(filters) ? 'pay_to IS NOT NULL' : 'FALSE',
    network !== undefined && 'network = @network',
    scheme !== undefined && 'scheme = @scheme',
    type === 'mcp' && `(' ' || needs || ' ') LIKE '% mcp %'`,
    type === 'http' && `(' ' || needs || ' ') NOT LIKE '% mcp %'`,
    payTo !== undefined && 'pay_to = @payTo',
    asset !== undefined && 'lower(asset) = @asset',
    maxUsdPrice !== undefined && 'amount <= @maxUsdPrice',
    tags !== undefined && OF_LISTING('lower(category) IN (SELECT value FROM json_each(@tags))'),
    curatedOnly && OF_LISTING('verified_routes > 0'),
    curatedOnly && OF_ROUTE('verified = 1'),
    urlSubstring !== undefined && OF_ROUTE('instr(lower(url), @urlSubstring)'),
  ]
    .filter(Boolean)
    .join(' AND ');
}

function buildParameters({
  network,
  scheme,
  payTo,
  asset,
  maxUsdPrice,
  urlSubstring,
  tags,
}: DiscoveryFilters): Record<string, string | number> {
  return {
    ...(asset !== undefined && { asset: asset.toLowerCase() }),
    ...(maxUsdPrice !== undefined && { maxUsdPrice: parseUsdc(maxUsdPrice) ?? 0 }),
    ...(urlSubstring !== undefined && { urlSubstring: urlSubstring.toLowerCase() }),
    ...(tags !== undefined && { tags: JSON.stringify(tags) }),
    ...(network !== undefined && { network: findNetwork(network)?.key ?? '' }),
    ...(scheme !== undefined && { scheme: scheme.toLowerCase() }),
    ...(payTo !== undefined && { payTo: findAccount(payTo)?.account ?? payTo }),
  };
}

/** Returns true if this catalogue can have anything that passes the filters. */
function isKnown({ network, extensions = [], bundleSlugs = [] }: DiscoveryFilters): boolean {
  return (
    (network === undefined || findNetwork(network) !== undefined) &&
    extensions.every((asked) => DISCOVERY_EXTENSIONS.some((name) => name === asked)) &&
    bundleSlugs.length === 0
  );
}
