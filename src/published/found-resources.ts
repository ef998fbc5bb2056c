import { LIKENESS_WEIGHT } from '../search/ranking.ts';
import type { DiscoverySearchQuery } from '../views/discovery.ts';
import { buildCursor, parseCursor } from './cursor.ts';
import type { ListingFacts } from './facts.ts';
import type { Published } from './file.ts';
import { readRouteAt } from './listings.ts';
import { openPayable, type Resource, walkResources } from './resources.ts';
import { getSearchIndex } from './search-index.ts';
import { DANGER_FACTOR } from './select.ts';
import type { Snapshot } from './snapshot.ts';
import { createTop } from './top.ts';
import type { Walk } from './walk.ts';

/** Most routes of one listing in a search, so that a listing with hundreds of routes does not fill the page. */
const ROUTES_PER_LISTING = 5;

export interface FoundResources {
  resources: Resource[];
  next_cursor: string | undefined;
  /** True if more routes match than are shown, on further pages or of these listings. */
  partial: boolean;
}

/** A route by its listing and its position there. */
interface RoutePlace {
  readonly listing: ListingFacts;
  readonly position: number;
}

/**
 * Finds all resources that the filters let through, without words, in the order of `walkResources`. Throws as `findResources`
 * does.
 */
export function* walkWithoutWords(
  published: Published,
  snapshot: Snapshot,
  { limit, cursor, ...filters }: Omit<DiscoverySearchQuery, 'query'>,
): Walk<FoundResources> {
  const offset = cursor === undefined ? 0 : parseCursor(cursor, filters, 'resources').after.key;
  const { total, resources } = yield* walkResources(published, snapshot, { ...filters, offset, limit });
  const next = offset + resources.length;
  const hasMore = resources.length > 0 && next < total;
  const next_cursor = hasMore ? buildCursor({ after: { key: next, slug: '' } }, filters, 'resources') : undefined;
  return { resources, next_cursor, partial: hasMore };
}

/**
 * Finds the routes that best fit a request: at most `ROUTES_PER_LISTING` of one listing, and for a product at several addresses
 * only those of the best address. A cursor is a position in the order, as in `selectListings`. Throws `bad_cursor` for a cursor
 * of another query. Call it while the file stays at the revision of the snapshot.
 */
export function findResources(
  published: Published,
  snapshot: Snapshot,
  { query: q, limit, cursor: text, ...filters }: DiscoverySearchQuery & { query: string },
): FoundResources {
  const query = { ...filters, q, limit };
  const cursor = text === undefined ? undefined : parseCursor(text, query, 'relevance');
  const { facts, vectors, ...index } = getSearchIndex(published, snapshot);
  const request = index.expand(q);
  const groups = cursor?.groups ?? request.groups;
  const scores = index.score(groups, request.vector);
  const listPayable = openPayable(published, facts, filters);
  const top = createTop<RoutePlace>(limit, compareRoutes);
  const { key: lastKey, ...last } = cursor?.after ?? { key: Number.NEGATIVE_INFINITY, slug: '' };
  const isShown = (key: number, { listing: { slug }, position }: RoutePlace) => {
    if (key !== lastKey) return key < lastKey;
    return slug < last.slug || (slug === last.slug && position <= (last.position ?? -1));
  };
  const getValue = ({ number, bonus }: ListingFacts, score: number) =>
    score + LIKENESS_WEIGHT * scores.getLikeness(vectors, number) + bonus;
  const getKey = (listing: ListingFacts, position: number) => {
    const factor = facts.isDangerous(listing, position) ? DANGER_FACTOR : 1;
    return -factor * getValue(listing, scores.getScore(listing.number, position));
  };
  const listBest = (listing: ListingFacts, positions: ReadonlySet<number>) => {
    const best = createTop<RoutePlace>(ROUTES_PER_LISTING, compareRoutes);
    for (const position of positions) {
      if (scores.isMatching(listing.number, position)) best.offer(getKey(listing, position), { listing, position });
    }
    return best.list();
  };
  let [after, isPartial] = [0, false];
  const offer = (routes: ReturnType<typeof listBest>) => {
    for (const { key, item } of routes) {
      if (isShown(key, item)) continue;
      after += 1;
      top.offer(key, item);
    }
  };
  /** The routes at the best address of each product. */
  const bestOfProduct = new Map<number, ReturnType<typeof listBest>>();
  scores.visit((number, _, score) => {
    const listing = facts.get(number);
    if (listing === undefined || listing.count === 0) return;
    const product = facts.isElsewhere(listing) ? listing.product : null;
    // Finding the payable routes takes longest, and decides nothing for most listings. No route has a lower key than this.
    const isBehind = after > limit && !top.isTaking(-Math.max(0, getValue(listing, score)));
    if (isBehind && product === null) return;
    const positions = listPayable(listing);
    const routes = listBest(listing, positions);
    const [first] = routes;
    if (!first) return;
    isPartial ||= positions.size > ROUTES_PER_LISTING;
    if (product === null) return offer(routes);
    const other = bestOfProduct.get(product);
    isPartial ||= other !== undefined;
    if (!other?.[0] || first.key < other[0].key) bestOfProduct.set(product, routes);
  });
  for (const routes of bestOfProduct.values()) offer(routes);
  const shown = top.list();
  const end = shown.at(-1);
  const next_cursor =
    after > shown.length && end
      ? buildCursor(
          { after: { key: end.key, slug: end.item.listing.slug, position: end.item.position }, groups },
          query,
          'relevance',
        )
      : undefined;
  return {
    resources: shown.flatMap(({ item: { listing, position } }) => readRouteAt(published, listing, position) ?? []),
    next_cursor,
    partial: isPartial || next_cursor !== undefined,
  };
}

function compareRoutes(a: RoutePlace, b: RoutePlace): number {
  if (a.listing === b.listing) return a.position - b.position;
  return a.listing.slug < b.listing.slug ? -1 : 1;
}
