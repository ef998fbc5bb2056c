import type { z } from 'zod';
import {
  COMPARED_MAX,
  type Comparison,
  type comparePageQuery,
  getLikeWords,
  listNearest,
  type NamedRoute,
} from '../views/compare.ts';
import type { AgentItem } from '../views/listing/item.ts';
import { formatRouteName, parseRouteName } from '../views/route-name.ts';
import type { Published } from './file.ts';
import { findListingPart, findTombstone, listRouteNames, readSelected } from './listings.ts';
import type { Reading } from './reading.ts';

const AT_PATH = `
  SELECT position FROM routes JOIN listings ON number = listing WHERE path = +? AND method = +? AND slug = +?
  ORDER BY position LIMIT 1`;

/** Finds the routes for a list of names, in the order of the names. A name is a method with a path or a whole address. */
export function findComparedRoutes(published: Published, names: readonly string[]): NamedRoute[] {
  return names.map((name) => {
    const { slug = '', method, path } = parseRouteName(name) ?? {};
    const found = published.prepare<{ position: number }>(AT_PATH).get(path, method, slug);
    const routes = found ? [] : listRouteNames(published, slug);
    const position = found?.position ?? routes.findIndex((one) => one.method === method && one.url === path);
    const part = findListingPart(published, slug, { part: { from: 0, to: 1 }, fitting: [position] });
    if (!part) return { name, nearest: [], tombstone: findTombstone(published, slug) };
    const [route] = part.routes;
    return { name, live: part.head, route, nearest: route ? [] : listNearest(name, routes) };
  });
}

/** Most routes that are offered to be added to a comparison. */
const OTHERS = 6;

/** Reads the routes to compare, and others that answer the given words, or else the words of the first route. */
export function readComparison(
  { published, readAtOnce, selectListings }: Reading,
  { routes: names, q }: z.output<typeof comparePageQuery>,
): Comparison {
  return readAtOnce((snapshot) => {
    const routes = findComparedRoutes(published, names);
    const known = new Set(
      routes.flatMap(({ live, route }) => (live && route ? [formatRouteName(live.slug, route)] : [])),
    );
    const words = q ?? getLikeWords(routes);
    const found =
      words === undefined
        ? []
        : readSelected(published, selectListings(published, snapshot, { q: words, limit: OTHERS + COMPARED_MAX }));
    const items = found.map((item): AgentItem => JSON.parse(item));
    const others = items.filter(({ slug, route }) => route && !known.has(formatRouteName(slug, route)));
    return { routes, others: others.slice(0, OTHERS), as_of: snapshot.revised_at };
  });
}
