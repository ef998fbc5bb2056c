import { z } from 'zod';
import { getPathDistance, NEAR_ROUTES } from '../evidence/path-distance.ts';
import { DAY_MS } from '../model/duration.ts';
import type { AgentItem } from './listing/item.ts';
import { listFilters } from './listing/query.ts';
import type { PublicHead, Tombstone } from './listing/record.ts';
import type { PublicRoute } from './listing/route-record.ts';
import { formatRouteName, parseRouteName, ROUTE_NAME_LENGTH } from './route-name.ts';
import { formatDay } from './words/figures.ts';

/** Least and most routes in one comparison. */
const COMPARED_MIN = 2;
export const COMPARED_MAX = 4;

const routeName = z
  .string()
  .max(ROUTE_NAME_LENGTH)
  .refine(
    (text) => parseRouteName(text) !== undefined,
    'a slug, a method and a path, such as "example-prices GET /v1/price/:symbol"',
  );

/** Builds the schema of the names of compared routes, of which there are at least `least`. */
const buildRouteNames = (least: number) =>
  z
    .array(routeName)
    .min(least)
    .max(COMPARED_MAX)
    .refine((names) => new Set(names).size === names.length, 'each route once')
    .describe('A route each, as slug, method and path: "example-prices GET /v1/price/:symbol"');

/** Query of the comparison. */
export const compareQuery = z.strictObject({ routes: buildRouteNames(COMPARED_MIN) });

/** Query of the page. One route is enough to look for similar ones, with the given words if any. */
export const comparePageQuery = z.strictObject({ routes: buildRouteNames(1), q: listFilters.shape.q });

/** The name of a route, with the record that it stands for. */
export interface NamedRoute {
  readonly name: string;
  /** The live listing with that name. */
  readonly live?: PublicHead;
  /** Undefined if the listing has no such route. */
  readonly route?: PublicRoute | undefined;
  /** The names of its most similar routes, if it has no such route. */
  readonly nearest: string[];
  /** The tombstone of a removed listing. */
  readonly tombstone?: Tombstone | undefined;
}

/** Routes side by side, with others that could be added. */
export interface Comparison {
  readonly routes: readonly NamedRoute[];
  /** Listings with a route that answers the same words. */
  readonly others: readonly AgentItem[];
  /** Time of the catalogue, ISO 8601 UTC. */
  readonly as_of: string;
}

/** Returns the whole days from the payment that verifies a route to a time; null for a route that is not verified. */
export function getProofAge({ proof }: Pick<PublicRoute, 'proof'>, asOf: string): number | null {
  if (proof === null) return null;
  return Math.max(0, Math.floor((Date.parse(asOf) - Date.parse(proof.verified_at)) / DAY_MS));
}

/** Describes why there is nothing to compare under a name. */
export function describeAbsence({ name, live, tombstone }: NamedRoute): string {
  const named = parseRouteName(name);
  if (tombstone) return `The listing ${tombstone.slug} was removed on ${formatDay(tombstone.delisted_at)}.`;
  if (!live) return `There is no listing "${named?.slug ?? ''}".`;
  return `The listing ${live.slug} has no route ${named?.method} ${named?.path}.`;
}

/** Most routes that are suggested for a name without a route. */
const NEAREST = 3;

/** Lists the names of a listing's routes whose paths are most similar to a name without a route. */
export function listNearest(name: string, routes: readonly Pick<PublicRoute, 'method' | 'path'>[]): string[] {
  const named = parseRouteName(name);
  if (!named) return [];
  return routes
    .slice(0, NEAR_ROUTES)
    .map((route) => ({ route, distance: getPathDistance(route.path, named.path) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEAREST)
    .map(({ route }) => formatRouteName(named.slug, route));
}

/** Longest text for finding similar routes, since the beginning says enough. */
const LIKE_LENGTH = 200;

/** Returns the words for finding routes similar to the first live one; undefined if no route is live. */
export function getLikeWords(routes: readonly NamedRoute[]): string | undefined {
  const first = routes.find(({ route }) => route !== undefined);
  if (!first?.route) return undefined;
  const words = [first.route.description, first.live?.tagline, first.live?.title].find((text) => text?.trim());
  return words?.slice(0, LIKE_LENGTH);
}
