import { listNearest, type NamedRoute } from '../views/compare.ts';
import { parseRouteName } from '../views/route-name.ts';
import type { Published } from './file.ts';
import { findListingPart, findTombstone, listRouteNames } from './listings.ts';

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
