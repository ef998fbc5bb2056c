import { isDangerous } from '../model/caution.ts';
import { isTemplate, PATH_TEMPLATE } from '../model/request.ts';
import { formatRoute, getRouteUrl, type Route } from '../model/route.ts';
import { buildRouteIndex, listMatchingRoutes, type RouteIndex } from './route-match.ts';

/** Fewest routes with one description that become one row. */
export const ALIKE_FROM = 20;

/**
 * Returns the routes of a listing in the order of readers. Addresses of a template that a source declares, and `ALIKE_FROM` routes
 * and more of one description, come last, with the name of the one that stands for them: for a text one that was probed, or else
 * the last one before them. What a payment proved, and what is dangerous, stands for itself.
 */
export function foldRoutes(baseUrl: string, routes: readonly Route[]): Route[] {
  const folded = new Map<Route, { readonly row: Route; readonly because: 'template' | 'same_text' }>();
  const templates = buildRouteIndex(baseUrl, routes.filter(isNamedTemplate));
  for (const route of routes.filter(isFoldable)) {
    const row = findTemplate(templates, baseUrl, route);
    if (row) folded.set(route, { row, because: 'template' });
  }
  const standing = new Set(Array.from(folded.values(), ({ row }) => row));
  const last = new Set<Route>();
  const described = routes.filter((route) => !folded.has(route) && route.description !== '');
  for (const group of Map.groupBy(described, ({ description }) => description).values()) {
    const [row, ...others] = group.toSorted((a, b) => getKnowledge(b) - getKnowledge(a));
    if (!row || group.length < ALIKE_FROM) continue;
    for (const route of others)
      if (isFoldable(route) && !standing.has(route)) folded.set(route, { row, because: 'same_text' });
    if (row.probe === null && row.proof === null) last.add(row);
  }
  const shown = [...routes.filter((route) => !folded.has(route) && !last.has(route)), ...last];
  const behind = Map.groupBy(folded, ([, { row }]) => row);
  const rest = shown.flatMap((row) => behind.get(row) ?? []);
  const named = rest.map(([route, { row, because }]) => ({
    ...route,
    folded_under: { route: formatRoute(row), because },
  }));
  return [...shown, ...named];
}

function isFoldable({ proof, cautions }: Route): boolean {
  return proof === null && !isDangerous(cautions);
}

/** Returns whether a path has a template and a name before or after it: `/{any}` says nothing of what fits it. */
function isNamedTemplate({ path }: Route): boolean {
  return isTemplate(path) && /[^/?&=]/.test(path.replace(PATH_TEMPLATE, ''));
}

/** Finds the template that an address fits. One that only others name stands for nothing that the provider names. */
function findTemplate(templates: RouteIndex<Route>, baseUrl: string, route: Route): Route | undefined {
  if (isTemplate(route.path)) return undefined;
  const url = URL.parse(getRouteUrl(baseUrl, route.path));
  const fitting = url === null ? [] : listMatchingRoutes(templates, url);
  return fitting.find(({ method, set_aside }) => method === route.method && (!set_aside || route.set_aside));
}

/** Returns how much is known of a route, to stand for others: a proof counts most, then a probe, then the provider's word. */
function getKnowledge({ proof, probe, cautions, set_aside }: Route): number {
  if (isDangerous(cautions)) return -1;
  return (proof === null ? 0 : 4) + (probe === null ? 0 : 2) + (set_aside ? 0 : 1);
}
