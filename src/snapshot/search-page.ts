import type { ListQuery } from '../views/list-query.ts';
import { buildSearchPage, RESULTS_SIZE, type SearchPage, type SearchValues } from '../views/pages/search-page.ts';
import { parseItem } from './entry.ts';
import { getCounts } from './entry-lists.ts';
import type { Reading } from './reading.ts';
import { selectListings } from './select.ts';

/**
 * Gives the page of what matches a search as the catalogue stands now; `values` is the search as its form holds it, `query`
 * what it means. Throws `bad_input` for a cursor of another search.
 */
export function getSearchPage(reading: Reading, values: SearchValues, query: Omit<ListQuery, 'limit'>): SearchPage {
  const snapshot = reading.getSnapshot();
  const { entries, total, answer, next_cursor } = selectListings(reading, snapshot, { ...query, limit: RESULTS_SIZE });
  const items = entries.map(parseItem);
  return buildSearchPage(values, { items, total, answer, next_cursor, counts: getCounts(snapshot) });
}
