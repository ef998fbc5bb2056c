import { LRUCache } from 'lru-cache';
import { USDC_DECIMALS } from '../model/usdc.ts';
import { LIKENESS_WEIGHT, type Scores } from '../search/ranking.ts';
import { type Facets, getListLimit, getListSort, type ListQuery, type ListSort } from '../views/listing/query.ts';
import { countByTable, countFacetsByTable } from './counts.ts';
import { buildCursor, type Cursor, parseCursor } from './cursor.ts';
import { countFacets } from './facets.ts';
import { BONUS_MAX, type Facts, type ListingFacts } from './facts.ts';
import type { Published } from './file.ts';
import { buildFilter, type FilterTests, getRouteWishes } from './filters.ts';
import { countPassing, listPassing } from './indexed-lists.ts';
import type { ListingRef, Match } from './listings.ts';
import { findNamedRoutes } from './named-routes.ts';
import { ORDERS } from './orders.ts';
import { getSearchIndex, type SearchIndex } from './search-index.ts';
import type { Snapshot } from './snapshot.ts';
import { type RequestNotes, readRequestNotes } from './suggested.ts';
import { createTop } from './top.ts';

/** One page of the listings that match a query, and the number of matches in all. */
export interface Selection extends RequestNotes {
  /** The query that was applied: as given, with its order and its page. */
  query: ListQuery;
  total: number;
  listings: SelectedListing[];
  /** The number of matches for each value of each filter, if asked for. */
  facets: Facets | undefined;
  /** The quality of the answer, for a query with `q`. */
  answer: Answer | undefined;
  /** Cursor of the next page; undefined on the last one. */
  next_cursor: string | undefined;
  /**
   * Returns the cursor after the first `count` listings of the page, for a page that is cut short: at least one, and fewer than
   * it has.
   */
  getCursorAfter(count: number): string;
}

/** A listing of a page. The fields to fold rows by are set if the query has words. */
export interface SelectedListing extends ListingRef {
  /** Number of its product, if that is at several addresses. */
  readonly product?: number | null | undefined;
  /** Registered domain of its host; for a host without one, the host with its port. */
  readonly domain?: string | undefined;
}

/** The quality of the answer to a request in words. */
export interface Answer {
  /** The match of each listing of the page. */
  readonly matches: readonly Match[];
  /** True if even the best match answers little of the request. */
  readonly isWeak: boolean;
  /** Words of the request that no listing has, at most `UNMATCHED_MAX`. */
  readonly unmatched: readonly string[];
}

/**
 * A best match below this is weak. Of our held-out requests that nothing answers, six in ten are below it (more than four in ten
 * of the short ones); of those that something answers, one in six: a third of long tasks, one in twenty of short requests.
 */
const WEAK_BELOW = 0.48;

/** Share of the best match below which other matches are weak: mostly they have only a related word. */
const WEAK_BESIDE = 0.7;

/** Most words that are reported as unmatched. */
const UNMATCHED_MAX = 12;

/** Factor on the score of a route with a grave caution. */
export const DANGER_FACTOR = 0.5;

/** A page of listings before its cursors are written, see `Selection`. */
interface FoundPage {
  readonly total: number;
  readonly listed: readonly (SelectedListing & { readonly key: number; readonly match?: Match })[];
  readonly hasMore: boolean;
  readonly facets?: Facets | undefined;
  /** The weights of the request's words, and the quality of the answer. */
  readonly words?: Omit<Answer, 'matches'> & Pick<Cursor, 'groups' | 'leastMatch' | 'size'>;
}

/**
 * Selects the page of live listings that a query asks for. A cursor is a position in the order, not a count, so listings that
 * come or go between pages shift nothing: a listing that stays and does not change is shown once. Throws `bad_input`
 * (`bad_cursor`) for a text that is no cursor, or is one of another query. Call it while the file stays at the revision of the
 * snapshot.
 */
