import type { NetworkKey } from '../model/network.ts';
import { USDC_DECIMALS } from '../model/usdc.ts';
import { LIKENESS_WEIGHT, type Scores, type Worth } from '../search/ranking.ts';
import { type Facets, getListLimit, getListSort, type ListQuery, type ListSort } from '../views/listing/query.ts';
import { narrowColumns } from './client-columns.ts';
import { BONUS_MAX, type Columns, findNextPlace, getColumns, getRef } from './columns.ts';
import { buildCursor, type Cursor, parseCursor } from './cursor.ts';
import { explainRanks } from './explaining.ts';
import { countFacets } from './facets.ts';
import type { Published } from './file.ts';
import { buildFilter, type Filter } from './filters.ts';
import { foldProducts } from './folding.ts';
import { countPassing, listPassing } from './indexed-lists.ts';
import { type ListingRef, type Match, SAME_PRODUCT_MAX } from './listings.ts';
import { findNamedRoutes } from './named-routes.ts';
import { ORDERS } from './orders.ts';
import { findPassingRoute, findRoutePrice, hasPassingRoute, isDangerous } from './route-facts.ts';
import type { Snapshot } from './snapshot.ts';
import { createTop } from './top.ts';
import { type UnderstoodQuery, understand } from './understood.ts';
import { getWordIndex } from './word-index.ts';

/** One page of the listings that match a query, and how many match in all. */
export interface Selection extends UnderstoodQuery {
  total: number;
  listings: ListingRef[];
  /** Where asked for: how many match by the values of each filter. */
  facets: Facets | undefined;
  /** With `q`: how well it is answered. */
  answer: Answer | undefined;
  /** Where the next page starts; undefined on the last one. */
  next_cursor: string | undefined;
  /** Gives the cursor of a page that is cut short to `count` listings: at least one, and fewer than there are. */
  getCursorAfter(count: number): string;
}

/** How well a request in words is answered. */
export interface Answer {
  /** For each listing of the page. */
  readonly matches: readonly Match[];
  /** Even the best of those that come first answers little of the request. */
  readonly isWeak: boolean;
  /** Words of the request that no listing has, at most `UNMATCHED_MAX`. */
  readonly unmatched: readonly string[];
}

/**
 * A best match below this is weak. Of our requests set aside that nothing answers, six in ten are below it (more than four in ten of
 * short ones); of those that something answers one in six: a third of long tasks, one in twenty of short requests.
 */
const WEAK_BELOW = 0.48;

/** The share of the best match below which others are weak beside it: mostly they have a related word alone. */
const WEAK_BESIDE = 0.7;

/** Relevance by which two addresses of one product may differ and still answer alike: their hosts have other words. */
export const EVEN_RELEVANCE = 0.05;

/** Most words that are said to be unmatched. */
const UNMATCHED_MAX = 12;

/** What is left of the worth of a route against which something grave speaks. */
export const DANGER_FACTOR = 0.5;

/** A page of listings before its cursors are written, see `Selection`. */
interface FoundPage {
  readonly total: number;
  readonly listed: readonly (ListingRef & { readonly key: number; readonly match?: Match })[];
  readonly hasMore: boolean;
  readonly facets?: Facets;
  /** What the words of the request were weighed by, and how well they are answered. */
  readonly words?: Omit<Answer, 'matches'> & Pick<Cursor, 'plan' | 'leastMatch'>;
}

/**
 * Selects the page of live listings that a query asks for. A cursor is a place in the order, not a count, so listings that
 * come or go between pages shift nothing: what is there the whole time and does not change is shown once (a product at several
 * addresses at one that is there when its page is made). Throws
 * `bad_input` (`bad_cursor`) for a cursor of another query or none at all. Call it while the file stays at the
 * revision of the snapshot.
 */
