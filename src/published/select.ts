import type { NetworkKey } from '../model/network.ts';
import { USDC_DECIMALS } from '../model/usdc.ts';
import { LIKENESS_WEIGHT, type Scores, type Worth } from '../search/ranking.ts';
import { type Facets, getListLimit, getListSort, type ListQuery, type ListSort } from '../views/listing/query.ts';
import { narrowColumns } from './client-columns.ts';
import { BONUS_MAX, type Columns, findNextPlace, getColumns, getRef } from './columns.ts';
import { buildCursor, type Cursor, parseCursor } from './cursor.ts';
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
import { type RequestNotes, readRequestNotes } from './suggested.ts';
import { createTop } from './top.ts';
import { getWordIndex } from './word-index.ts';

/** One page of the listings that match a query, and how many match in all. */
export interface Selection extends RequestNotes {
  /** What was applied: the query as given, with its order and its page. */
  query: ListQuery;
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
  readonly words?: Omit<Answer, 'matches'> & Pick<Cursor, 'plan' | 'leastMatch' | 'size'>;
}

/**
 * Selects the page of live listings that a query asks for. A cursor is a place in the order, not a count, so listings that
 * come or go between pages shift nothing: what is there the whole time and does not change is shown once (a product at several
 * addresses at one that is there when its page is made). Throws
 * `bad_input` (`bad_cursor`) for a cursor of another query or none at all. Call it while the file stays at the
 * revision of the snapshot.
 */
export function selectListings(published: Published, snapshot: Snapshot, given: ListQuery): Selection {
  const { searched, ...notes } = readRequestNotes(given, published);
  const query = { ...searched, limit: getListLimit(given) };
  const sort = getListSort(query);
  const cursor = query.cursor === undefined ? undefined : parseCursor(query.cursor, query, sort);
  const { q, can, path, facets: isCounting = false } = query;
  const isByFile = q === undefined && can === undefined && path === undefined && !isCounting;
  const select = isByFile ? selectFromFile : selectByColumns;
  const { total, facets, listed, hasMore, words } = select(published, snapshot, { query, sort, cursor });
  const { plan = [], leastMatch, size, ...answered } = words ?? { isWeak: false, unmatched: [] };
  const getCursorAfter = (count: number) => {
    const { key = 0, slug = '' } = listed[count - 1] ?? {};
    const measured = leastMatch !== undefined && size !== undefined && { leastMatch, size };
    return buildCursor({ after: { key, slug }, plan, ...measured }, query, sort);
  };
  const matches = listed.flatMap(({ match }) => match ?? []);
  return {
    ...notes,
    query: { ...given, limit: query.limit, sort },
    total,
    listings: listed.map(({ number, slug }) => ({ number, slug })),
    facets,
    // A path names a route, words or not.
    answer: words || path !== undefined ? { matches, ...answered } : undefined,
    next_cursor: hasMore ? getCursorAfter(listed.length) : undefined,
    getCursorAfter,
  };
}

/** What is asked for: the query, its order, and where its page begins. */
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
  const index = query.q === undefined ? undefined : getWordIndex(published, snapshot);
  const asked = index?.buildPlan(query.q ?? '');
  const plan = cursor?.plan ?? asked?.plan ?? [];
  const scores = asked && index?.score(plan, asked.vector, cursor?.size);
  const all = getColumns(published, snapshot);
  const columns = query.can === undefined ? all : narrowColumns(published, all, query.can);
  const named = findNamedRoutes(published, query);
  const filter = buildFilter(columns, query, named);
  const wanted: Wanted = { query, sort, cursor, columns, filter };
  const { total, after, placed, answered } = scores ? placeFound(wanted, scores) : placeAll(wanted);
  const facets = query.facets && countFacets(columns, query, { scores, named });
  return {
    total,
    ...(facets && { facets }),
    hasMore: after > placed.length,
    listed: placed.map(({ key, item }) => ({
      ...getRef(columns, item.place),
      key,
      match: describeMatch(columns, item),
    })),
    ...(asked &&
      answered && {
        words: {
          plan,
          ...(scores && sort !== 'relevance' && { leastMatch: answered.leastMatch, size: scores.size }),
          isWeak: answered.best < WEAK_BELOW,
          unmatched: asked.unmatched.slice(0, UNMATCHED_MAX),
        },
      }),
  };
}

function describeMatch({ slugs }: Columns, { position, match, behind }: Placed): Match {
  return {
    match: Math.round(100 * match) / 100,
    position: position < 0 ? undefined : position,
    same_product: behind.slice(0, SAME_PRODUCT_MAX).map((other) => slugs[other] as string),
  };
}

/** A query, and the listings it is asked of. */
interface Wanted extends Asked {
  readonly columns: Columns;
  readonly filter: Filter;
}

/** A listing by its place, and how it answers the request, if there is one. */
interface Placed {
  readonly place: number;
  readonly position: number;
  readonly match: number;
  /** Places of the other addresses of the same product. */
  readonly behind: readonly number[];
}