export function selectListings(published: Published, snapshot: Snapshot, given: ListQuery): Selection {
  const { searched, ...notes } = readRequestNotes(given, published);
  const query = { ...searched, limit: getListLimit(given) };
  const sort = getListSort(query);
  const cursor = query.cursor === undefined ? undefined : parseCursor(query.cursor, query, sort);
  const asked = { query, sort, cursor };
  const found =
    query.q === undefined
      ? selectFromFile(published, snapshot, asked)
      : selectByWords(published, snapshot, { ...asked, q: query.q });
  const { total, facets, listed, hasMore, words } = found;
  const { groups, leastMatch, size, ...answered } = words ?? { isWeak: false, unmatched: [] };
  const getCursorAfter = (count: number) => {
    const { key = 0, slug = '' } = listed[count - 1] ?? {};
    const measured = leastMatch !== undefined && size !== undefined && { leastMatch, size };
    return buildCursor({ after: { key, slug }, ...(groups && { groups }), ...measured }, query, sort);
  };
  const matches = listed.flatMap(({ match }) => match ?? []);
  return {
    ...notes,
    query: { ...given, limit: query.limit, sort },
    total,
    listings: listed.map(({ number, slug, product, domain }) => ({ number, slug, product, domain })),
    facets,
    // A path names a route even in a query without words.
    answer: words || query.path !== undefined ? { matches, ...answered } : undefined,
    next_cursor: hasMore ? getCursorAfter(listed.length) : undefined,
    getCursorAfter,
  };
}

/** A query with its order and the position at which its page begins. */
interface PageRequest {
  readonly query: ListQuery & { readonly limit: number };
  readonly sort: ListSort;
  readonly cursor: Cursor | undefined;
}

/** Selects a page for a query without words, from the indexes of the file. */
function selectFromFile(published: Published, snapshot: Snapshot, { query, sort, cursor }: PageRequest): FoundPage {
  const total = countByTable(published, query) ?? countOnce(published, snapshot, query);
  const page = { sort, after: cursor?.after, limit: query.limit + 1 };
  // Only the total says at once that nothing passes; the order's index would be read to its end.
  const listed = total === 0 ? [] : listPassing(published, query, page);
  return {
    total,
    facets: query.facets ? countFacetsOf(published, snapshot, query) : undefined,
    listed: listed
      .slice(0, query.limit)
      .map(({ position, ...rest }) => (position === undefined ? rest : { ...rest, match: { match: 1, position } })),
    hasMore: listed.length > query.limit,
  };
}

/** Counts facets from the table of counts, or, for filters that it does not cover, from what is in memory of each listing. */
function countFacetsOf(published: Published, snapshot: Snapshot, query: ListQuery): Facets {
  const counted = countFacetsByTable(published, query);
  if (counted) return counted;
  return countFacets(getSearchIndex(published, snapshot).facts, query, { named: findNamedRoutes(published, query) });
}

/** Number of queries whose totals are kept, for each snapshot. */
const KEPT_TOTALS = 64;

const totalsOf = new WeakMap<Snapshot, LRUCache<string, number>>();

/** Counts the listings that pass a query which the table of counts does not cover, once for each snapshot. */
function countOnce(published: Published, snapshot: Snapshot, query: ListQuery): number {
  const { cursor: _, sort, limit, facets, ...filters } = query;
  const kept = totalsOf.get(snapshot) ?? new LRUCache({ max: KEPT_TOTALS });
  totalsOf.set(snapshot, kept);
  const key = JSON.stringify(filters);
  const total = kept.get(key) ?? countPassing(published, filters);
  kept.set(key, total);
  return total;
}

