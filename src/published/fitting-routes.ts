import type { Published } from './file.ts';
import { findLive } from './listings.ts';
import { getSearchIndex } from './search-index.ts';
import { DANGER_FACTOR } from './select.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Lists the positions of the routes of a live listing, those that best answer the request first; in their own order if none of
 * them has a word of it. Call it while the file stays at the revision of the snapshot.
 */
export function listFittingRoutes(
  published: Published,
  snapshot: Snapshot,
  { slug, q }: { slug: string; q: string },
): number[] {
  const live = findLive(published, slug);
  const { facts, expand, score } = getSearchIndex(published, snapshot);
  const listing = live && facts.get(live.number);
  if (!listing) return [];
  const { groups, vector } = expand(q);
  const scores = score(groups, vector);
  const values = Array.from({ length: listing.count }, (_, position) => {
    const factor = facts.isDangerous(listing, position) ? DANGER_FACTOR : 1;
    return factor * scores.getScore(listing.number, position);
  });
  return [...values.keys()].sort((a, b) => (values[b] as number) - (values[a] as number));
}
