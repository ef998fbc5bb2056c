import { stemmer } from 'stemmer';
import type { Route } from '../model/route.ts';
import type { DiscoverySearchQuery } from '../views/discovery.ts';
import { LIST_LIMIT_MAX } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import { countMatching, listMatching, type Resource } from './resources.ts';
import { selectListings } from './select.ts';
import type { Snapshot } from './snapshot.ts';

/** Routes of one listing that a search shows: one of hundreds of routes must not fill the page. */
const ROUTES_PER_LISTING = 5;

export interface FoundResources {
  resources: Resource[];
  next_cursor: string | undefined;
  /** More routes match than are shown, on further pages or of these listings. */
  partial: boolean;
}

/**
 * Finds the routes for a request: listings in the order of the catalogue's own search, of each the routes that say most of
 * what is asked. Pages end between listings, so a page may hold fewer than asked for, and its cursor is the search's own.
 * Throws `bad_cursor` as `selectListings` does. Call it while the file stays at the revision of the snapshot.
 */
export function findResources(
  published: Published,
  snapshot: Snapshot,
  { query: q, limit, cursor, ...filters }: DiscoverySearchQuery,
): FoundResources {
  const counts = countMatching(published, filters);
  const select = (count: number, from: string | undefined) =>
    selectListings(published, snapshot, { q, limit: count, ...(from !== undefined && { cursor: from }) });
  const resources: Resource[] = [];
  let partial = false;
  for (let from = cursor; ; ) {
    const { listings, next_cursor } = select(LIST_LIMIT_MAX, from);
    for (const [index, listing] of listings.entries()) {
      const count = counts.get(listing.number) ?? 0;
      const shown = Math.min(count, ROUTES_PER_LISTING, limit);
      if (resources.length + shown > limit) {
        return { resources, next_cursor: index === 0 ? from : select(index, from).next_cursor, partial: true };
      }
      if (count === 0) continue;
      resources.push(...sortByRelevance(listMatching(published, listing, filters), q).slice(0, shown));
      partial ||= shown < count;
    }
    if (next_cursor === undefined) return { resources, next_cursor, partial };
    from = next_cursor;
  }
}

/** Sorts routes by how many words of the request they say, in the path before the description; even ones stay as they are. */
function sortByRelevance(resources: readonly Resource[], request: string): Resource[] {
  const words = new Set(listStems(request));
  const weighed = resources.map((resource) => ({ resource, weight: weighRoute(resource.route, words) }));
  return weighed.sort((a, b) => b.weight - a.weight).map(({ resource }) => resource);
}

function weighRoute({ path, description }: Route, words: ReadonlySet<string>): number {
  const [inPath, inText] = [new Set(listStems(path)), new Set(listStems(description))];
  let weight = 0;
  for (const word of words) weight += (inPath.has(word) ? 2 : 0) + (inText.has(word) ? 1 : 0);
  return weight;
}

function listStems(text: string): string[] {
  const words = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return (words.match(/[\p{L}\p{N}]{3,}/gu) ?? []).map(stemmer);
}
