import { buildRouteIndex, listMatchingRoutes } from '../evidence/route-match.ts';
import type { ListQuery } from '../views/listing/query.ts';
import type { Published } from './file.ts';
import { listLiveOnOrigin } from './listings.ts';

/** Listings by number, each with the positions of its named routes; undefined if all its routes are named. */
export type NamedRoutes = ReadonlyMap<number, ReadonlySet<number> | undefined>;

/** Most listings of a host, and most routes of a path on any host, that are read. */
const LISTINGS_MAX = 1000;
const ROUTES_MAX = 10_000;

/**
 * Finds the listings and routes that the filters `host` and `path` name: live listings on the host, and their routes that are
 * called at the path or have it below the base address of their listing; undefined if neither is set.
 */
export function findNamedRoutes(
  published: Published,
  { host, path }: Pick<ListQuery, 'host' | 'path'>,
): NamedRoutes | undefined {
  if (host === undefined) return path === undefined ? undefined : findAtPath(published, path);
  const listings = ['https', 'http'].flatMap((scheme) =>
    listLiveOnOrigin(published, `${scheme}://${host}`, LISTINGS_MAX),
  );
  if (path === undefined) return new Map(listings.map(({ number }) => [number, undefined]));
  const read = published.prepare<{ position: number; path: string }>(
    'SELECT position, path FROM routes WHERE listing = ?',
  );
  return new Map(
    listings.flatMap(({ number, base_url }) => {
      const routes = read.all(number);
      const url = URL.parse(path, base_url);
      const called = url === null ? [] : listMatchingRoutes(buildRouteIndex(base_url, routes), url);
      const found = [...called, ...routes.filter((route) => route.path === path)];
      return found.length === 0 ? [] : [[number, new Set(found.map(({ position }) => position))]];
    }),
  );
}

/** Finds the routes with exactly this path, on any host. */
function findAtPath(published: Published, path: string): NamedRoutes {
  const found = new Map<number, Set<number>>();
  const rows = published
    .prepare<{ listing: number; position: number }>(
      'SELECT listing, position FROM routes WHERE path = ? ORDER BY listing, position LIMIT +?',
    )
    .all(path, ROUTES_MAX);
  for (const { listing, position } of rows) found.set(listing, (found.get(listing) ?? new Set()).add(position));
  return found;
}
