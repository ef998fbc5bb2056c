import type { NamedRoute } from '../views/compare.ts';
import { parseRouteName } from '../views/route-name.ts';
import type { Published } from './file.ts';
import { findListingPart, findTombstone, listRouteNames } from './listings.ts';

/** Finds what the catalogue has under the names of routes, in their order: by method, and by path or whole address. */
export function findComparedRoutes(published: Published, names: readonly string[]): NamedRoute[] {
  return names.map((name) => {
    const { slug = '', method, path } = parseRouteName(name) ?? {};
    const routes = listRouteNames(published, slug);
    const position = routes.findIndex((one) => one.method === method && (one.path === path || one.url === path));
    const live = findListingPart(published, slug, { part: { from: 0, to: 1 }, fitting: [position] });
    if (!live) return { name, tombstone: findTombstone(published, slug) };
    const { listing, item } = live;
    return { name, live: { listing, item, routes }, route: listing.routes[0] };
  });
}
