import type { RouteRow } from './listing-routes.ts';

/** Routes of a table that belong together. */
export interface RouteGroup {
  /** How their paths begin: `/maths`; null where they are not grouped. */
  readonly name: string | null;
  readonly routes: readonly RouteRow[];
}

/** How many routes are read at a glance; a longer table is kept to a part of the screen, and grouped. */
export const LONG_TABLE = 20;

/** From how many routes on a table can be filtered. */
export const FILTERED_FROM = 9;

/** Words of a path that say nothing of what it is for. */
const EMPTY_SEGMENT = /^(api|v\d+)$/i;

/** Groups the routes of a long table by the first telling part of their path, where that makes more than one group. */
export function groupRoutes(routes: readonly RouteRow[]): RouteGroup[] {
  if (routes.length <= LONG_TABLE) return [{ name: null, routes }];
  const groups = Map.groupBy(routes, ({ path }) => getBeginning(path));
  // As many groups as routes would only repeat the paths.
  if (groups.size < 2 || groups.size > routes.length / 3) return [{ name: null, routes }];
  return [...groups].map(([name, members]) => ({ name, routes: members }));
}

function getBeginning(path: string): string {
  const segments = (path.split('?')[0] ?? '').split('/').filter(Boolean);
  const telling = segments.findIndex((segment) => !EMPTY_SEGMENT.test(segment));
  return `/${segments.slice(0, Math.max(telling, 0) + 1).join('/')}`;
}
