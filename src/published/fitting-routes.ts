import type { Published } from './file.ts';
import { findLive } from './listings.ts';
import { DANGER_FACTOR } from './select.ts';
import type { Snapshot } from './snapshot.ts';
import { getWordIndex } from './word-index.ts';

const DANGEROUS = 'SELECT position FROM routes WHERE listing = ? AND danger = 1';

/**
 * Lists the positions of the routes of a live listing, those that answer most of a request first; in their own order where
 * none of them says a word of it. Call it while the file stays at the revision of the snapshot.
 */
export function listFittingRoutes(
  published: Published,
  snapshot: Snapshot,
  { slug, q }: { slug: string; q: string },
): number[] {
  const listing = findLive(published, slug);
  if (!listing) return [];
  const { number } = listing;
  const positions = published
    .prepare<{ position: number }>('SELECT position FROM routes WHERE listing = ? ORDER BY position')
    .all(number)
    .map(({ position }) => position);
  const words = getWordIndex(published, snapshot);
  const { plan, vector } = words.buildPlan(q);
  const scores = words.score(plan, vector);
  const worth = scores.weigh(number);
  if (!worth) return positions;
  const rows = published.prepare<{ position: number }>(DANGEROUS).all(number);
  const dangerous = new Set(rows.map(({ position }) => position));
  const values = positions.map((position) => {
    const factor = dangerous.has(position) ? DANGER_FACTOR : 1;
    return factor * scores.weighRoute(number, position, worth.score);
  });
  return positions.sort((a, b) => (values[b] as number) - (values[a] as number));
}
