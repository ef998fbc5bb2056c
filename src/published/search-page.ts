import type { ListQuery } from '../views/listing/query.ts';
import { buildSearchPage, RESULTS_SIZE, type SearchPage, type SearchValues } from '../views/pages/search-page.ts';
import { getItem } from './listings.ts';
import { getCounts } from './page-lists.ts';
import type { Reading } from './reading.ts';
import { selectListings } from './select.ts';

/**
 * Gives the page of what matches a search now; `values` is the search as its form holds it, `query` what it means. Throws `bad_input` for a cursor of another search.
 */
export function getSearchPage(
  { published, readAtOnce }: Reading,
  values: SearchValues,
  query: Omit<ListQuery, 'limit'>,
): SearchPage {
  return readAtOnce((snapshot) => {
    const selected = selectListings(published, snapshot, { ...query, limit: RESULTS_SIZE });
    const { listings, total, answer, next_cursor } = selected;
    const items = listings.map((listing) => getItem(published, listing));
    return buildSearchPage(values, { items, total, answer, next_cursor, counts: getCounts(snapshot) });
  });
}
