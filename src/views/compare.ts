import { z } from 'zod';
import { getPathDistance, NEAR_ROUTES } from '../evidence/path-distance.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import { catalogueSummary } from '../model/catalogue.ts';
import { latency } from '../model/probe.ts';
import { getUsdcNumber } from '../model/usdc.ts';
import { agentItem } from './listing/item.ts';
import { buildMatchedRoute, matchedRoute } from './listing/matched-route.ts';
import { type PublicHead, type Tombstone, tombstone } from './listing/record.ts';
import type { PublicRoute } from './listing/route-record.ts';
import { formatRouteName, parseRouteName, ROUTE_NAME_LENGTH } from './route-name.ts';
import { formatDay } from './words/figures.ts';

/** Least and most routes in one comparison. */
export const COMPARED_MIN = 2;
export const COMPARED_MAX = 4;

const routeNames = z
  .array(
    z
      .string()
      .max(ROUTE_NAME_LENGTH)
      .refine(
        (text) => parseRouteName(text) !== undefined,
        'a slug, a method and a path, such as "example-prices GET /v1/price/:symbol"',
      ),
  )
  .min(COMPARED_MIN)
  .max(COMPARED_MAX)
  .refine((names) => new Set(names).size === names.length, 'each route once')
  .describe('A route each, as slug, method and path: "example-prices GET /v1/price/:symbol"');

/** Query of the comparison. */
export const compareQuery = z.strictObject({ routes: routeNames });

/** A route that was asked for, beside others. */
export const comparedRoute = z
  .object({
    name: z.string().describe('As it was asked for'),
    state: z.enum(['live', 'unknown', 'removed']).describe('unknown: nothing of this name is on record'),
    notice: z.string().optional().describe('Of one that is not live: why there is nothing to compare'),
    nearest: z.array(z.string()).optional().describe('Names of routes of the same listing that may be meant'),
    tombstone: tombstone.optional(),
    listing: agentItem
      .pick({ slug: true, title: true, host: true, page_url: true, reliability_band: true, reliability_score: true })
      .optional(),
    route: matchedRoute
      .extend({
        price_min_usdc: z.number().nullable().describe('Lowest price that is asked or declared now; null if unknown'),
        price_max_usdc: z.number().nullable().describe('Highest, over networks and offers'),
        recorded_price_min_usdc: z.number().nullable().describe('Lowest price on record, past ones included'),
        recorded_price_max_usdc: z.number().nullable(),
        price_evidence: z
          .enum(['observed', 'declared'])
          .nullable()
          .describe('observed: a 402 answer was seen to ask every one of these prices'),
        proof_age_days: z.int().nonnegative().nullable().describe('Whole days since the payment that verifies it'),
        latency: latency.nullable().describe('Of its valid answers to probes; null while fewer than 12 were measured'),
      })
      .optional(),
  })
  .meta({ id: 'ComparedRoute' });
export type ComparedRoute = z.infer<typeof comparedRoute>;

/** The answer of `GET /agent/compare`. */
export const agentComparison = z
  .object({
    catalogue: catalogueSummary,
    revision: z.int().nonnegative().describe('Catalogue revision that this answer is of'),
    routes: z.array(comparedRoute).describe('In the order in which they were asked for'),
  })
  .meta({ id: 'AgentComparison' });
export type AgentComparison = z.infer<typeof agentComparison>;

/** The name of a route, with what the catalogue has under it. */
export interface NamedRoute {
  readonly name: string;
  /** The live listing that is named. */
  readonly live?: PublicHead;
  /** Undefined where that has no such route. */
  readonly route?: PublicRoute | undefined;
  /** The names of its routes that are most like this one, where it has no such route. */
  readonly nearest: string[];
  /** The tombstone of a removed listing. */
  readonly tombstone?: Tombstone | undefined;
}

/** Builds a route of a comparison, as of a time (ISO 8601 UTC). */
export function buildComparedRoute(found: NamedRoute, asOf: string): ComparedRoute {
  const { name, live, route, nearest, tombstone } = found;
  if (live && route) return { name, state: 'live', ...buildFacts(live, route, asOf) };
  return {
    name,
    state: tombstone ? 'removed' : 'unknown',
    notice: describeAbsence(found),
    ...(nearest.length > 0 && { nearest }),
    ...(tombstone && { tombstone }),
  };
}

function buildFacts(listing: PublicHead, route: PublicRoute, asOf: string) {
  const { slug, title, host, page_url, reliability_band, reliability_score } = listing;
  const current = getCurrentTerms(route.terms);
  const isSeen = current.every(({ evidence }) => evidence === 'observed');
  const [price_min_usdc, price_max_usdc] = getPriceRange(current);
  const [recorded_price_min_usdc, recorded_price_max_usdc] = getPriceRange(route.terms);
  return {
    listing: { slug, title, host, page_url, reliability_band, reliability_score },
    route: {
      ...buildMatchedRoute(listing, route),
      ...{ price_min_usdc, price_max_usdc, recorded_price_min_usdc, recorded_price_max_usdc },
      price_evidence: current.length === 0 ? null : isSeen ? ('observed' as const) : ('declared' as const),
      proof_age_days: getProofAge(route, asOf),
      latency: route.probe?.latency ?? null,
    },
  };
}

function getPriceRange(terms: readonly { amount: number }[]): [number, number] | [null, null] {
  if (terms.length === 0) return [null, null];
  const amounts = terms.map(({ amount }) => amount);
  return [getUsdcNumber(Math.min(...amounts)), getUsdcNumber(Math.max(...amounts))];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the whole days from the payment that verifies a route to a time; null for a route that is not verified. */
export function getProofAge({ proof }: Pick<PublicRoute, 'proof'>, asOf: string): number | null {
  if (proof === null) return null;
  return Math.max(0, Math.floor((Date.parse(asOf) - Date.parse(proof.verified_at)) / DAY_MS));
}

/** Says why there is nothing to compare under a name. */
export function describeAbsence({ name, live, tombstone }: NamedRoute): string {
  const named = parseRouteName(name);
  if (tombstone) return `The listing ${tombstone.slug} was removed on ${formatDay(tombstone.delisted_at)}.`;
  if (!live) return `There is no listing "${named?.slug ?? ''}".`;
  return `The listing ${live.slug} has no route ${named?.method} ${named?.path}.`;
}

/** Most routes that are suggested for a name without a route. */
const NEAREST = 3;

/** Lists the names of the routes of a listing whose paths are most like that of a name without a route. */
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