/** Selects a page for a request in words, by the search index. */
function selectByWords(
  published: Published,
  snapshot: Snapshot,
  asked: PageRequest & { readonly q: string },
): FoundPage {
  const { query, cursor } = asked;
  const index = getSearchIndex(published, snapshot);
  const request = index.expand(asked.q);
  const groups = cursor?.groups ?? request.groups;
  const scores = index.score(groups, request.vector, cursor?.size);
  const named = findNamedRoutes(published, query);
  const found = placeFound({ ...asked, index, filter: buildFilter(index.facts, query, named) }, scores);
  const { total, after, placed, best, leastMatch } = found;
  return {
    total,
    facets: query.facets ? countFacets(index.facts, query, { scores, named }) : undefined,
    hasMore: after > placed.length,
    listed: placed.map(({ key, listing, position, match }) => ({
      number: listing.number,
      slug: listing.slug,
      product: listing.product,
      domain: listing.domain,
      key,
      match: { match: Math.round(100 * match) / 100, position },
    })),
    words: {
      groups,
      ...(asked.sort !== 'relevance' && { leastMatch, size: scores.size }),
      isWeak: best < WEAK_BELOW,
      unmatched: request.unmatched.slice(0, UNMATCHED_MAX),
    },
  };
}

/** A query, and the index and filter that it is answered by. */
interface IndexedRequest extends PageRequest {
  readonly index: SearchIndex;
  readonly filter: FilterTests;
}

/** Collects the listings of a page, and counts those after the cursor. */
function openPage({ query, cursor }: IndexedRequest) {
  const top = createTop<FoundListing>(query.limit, (a, b) => (a.listing.slug < b.listing.slug ? -1 : 1));
  const { key: lastKey, slug: lastSlug } = cursor?.after ?? { key: Number.NEGATIVE_INFINITY, slug: '' };
  let after = 0;
  return {
    offer(key: number, item: FoundListing): void {
      if (key < lastKey || (key === lastKey && item.listing.slug <= lastSlug)) return;
      after += 1;
      top.offer(key, item);
    },
    /** Counts a listing whose key is at least `leastKey`. Returns true if that is enough to know that it comes after the page. */
    passOver(leastKey: number): boolean {
      const isBehind = leastKey > lastKey && !top.isTaking(leastKey);
      if (isBehind) after += 1;
      return isBehind;
    },
    end: () => ({ after, placed: top.list() }),
  };
}

/**
 * Places the listings that pass the filters and have any of the words. `best` is the best match, and `leastMatch` the match below
 * which others are weak.
 */
function placeFound(wanted: IndexedRequest, scores: Scores) {
  const { sort, cursor, index } = wanted;
  const visitFound = openFound(wanted, scores);
  const findMatch = (number: number, score: number) =>
    scores.getMatch(score, scores.getLikeness(index.vectors, number));
  let [best, notBest] = [0, 0];
  /** Updates `best`. Skips a listing, and all of lower score, if even a perfect likeness would not make it better. */
  const seeBest = (number: number, score: number) => {
    if (score <= notBest) return;
    if (scores.getMatch(score, 1) <= best) notBest = score;
    else best = Math.max(best, findMatch(number, score));
  };
  if (sort !== 'relevance') visitFound((number, _, score) => seeBest(number, score));
  const leastMatch = cursor?.leastMatch ?? Math.max(WEAK_BELOW, WEAK_BESIDE * best);
  const keys = openKeys(wanted, { scores, leastMatch, findMatch });
  const page = openPage(wanted);
  let total = 0;
  visitFound((number, position, score) => {
    total += 1;
    if (sort === 'relevance') seeBest(number, score);
    // The rest of the key takes longest to compute, and decides nothing for most listings.
    if (page.passOver(keys.getLeastKey(number, position, score))) return;
    const listing = index.facts.get(number) as ListingFacts;
    page.offer(keys.getKey(listing, position, score), { listing, position, score });
  });
  const { after, placed } = page.end();
  const answered = placed.map(({ key, item: { listing, position, score } }) => ({
    key,
    listing,
    position: listing.count === 0 ? undefined : position,
    match: findMatch(listing.number, score),
  }));
  return { total, after, placed: answered, best, leastMatch };
}

