import { findNamedRoute, type NamedRoute } from '../views/compare.ts';
import { parseRouteName } from '../views/route-name.ts';
import type { Published } from './file.ts';
import { findListing } from './listings.ts';

/** Finds what the catalogue has under the names of routes, in their order. Each listing is read once. */
export function findComparedRoutes(published: Published, names: readonly string[]): NamedRoute[] {
  const read = new Map<string, ReturnType<typeof findListing>>();
  return names.map((name) => {
    const slug = parseRouteName(name)?.slug ?? '';
    if (!read.has(slug)) read.set(slug, findListing(published, { slug }));
    return findNamedRoute(name, read.get(slug));
  });
}