/** Collects the listings of a page, and counts those after the cursor. */
function openPage({ query, cursor, columns }: Wanted) {
  const top = createTop<Placed>(query.limit);
  const lastKey = cursor?.after.key ?? Number.NEGATIVE_INFINITY;
  /** The first place whose slug comes after the cursor's: slugs settle even keys. */
  const nextPlace = cursor === undefined ? 0 : findNextPlace(columns, `${cursor.after.slug}\0`);
  let after = 0;
  return {
    offer(key: number, item: Placed): void {
      if (key < lastKey || (key === lastKey && item.place < nextPlace)) return;
      after += 1;
      top.offer(key, item, item.place);
    },
    /** Counts a listing whose key is this or a larger one, if that is enough to know that it comes after the page. */
    passOver(leastKey: number): boolean {
      const isBehind = leastKey > lastKey && !top.isTaking(leastKey);
      if (isBehind) after += 1;
      return isBehind;
    },
    end: () => ({ after, placed: top.list() }),
  };
}

/** Places the listings that pass the filters where no words are asked for. */
function placeAll(wanted: Wanted) {
  const { sort, query, columns } = wanted;
  const { isListingPassing, isRoutePassing } = wanted.filter;
  const page = openPage(wanted);
  let total = 0;
  for (let place = 0; place < columns.slugs.length; place += 1) {
    if (!isListingPassing(place)) continue;
    if (isRoutePassing && !hasPassingRoute(columns.routes, isRoutePassing, place)) continue;
    total += 1;
    const position = findPassingRoute(columns.routes, isRoutePassing, place);
    const key = getSortKey(sort, columns, { place, position: -1, network: query.network });
    page.offer(key, { place, position, match: 1, behind: [] });
  }
  return { total, ...page.end(), answered: undefined };
}

/**
 * Places the listings that pass the filters and have anything of the words that are asked for. `best` is their best match, as far
 * as it was looked for, and `leastMatch` the one below which others are weak beside it.
 */
function placeFound(wanted: Wanted, scores: Scores) {
  const { sort, cursor, columns } = wanted;
  const weigh = openWeighing(wanted, scores);
  const visitPlaces = (visit: (place: number, worth: Worth) => void) =>
    scores.visitListings((number) => {
      const place = columns.places[number] ?? -1;
      const worth = place < 0 ? undefined : weigh(place);
      if (worth) visit(place, worth);
    });
  let best = 0;
  const addLikeness = (worth: Worth) => {
    scores.addLikeness(worth);
    best = Math.max(best, worth.match);
  };
  if (sort !== 'relevance') visitPlaces((_, worth) => scores.getMostMatch(worth) > best && addLikeness(worth));
  const leastMatch = cursor?.leastMatch ?? Math.max(WEAK_BELOW, WEAK_BESIDE * best);
  const keys = openKeys(wanted, leastMatch);
  const findKey = (place: number) => {
    const worth = weigh(place);
    if (worth) scores.addLikeness(worth);
    return worth && keys.getKey(place, worth);
  };
  const folded = foldProducts(columns, findKey, sort === 'relevance' ? EVEN_RELEVANCE : 0);
  const page = openPage(wanted);
  let total = 0;
  visitPlaces((place, worth) => {
    if (folded.hidden.has(place)) return;
    total += 1;
    // What else counts takes longest to find out, and of most listings it decides nothing.
    if (page.passOver(keys.getLeastKey(place, worth))) return;
    addLikeness(worth);
    const { position, match } = worth;
    page.offer(keys.getKey(place, worth), { place, position, match, behind: folded.behind.get(place) ?? [] });
  });
  return { total, ...page.end(), answered: { best, leastMatch } };
}

/** Returns what weighs the listing at a place, by the routes that pass: undefined where it does not pass, or has none of the words. */
function openWeighing({ columns, filter: { isListingPassing, isRoutePassing } }: Wanted, scores: Scores) {
  let current = 0;
  const isPassing = isRoutePassing && ((position: number) => isRoutePassing(current, position));
  return (place: number): Worth | undefined => {
    if (!isListingPassing(place)) return undefined;
    current = place;
    return scores.weigh(columns.numbers[place] as number, isPassing);
  };
}

/** Returns what makes the sort keys of listings that are found by words. */
function openKeys({ columns, query, sort }: Wanted, leastMatch: number) {
  const getOrdered = (place: number, { position }: Worth) =>
    getSortKey(sort, columns, { place, position, network: query.network });
  if (sort === 'relevance') {
    const isLowered = (place: number, position: number) =>
      position >= 0 && isDangerous(columns.routes, place, position);
    return {
      getKey: (place: number, { position, score }: Worth) =>
        -((isLowered(place, position) ? DANGER_FACTOR : 1) * score + (columns.bonuses[place] as number)),
      /** The least that the key can be once the likeness is added. */
      getLeastKey: (_place: number, { score }: Worth) => -(score + LIKENESS_WEIGHT + BONUS_MAX),
    };
  }
  const behind = sort === 'name' ? 0 : ORDERS[sort].behind;
  return {
    getKey: (place: number, worth: Worth) => getOrdered(place, worth) + (worth.match < leastMatch ? behind : 0),
    getLeastKey: getOrdered,
  };
}

/**
 * Gives what an order compares; everything sorts upwards, so what should come first is the smaller. The cheapest answer to a
 * request is one that answers it: its price is that of the route that does.
 */
function getSortKey(
  sort: ListSort,
  { keys, routes }: Columns,
  { place, position, network }: { place: number; position: number; network: NetworkKey | undefined },
): number {
  if (sort === 'name' || sort === 'relevance') return 0;
  const price = sort === 'price' && position >= 0 ? findRoutePrice(routes, place, position, network) : undefined;
  return price === undefined ? (keys[sort][place] as number) : price / 10 ** USDC_DECIMALS;
}
