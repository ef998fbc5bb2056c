import { ServiceError } from '../errors.ts';
import type { AgentItem } from '../views/listing/item.ts';
import {
  type AppliedFilter,
  buildSearchPage,
  listFilterRemovals,
  type Nearby,
  RESULTS_SIZE,
  type SearchPage,
  type SearchQuery,
  type SearchValues,
} from '../views/pages/search-page.ts';
import { readSelected } from './listings.ts';
import { getCounts } from './page-lists.ts';
import type { Reading } from './reading.ts';

/**
 * Gives the page of what matches a search now; `values` is the search as its form holds it, `query` what it means. Throws
 * `bad_input` (`no_such_page`) for a page after the last one.
 */
export function getSearchPage(
  { published, readAtOnce, selectListings }: Reading,
  values: SearchValues,
  { page = 1, ...query }: SearchQuery,
): SearchPage {
  return readAtOnce((snapshot) => {
    const before = (page - 1) * RESULTS_SIZE;
    const selected = selectListings(published, snapshot, { ...query, limit: before + RESULTS_SIZE, facets: true });
    const { total, listings, answer, understood } = selected;
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
    const items: AgentItem[] = readSelected(published, shown).map((item) => JSON.parse(item));
    const count = (filter: AppliedFilter): Nearby => {
      const kept = Object.entries(query).filter(([name]) => name === 'q' || name in filter.rest);
      const asked = { ...Object.fromEntries(kept), ...(filter.rest.q && { q: filter.rest.q }), limit: 1 };
      return { filter, total: selectListings(published, snapshot, asked).total };
    };
    const nearby = total === 0 ? listFilterRemovals(values, understood).map(count) : [];
    return buildSearchPage(values, { ...selected, items, nearby, counts: getCounts(snapshot) });
  });
}