export function selectListings(published: Published, snapshot: Snapshot, given: ListQuery): Selection {
  const { query: asked, understood, notice } = understand(given, published, snapshot);
  const query = { ...asked, limit: getListLimit(given) };
  const sort = getListSort(query);
  const cursor = query.cursor === undefined ? undefined : parseCursor(query.cursor, query, sort);
  const { q, can, path, facets: isCounting = false } = query;
  const isByFile = q === undefined && can === undefined && path === undefined && !isCounting;
  const select = isByFile ? selectFromFile : selectByColumns;
  const { total, facets, listed, hasMore, words } = select(published, snapshot, { query, sort, cursor });
  const { plan = [], leastMatch, ...answered } = words ?? { isWeak: false, unmatched: [] };
  const getCursorAfter = (count: number) => {
    const { key = 0, slug = '' } = listed[count - 1] ?? {};
    return buildCursor({ after: { key, slug }, plan, ...(leastMatch !== undefined && { leastMatch }) }, query, sort);
  };
  const matches = listed.flatMap(({ match }) => match ?? []);
  return {
    query: { ...query, sort },
    understood,
    notice,
    total,
    listings: listed.map(({ number, slug }) => ({ number, slug })),
    facets,
    // A path names a route, words or not.
    answer: words || path !== undefined ? { matches, ...answered } : undefined,
    next_cursor: hasMore ? getCursorAfter(listed.length) : undefined,
    getCursorAfter,
  };
}

/** What is asked for: the query, with its filters in words understood, its order, and where its page begins. */
interface Asked {
  readonly query: ListQuery & { readonly limit: number };
  readonly sort: ListSort;
  readonly cursor: Cursor | undefined;
}

function selectFromFile(published: Published, snapshot: Snapshot, { query, sort, cursor }: Asked): FoundPage {
  const listed = listPassing(published, query, { sort, after: cursor?.after, limit: query.limit + 1 });
  const total = countPassing(published, snapshot, query);
  return { total, listed: listed.slice(0, query.limit), hasMore: listed.length > query.limit };
}

/**
 * Selects a page by the columns in memory: they know the routes, so what words say, what a client can pay and paths name, and they
 * count facets in half the time.
 */
function selectByColumns(published: Published, snapshot: Snapshot, { query, sort, cursor }: Asked): FoundPage {
  const words = query.q === undefined ? undefined : getWordIndex(published, snapshot);
  const asked = words?.buildPlan(query.q ?? '');
  const plan = cursor?.plan ?? asked?.plan ?? [];
  const scores = asked && words?.score(plan, asked.vector);
  const all = getColumns(published, snapshot);
  const columns = query.can === undefined ? all : narrowColumns(published, all, query.can);
  const named = findNamedRoutes(published, query);
  const filter = buildFilter(columns, query, named);
  const { total, after, placed, best, leastMatch } = placeListings(columns, { query, sort, cursor, scores, filter });
  const facets = query.facets && countFacets(columns, query, { scores, named });
  // Explaining scores single words, after which the scores of the whole request are gone.
  const reasons =
    query.explain && asked && words
      ? explainRanks(
          { ...asked, plan },
          words.score,
          placed.map(({ item: { place, position } }) => ({
            number: columns.numbers[place] as number,
            position,
            isDangerous: position >= 0 && isDangerous(columns.routes, place, position),
          })),
        )
      : [];
  return {
    total,
    ...(facets && { facets }),
    hasMore: after > placed.length,
    listed: placed.map(({ key, item: { place, match, position, behind } }, at) => ({
      ...getRef(columns, place),
      key,
      match: {
        match: roundMatch(match),
        position: position < 0 ? undefined : position,
        same_product: behind.slice(0, SAME_PRODUCT_MAX).map((other) => columns.slugs[other] as string),
        why: reasons[at],
      },
    })),
    ...(asked && {
      words: {
        plan,
        ...(sort !== 'relevance' && { leastMatch }),
        isWeak: best < WEAK_BELOW,
        unmatched: asked.unmatched.slice(0, UNMATCHED_MAX),
      },
    }),
  };
}

function roundMatch(match: number): number {
  return Math.round(100 * match) / 100;
}

/** A listing by its place, and how it answers the request, if there is one. */
interface Placed {
  readonly place: number;
  readonly position: number;
  readonly match: number;
  /** Places of the other addresses of the same product. */
  readonly behind: readonly number[];
}

