import { ServiceError } from '../errors.ts';
import type { AgentItem } from '../views/listing/item.ts';
import { getListSort } from '../views/listing/query.ts';
import {
  type AppliedFilter,
  type FoundSearch,
  listFilterRemovals,
  type Nearby,
  RESULTS_SIZE,
  type SearchQuery,
  type SearchValues,
} from '../views/pages/search.ts';
import { addDays, readSelected } from './listings.ts';
import type { Reading } from './reading.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Reads a page of search results; `values` are those of the form, `query` is the parsed search. Throws `bad_input`
 * (`no_such_page`) for a page after the last one.
 */
export function readSearch(reading: Reading, values: SearchValues, { page = 1, ...query }: SearchQuery): FoundSearch {
  const { published, readAtOnce, selectListings } = reading;
  return readAtOnce((snapshot) => {
    const before = (page - 1) * RESULTS_SIZE;
    const selected = selectListings(published, snapshot, { ...query, limit: before + RESULTS_SIZE, facets: true });
    const { total, listings, answer } = selected;
    const last = Math.max(1, Math.ceil(total / RESULTS_SIZE));
    if (page > last) {
      throw new ServiceError('bad_input', `There is no page ${page} of this search.`, {
        hint: `The last page is ${last}.`,
        reason: 'no_such_page',
      });
    }
    const shown = {
      listings: listings.slice(before),
      answer: answer && { ...answer, matches: answer.matches.slice(before) },
    };
    const results = readSelected(published, shown).map((item, at) => {
      const listing = shown.listings[at] as (typeof listings)[number];
      return { item: addDays(published, listing, JSON.parse(item)), product: listing.product ?? null };
    });
    const count = (filter: AppliedFilter): Nearby => {
      const kept = Object.entries(query).filter(([name]) => name === 'q' || name in filter.rest);
      return { filter, total: selectListings(published, snapshot, { ...Object.fromEntries(kept), limit: 1 }).total };
    };
    const nearby = total === 0 ? listFilterRemovals(values).map(count) : [];
    const isBestFirst = page === 1 && getListSort(query) === 'relevance';
    const best = answer?.matches[0]?.match ?? 0;
    const outside = isBestFirst ? findOutside(reading, snapshot, query, best) : undefined;
    return { ...selected, results, nearby, outside, as_of: snapshot.revised_at };
  });
}

/** Least difference in relevance by which a listing outside the filters must be better to be mentioned. */
const EVEN_RELEVANCE = 0.05;

/**
 * Finds a listing outside the filters that answers a request in words clearly better than the best one within them, if there is
 * one.
 */
function findOutside(
  { published, selectListings }: Reading,
  snapshot: Snapshot,
  query: Omit<SearchQuery, 'page'>,
  best: number,
): AgentItem | undefined {
  const { q, sort: _sort, ...filters } = query;
  if (q === undefined || Object.keys(filters).length === 0 || best > 1 - EVEN_RELEVANCE) return undefined;
  const found = selectListings(published, snapshot, { q, limit: 1 });
  const match = found.answer?.matches[0]?.match ?? 0;
  if (found.answer?.isWeak || match < best + EVEN_RELEVANCE) return undefined;
  return readSelected(published, found).map((item) => JSON.parse(item))[0];
}
