import type { AgentItem } from '../views/listing/item.ts';
import type { ListQuery } from '../views/listing/query.ts';
import { buildSearchPage, RESULTS_SIZE, type SearchPage, type SearchValues } from '../views/pages/search-page.ts';
import { readSelected } from './listings.ts';
import { getCounts } from './page-lists.ts';
import type { Reading } from './reading.ts';

/**
 * Gives the page of what matches a search now; `values` is the search as its form holds it, `query` what it means. Throws `bad_input` for a cursor of another search.
 */
export function getSearchPage(
  { published, readAtOnce, selectListings }: Reading,
  values: SearchValues,
  query: Omit<ListQuery, 'limit'>,
): SearchPage {
  return readAtOnce((snapshot) => {
    const selected = selectListings(published, snapshot, { ...query, limit: RESULTS_SIZE, facets: true });
    const items: AgentItem[] = readSelected(published, selected).map((item) => JSON.parse(item));
    return buildSearchPage(values, { ...selected, items, counts: getCounts(snapshot) });
  });
}
