import { formatRoute, type Route } from '../model/route.ts';
import { PATHS } from './links.ts';

/** Longest name of a route, in UTF-16 units: slug, method and path. */
export const ROUTE_NAME_LENGTH = 2200;

const NAME = /^([a-z0-9]+(?:-[a-z0-9]+)*) ([A-Z]{3,7}) ((?:\/|https?:\/\/).*)$/s;

/** A route, named by its listing, method and path. */
interface RouteName {
  readonly slug: string;
  readonly method: string;
  /** Its path, or its whole address. */
  readonly path: string;
}

/** Parses the name of a route, `example-prices GET /v1/price/:symbol`; undefined for any other text. */
export function parseRouteName(text: string): RouteName | undefined {
  const [, slug, method, path] = NAME.exec(text) ?? [];
  return slug === undefined || method === undefined || path === undefined ? undefined : { slug, method, path };
}

/** Writes the name of a route. */
export function formatRouteName(slug: string, route: Pick<Route, 'method' | 'path'>): string {
  return `${slug} ${formatRoute(route)}`;
}

/** Builds the address of a comparison from the names of its routes, and the words for finding others. */
export function buildComparePath(names: readonly string[], q = '', path: string = PATHS.compare): string {
  const given = [...names.map((name) => ['routes', name]), ...(q === '' ? [] : [['q', q]])];
  return `${path}?${new URLSearchParams(given)}`;
}
