import { getListLimit, type ListQuery } from '../views/listing/query.ts';
import { foldRows } from '../views/listing/row-folds.ts';
import type { Published } from './file.ts';
import { selectListings } from './select.ts';
import type { Snapshot } from './snapshot.ts';

/** Number of further listings that a page looks at, so that it is full although some are folded. */
const LOOKED_AT = 20;

/**
 * Selects a page as `selectListings` does. In answer to words, a page has three rows of one provider, or of one product, at most, and
 * the slugs of its other listings behind them, unless one provider is asked for: each listing is on one page, as a row or by its slug. `cut` builds
 * the page with a number of rows, by default as many as were asked for: the listings of the rows, how they answer the words, and as
 * `rest` the fields of the answer beside them.
 */
export function selectFoldedPage(published: Published, snapshot: Snapshot, query: ListQuery) {
  const limit = getListLimit(query);
  const selected = selectListings(published, snapshot, { ...query, limit: query.q ? limit + LOOKED_AT : limit });
  const { q, provider, host } = selected.query;
  // A request that is a price alone has no words, and its page is a plain list.
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
