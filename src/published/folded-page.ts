import { buildUrl } from '../views/links.ts';
import { countTaken, foldProviders } from '../views/listing/provider-folds.ts';
import { type FoldedListings, getListLimit, type ListQuery } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import { readHost } from './listings.ts';
import { type Selection, selectListings } from './select.ts';
import type { Snapshot } from './snapshot.ts';

/** How many listings more than it has rows a page looks at, so that it is full although some are folded. */
const LOOKED_AT = 20;

/** The rows of a page, and what is folded behind them. */
export interface FoldedPage extends Pick<Selection, 'listings' | 'answer' | 'next_cursor'> {
  readonly folded: FoldedListings[];
}

/**
 * Selects a page as `selectListings` does. In answer to words, the listings of one provider are folded behind three of them, unless
 * one provider is asked for. Each listing is on one page all the same, as a row or by its slug. `cut` gives the page with
 * so many rows, by default all that it has.
 */
export function selectFoldedPage(
  published: Published,
  snapshot: Snapshot,
  query: ListQuery,
): { selected: Selection; cut: (limit?: number) => FoldedPage } {
  const rows = getListLimit(query);
  const limit = query.q === undefined ? rows : rows + LOOKED_AT;
  const selected = selectListings(published, snapshot, { ...query, limit });
  const { listings, answer, query: asked } = selected;
  const isWhole = asked.q === undefined || asked.provider !== undefined || asked.host !== undefined;
  const entries = listings.map((listing, at) => ({
    listing,
    match: answer?.matches[at],
    host: isWhole ? '' : readHost(published, listing),
  }));
  const getHost = (entry: (typeof entries)[number]) => entry.host;
  const cut = (limit = rows): FoldedPage => {
    const count = countTaken(entries, getHost, { limit, isWhole });
    const shown = foldProviders(entries.slice(0, count), getHost, isWhole);
    return {
      listings: shown.map(({ row }) => row.listing),
      answer: answer && { ...answer, matches: shown.flatMap(({ row }) => row.match ?? []) },
      next_cursor: count < entries.length ? selected.getCursorAfter(count) : selected.next_cursor,
      folded: shown.flatMap(({ more }) => {
        if (more === null) return [];
        const slugs = more.rows.map(({ listing }) => listing.slug);
        const page_url = more.href === null ? null : buildUrl(published.baseUrl, more.href);
        return { provider: more.provider, count: slugs.length, slugs, page_url };
      }),
    };
  };
  return { selected: { ...selected, query: { ...asked, limit: rows } }, cut };
}