/** Goes through the listings: counts those that match and those after the cursor, and keeps the places of the first of these. */
function placeListings(
  columns: Columns,
  { query, sort, cursor, scores, filter }: Asked & { scores: Scores | undefined; filter: Filter },
): { total: number; after: number; placed: { key: number; item: Placed }[]; best: number; leastMatch: number } {
  const { slugs, numbers, places, bonuses } = columns;
  const isRoutePassing = filter.isRoutePassing;
  const top = createTop<Placed>(query.limit);
  const lastKey = cursor?.after.key ?? Number.NEGATIVE_INFINITY;
  /** The first place whose slug comes after the cursor's: slugs settle even keys. */
  const nextPlace = cursor === undefined ? 0 : findNextPlace(columns, `${cursor.after.slug}\0`);
  let current = 0;
  const isPositionPassing = isRoutePassing && ((position: number) => isRoutePassing(current, position));
  const weigh = (place: number) => {
    current = place;
    return scores?.weigh(numbers[place] as number, isPositionPassing);
  };
  /** Weighs a listing with all that counts; undefined where it does not match. */
  const weighWhole = (place: number) => {
    const worth = filter.isListingPassing(place) ? weigh(place) : undefined;
    if (worth !== undefined) scores?.addLikeness(worth);
    return worth;
  };
  const visitPlaces = (visit: (place: number) => void) => {
    if (scores === undefined) for (let place = 0; place < slugs.length; place += 1) visit(place);
    else {
      scores.visitListings((number) => {
        const place = places[number] ?? -1;
        if (place >= 0) visit(place);
      });
    }
  };
  let best = 0;
  if (scores !== undefined && sort !== 'relevance') {
    visitPlaces((place) => {
      const worth = filter.isListingPassing(place) ? weigh(place) : undefined;
      if (worth === undefined || scores.getMostMatch(worth) <= best) return;
      scores.addLikeness(worth);
      best = Math.max(best, worth.match);
    });
  }
  const leastMatch = cursor?.leastMatch ?? Math.max(WEAK_BELOW, WEAK_BESIDE * best);
  const getFactor = (place: number, position: number) =>
    position >= 0 && isDangerous(columns.routes, place, position) ? DANGER_FACTOR : 1;
  const getKey = (
    place: number,
    worth: Worth | undefined,
    isWeak = worth !== undefined && worth.match < leastMatch,
  ) => {
    const position = worth?.position ?? -1;
    if (sort === 'relevance') return -(getFactor(place, position) * (worth?.score ?? 0) + (bonuses[place] as number));
    const key = getSortKey(sort, columns, { place, position, network: query.network });
    return isWeak && sort !== 'name' ? key + ORDERS[sort].behind : key;
  };
  const folded = scores && foldProducts(columns, findKey, sort === 'relevance' ? EVEN_RELEVANCE : 0);
  function findKey(place: number) {
    const worth = weighWhole(place);
    return worth && getKey(place, worth);
  }
  let [total, after] = [0, 0];
  const look = (place: number) => {
    if (!filter.isListingPassing(place) || folded?.hidden.has(place)) return;
    const worth = weigh(place);
    if (scores !== undefined && worth === undefined) return;
    if (scores === undefined && isRoutePassing && !hasPassingRoute(columns.routes, isRoutePassing, place)) return;
    total += 1;
    if (worth !== undefined && scores !== undefined) {
      // What else counts takes longest to find out, and of most listings it decides nothing.
      const firstKey =
        sort === 'relevance' ? -(worth.score + LIKENESS_WEIGHT + BONUS_MAX) : getKey(place, worth, false);
      if (firstKey > lastKey && !top.isTaking(firstKey)) {
        after += 1;
        return;
      }
      scores.addLikeness(worth);
      best = Math.max(best, worth.match);
    }
    const key = getKey(place, worth);
    if (key < lastKey || (key === lastKey && place < nextPlace)) return;
    after += 1;
    const behind = folded?.behind.get(place) ?? [];
    const position = worth?.position ?? findPassingRoute(columns.routes, isRoutePassing, place);
    top.offer(key, { place, position, match: worth?.match ?? 1, behind }, place);
  };
  visitPlaces(look);
  return { total, after, placed: top.list(), best, leastMatch };
}

/**
 * Gives what an order compares; everything sorts upwards, so what should come first is the smaller. The cheapest answer to a
 * request is one that answers it: its price is that of the route that does.
 */
function getSortKey(
  sort: Exclude<ListSort, 'relevance'>,
  { keys, routes }: Columns,
  { place, position, network }: { place: number; position: number; network: NetworkKey | undefined },
): number {
  if (sort === 'name') return 0;
  const price = sort === 'price' && position >= 0 ? findRoutePrice(routes, place, position, network) : undefined;
  return price === undefined ? (keys[sort][place] as number) : price / 10 ** USDC_DECIMALS;
}