/** A listing found by words, with its best route that passes; position 0 without routes. */
interface FoundListing {
  readonly listing: ListingFacts;
  readonly position: number;
  readonly score: number;
}

/** Called with the number of a listing, the position of its best route that passes (0 without routes), and its score. */
type VisitFound = (number: number, position: number, score: number) => void;

/** Returns a function that visits the listings that pass and match. */
function openFound({ index: { facts }, filter }: IndexedRequest, scores: Scores): (visit: VisitFound) => void {
  const { isListingPassing, isRoutePassing } = filter;
  if (!isListingPassing && !isRoutePassing) return scores.visit;
  return (visit) =>
    scores.visit((number, best, score) => {
      const listing = facts.get(number) as ListingFacts;
      if (isListingPassing?.(listing) === false) return;
      if (isRoutePassing === undefined || listing.count === 0) visit(number, best, score);
      else {
        const position = scores.findBest(number, (at) => isRoutePassing(listing, at));
        if (position !== undefined) visit(number, position, scores.getScore(number, position));
      }
    });
}

/** The inputs of the sort keys of listings found by words. */
interface Weighing {
  readonly scores: Scores;
  readonly leastMatch: number;
  readonly findMatch: (number: number, score: number) => number;
}

/** Returns the functions that make the sort keys of listings found by words. Smaller keys come first. */
function openKeys(
  { index: { facts, vectors }, query, sort }: IndexedRequest,
  { scores, leastMatch, findMatch }: Weighing,
) {
  if (sort === 'relevance') {
    return {
      getKey(listing: ListingFacts, position: number, score: number): number {
        const factor = facts.isDangerous(listing, position) ? DANGER_FACTOR : 1;
        const likeness = scores.getLikeness(vectors, listing.number);
        return -(factor * (score + LIKENESS_WEIGHT * likeness) + listing.bonus);
      },
      /** The least key that is possible, with the highest likeness. */
      getLeastKey: (_number: number, _position: number, score: number) => -(score + LIKENESS_WEIGHT + BONUS_MAX),
    };
  }
  const getOrdered = openOrder(facts, query, sort);
  const behind = sort === 'name' ? 0 : ORDERS[sort].behind;
  let [weakUpTo, strongFrom] = [0, Number.POSITIVE_INFINITY];
  /**
   * Returns true if the match of a listing is at least `leastMatch`. For most listings the score alone decides, by the bounds
   * found so far.
   */
  const isStrong = ({ number }: ListingFacts, score: number): boolean => {
    if (score <= weakUpTo || score >= strongFrom) return score >= strongFrom;
    if (scores.getMatch(score, 1) < leastMatch) weakUpTo = score;
    else if (scores.getMatch(score, 0) >= leastMatch) strongFrom = score;
    return score > weakUpTo && (score >= strongFrom || findMatch(number, score) >= leastMatch);
  };
  return {
    getKey: (listing: ListingFacts, position: number, score: number) =>
      getOrdered(listing, position) + (isStrong(listing, score) ? 0 : behind),
    getLeastKey: (number: number, position: number) => getOrdered(facts.get(number) as ListingFacts, position),
  };
}

/**
 * Returns the function that gives the value which an order compares. The order by price uses the route that answers the request,
 * not the listing's cheapest route.
 */
function openOrder(facts: Facts, query: ListQuery, sort: Exclude<ListSort, 'relevance'>) {
  if (sort === 'name') return () => 0;
  if (sort !== 'price') return (listing: ListingFacts) => listing[sort];
  const findLowest = facts.openPrices({ ...getRouteWishes(query), isVerified: false });
  return (listing: ListingFacts, position: number) => {
    const price = findLowest(listing.first + position);
    return price === Number.POSITIVE_INFINITY ? listing.price : price / 10 ** USDC_DECIMALS;
  };
}
