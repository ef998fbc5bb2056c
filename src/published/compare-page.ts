import type { z } from 'zod';
import {
  buildComparePage,
  type ComparePage,
  type comparePageQuery,
  getLikeWords,
  OTHERS_SOUGHT,
} from '../views/pages/compare-page.ts';
import { findComparedRoutes } from './compared-routes.ts';
import { readSelected } from './listings.ts';
import type { Reading } from './reading.ts';

/** Gives the page of routes side by side, with others that answer the same words, or the words of the first route. */
export function getComparePage(
  { published, readAtOnce, selectListings }: Reading,
  { routes: names, q }: z.output<typeof comparePageQuery>,
): ComparePage {
  return readAtOnce((snapshot) => {
    const routes = findComparedRoutes(published, names);
    const words = q ?? getLikeWords(routes);
    const items =
      words === undefined
        ? []
        : readSelected(published, selectListings(published, snapshot, { q: words, limit: OTHERS_SOUGHT }));
    return buildComparePage({ routes, q }, { items: items.map((item) => JSON.parse(item)), asOf: snapshot.revised_at });
  });
}
