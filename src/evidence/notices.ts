import type { JsonObject } from '../model/json.ts';
import type { Listing } from '../model/listing.ts';
import type { NoticeKind } from '../model/notice.ts';
import { formatRoute, listCounted, type Route } from '../model/route.ts';
import { type DerivedListing, getPriceRange } from './listing.ts';
import { PROOF_METHOD } from './verification.ts';

/** Something that its provider may be told of a listing; `what` says it in codes, and never in anybody's words. */
export interface Notice {
  readonly kind: NoticeKind;
  readonly what: JsonObject;
}

/** Most routes, or cautions, that a notice names. */
const NAMED = 10;

/**
 * Lists what a provider can be told when readers see a listing change: one notice for each kind. A route fails from the
 * first conclusive failure on, long before there is a caution. Routes that others may have invented tell nobody anything.
 */
export function listNotices(before: Listing, after: DerivedListing): Notice[] {
  if (before.state !== 'live') return [];
  if (after.state !== 'live') {
    // A provider's own words are not repeated.
    const reason = after.state_by === 'provider' ? null : after.state_reason;
    return [{ kind: 'removed', what: { state: after.state, by: after.state_by, reason } }];
  }
  const earlier = new Map(before.routes.map((route) => [route.id, route]));
  const routes = listCounted(after.routes).map((route) => ({ route, was: earlier.get(route.id) }));
  return [
    build('failing', 'routes', routes.flatMap(findFailure)),
    build('price_changed', 'prices', [...routes.flatMap(findOtherPrice), ...findOtherRange(before, after)]),
    build('caution', 'cautions', listNewCautions(before, after)),
    build('proof_expires', 'ended', listLostProofs(before, after)),
  ].flat();
}

function build(kind: NoticeKind, name: string, found: readonly (JsonObject | string)[]): Notice[] {
  if (found.length === 0) return [];
  return [{ kind, what: { [name]: found.slice(0, NAMED), total: found.length } }];
}

function findFailure({ route, was }: { route: Route; was: Route | undefined }): JsonObject[] {
  const { probe } = route;
  if (!probe?.failing_since || probe.failing_since === was?.probe?.failing_since) return [];
  return [{ route: formatRoute(route), since: probe.failing_since, outcome: probe.outcome, status: probe.status }];
}

/** Finds another price of a route, in atomic USDC. Prices that appear or vanish are no other prices. */
function findOtherPrice({ route, was }: { route: Route; was: Route | undefined }): JsonObject[] {
  return was ? comparePrices(formatRoute(route), getPriceRange([was], null), getPriceRange([route], null)) : [];
}

/** Finds other prices of a listing that names no routes. */
function findOtherRange(before: Listing, after: DerivedListing): JsonObject[] {
  if (after.routes.length > 0 || before.routes.length > 0) return [];
  const [from, to] = [before, after].map(({ price_min: min, price_max: max }) => min && max && { min, max });
  return comparePrices(null, from || null, to || null);
}

type Range = ReturnType<typeof getPriceRange>;

function comparePrices(route: string | null, from: Range, to: Range): JsonObject[] {
  if (!from || !to || (from.min === to.min && from.max === to.max)) return [];
  return [{ route, from: { ...from }, to: { ...to } }];
}

/** Lists the cautions that nothing of that name had before, by code and route; null is the whole listing. */
function listNewCautions(before: Listing, after: DerivedListing): JsonObject[] {
  const known = new Set(listCautions(before).map(({ code, route }) => `${code} ${route}`));
  return listCautions(after).filter(({ code, route }) => !known.has(`${code} ${route}`));
}

function listCautions({ cautions, routes }: Pick<Listing, 'cautions' | 'routes'>) {
  const ofRoutes = listCounted(routes).flatMap((route) =>
    route.cautions.map(({ code, severity }) => ({ code, severity, route: formatRoute(route) })),
  );
  return [...cautions.map(({ code, severity }) => ({ code, severity, route: null })), ...ofRoutes];
}

function listLostProofs(before: Listing, after: DerivedListing): string[] {
  const proven = new Set(after.routes.filter(({ proof }) => proof !== null).map(({ id }) => id));
  return before.routes.filter(({ id, proof }) => proof !== null && !proven.has(id)).map(formatRoute);
}

/** Days before a proof is too old to count as current at which its provider is told. */
const PROOF_NOTICE_DAYS = 7;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Lists the proofs of a listing that come near their end after `from` and until `until`, ISO 8601 UTC: a notice for each. */
export function listEndingProofs(
  { routes }: Pick<Listing, 'routes'>,
  from: string,
  until: string,
): (Notice & { readonly receipt_id: string })[] {
  return routes.flatMap((route) => {
    if (!route.proof) return [];
    const { verified_at, receipt_id } = route.proof;
    const endMs = Date.parse(verified_at) + PROOF_METHOD.current_days * DAY_MS;
    const dueMs = endMs - PROOF_NOTICE_DAYS * DAY_MS;
    if (dueMs <= Date.parse(from) || dueMs > Date.parse(until)) return [];
    const ending = { route: formatRoute(route), old_at: new Date(endMs).toISOString() };
    return [{ kind: 'proof_expires' as const, what: { ending: [ending], total: 1 }, receipt_id }];
  });
}
