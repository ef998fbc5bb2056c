import type { RemovedListing, Tombstone } from '../views/listing/record.ts';
import type { ListedItem } from '../views/submission.ts';
import type { Published } from './file.ts';
import { findListingPart, listLiveOnOrigin } from './listings.ts';

/** Most listings of an origin that are named. */
const NAMED = 5;

const REMOVED = `
  SELECT document FROM listings JOIN documents ON listing = number
    WHERE (base_url = @origin OR base_url >= @origin || '/' AND base_url < @origin || '0') AND state = 'delisted'
    LIMIT +@limit`;

/** Listings of an origin: the live ones, and one that the operator removed. */
export interface Submitted {
  readonly live: readonly ListedItem[];
  readonly removed: Tombstone | undefined;
}

/** Finds the public listings at an origin. */
export function findSubmitted(published: Published, origin: string): Submitted {
  const live = listLiveOnOrigin(published, origin, NAMED).flatMap((listing): ListedItem[] => {
    const found = findListingPart(published, listing.slug, { part: { from: 0, to: 0 } });
    if (!found) return [];
    const { slug, title, reliability_score, verified_route_count, reliability } = found.head;
    const { samples, last_sample_at } = reliability;
    return [{ slug, title, reliability_score, verified_route_count, samples, last_sample_at }];
  });
  const removed = published.prepare<{ document: string }>(REMOVED).all({ origin, limit: NAMED });
  const tombstones = removed.map(({ document }) => (JSON.parse(document) as RemovedListing).tombstone);
  return { live, removed: tombstones.find(({ delisted_by }) => delisted_by === 'operator') };
}
