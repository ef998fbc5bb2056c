import { getListLimit, type ListQuery } from '../views/listing/query.ts';
import { foldRows } from '../views/listing/row-folds.ts';
import type { Published } from './file.ts';
import { selectListings } from './select.ts';
import type { Snapshot } from './snapshot.ts';

/** Number of further listings that are read, so that a page is full although some listings are folded. */
const LOOKED_AT = 20;

/**
 * Selects a page as `selectListings` does, and folds it: with words, a page has at most three rows of one provider or product,
 * followed by the slugs of its other listings, so each listing is on one page, as a row or as a slug. Nothing is folded if the
 * query names a provider or host. `cut` builds the page with the given number of rows (by default the limit of the query):
 * `listings` and `answer` for its rows, and `rest`, the other fields of the answer.
 */
export function selectFoldedPage(published: Published, snapshot: Snapshot, query: ListQuery) {
  const limit = getListLimit(query);
  const selected = selectListings(published, snapshot, { ...query, limit: query.q ? limit + LOOKED_AT : limit });
  const { q, provider, host } = selected.query;
  // A request that is only a price has no words, so its page is a plain list.
  const isWhole = q === undefined || !selected.answer || provider !== undefined || host !== undefined;
  const entries = selected.listings.map((listing, at) => ({ listing, match: selected.answer?.matches[at] }));
  const getGroups = ({ listing: { domain = '', product = null } }: (typeof entries)[number]) => ({
    provider: domain,
    product,
  });
  const cut = (rows = limit) => {
    const { shown, taken } = foldRows(entries, getGroups, { isWhole, limit: rows });
    const next_cursor = taken < entries.length ? selected.getCursorAfter(taken) : selected.next_cursor;
    const folded = shown
      .filter(({ more }) => more.length > 0)
      .map(({ provider, more }) => ({ provider, slugs: more.map(({ listing }) => listing.slug) }));
    return {
      listings: shown.map(({ row }) => row.listing),
      answer: selected.answer && { ...selected.answer, matches: shown.flatMap(({ row }) => row.match ?? []) },
      rest: { ...(next_cursor !== undefined && { next_cursor }), ...(folded.length > 0 && { folded }) },
    };
  };
  return { selected: { ...selected, query: { ...selected.query, limit } }, cut };
}
