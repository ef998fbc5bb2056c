import type { ChangeKind } from '../model/change.ts';
import type { Listing, Reliability } from '../model/listing.ts';
import { formatRoute, type JsonObject, type Route } from '../model/route.ts';
import type { InferredCategory } from './category.ts';
import { getNetworkSubstance, getRouteSubstance } from './freshness.ts';
import type { DerivedListing } from './listing.ts';
import { getCurrentTerms } from './terms.ts';

/** One difference that readers can see. The reason is a stable code; the detail is the evidence for it. */
export interface Difference {
  kind: ChangeKind;
  reason: string;
  detail: JsonObject;
}

/** The reason of a delisting for which the provider gives none. */
export const ASKED_BY_PROVIDER = 'provider_asked';

const TEXT_FIELDS = ['title', 'tagline', 'description', 'provider_name', 'mcp_endpoint', 'docs_url'] as const;

/**
 * Lists what readers will see differ between what was published (undefined: nothing) and what now follows from the
 * evidence. Equal listings give an empty list; where nothing moved but when it was seen, that is the one difference.
 * `cause` is the reason code of what set the derivation off, `evidence` what that was.
 */
export function listDifferences(
  before: Listing | undefined,
  after: DerivedListing,
  {
    cause,
    evidence,
    inferred,
  }: { cause: string; evidence?: JsonObject | undefined; inferred: InferredCategory | null },
): Difference[] {
  const differences: Difference[] = [];
  const add = (kind: ChangeKind, reason: string, detail: JsonObject) =>
    differences.push({ kind, reason, detail: evidence ? { ...detail, evidence } : detail });

  if (before?.state !== after.state) addStateChange(before, after, cause, add);
  else if (before.state_reason !== after.state_reason || before.state_by !== after.state_by) {
    if (after.state === 'delisted') addDelisting(after, cause, add);
    else add('held', after.state_reason ?? cause, { by: after.state_by });
  }
  if (before?.category !== after.category || before.category_inferred !== after.category_inferred) {
    const detail: JsonObject = { to: after.category, from: before?.category ?? null };
    if (inferred) detail.scores = inferred.scores;
    add('categorised', inferred ? 'inferred_from_text' : 'declared', detail);
  }
  if (before?.price_min !== after.price_min || before.price_max !== after.price_max) {
    add('priced', cause, {
      from: before ? { min: before.price_min, max: before.price_max } : null,
      to: { min: after.price_min, max: after.price_max },
    });
  }
  if (!before) return differences;

  const fields = TEXT_FIELDS.filter((field) => before[field] !== after[field]);
  if (fields.length > 0) add('described', cause, { fields });
  addVerificationChanges(before, after, add);
  const routed = compareRoutes(before.routes, after.routes);
  if (routed) add('routed', cause, routed);
  const { primary_network } = after;
  const isPrimarySame = before.primary_network === primary_network;
  if (!isPrimarySame || !isSame(getNetworkSubstance(before.networks), getNetworkSubstance(after.networks))) {
    const moved = isPrimarySame ? {} : { primary_network };
    add('networked', cause, { from: before.networks, to: after.networks, ...moved });
  }
  const [was, is] = [before.reliability, after.reliability];
  if (was.band !== is.band || was.score !== is.score) {
    add('scored', cause, { from: withoutDays(was), to: withoutDays(is) });
  }
  if (differences.length === 0 && !isSame(getSeen(before), getSeen(after))) add('seen', cause, {});
  return differences;
}

type AddDifference = (kind: ChangeKind, reason: string, detail: JsonObject) => void;

function addStateChange(before: Listing | undefined, after: DerivedListing, cause: string, add: AddDifference): void {
  if (after.state === 'delisted') addDelisting(after, cause, add);
  else if (after.state === 'held') add('held', after.state_reason ?? cause, {});
  else if (before?.state === 'delisted') add('relisted', cause, {});
  else add('listed', cause, { sources: after.sources });
}

/** The provider's words come from outside, so they are never the reason, which may be taken for a code of ours. */
function addDelisting({ state_by: by, state_reason: words }: DerivedListing, cause: string, add: AddDifference): void {
  if (by === 'provider') add('delisted', 'delisted_by_provider', { by, words });
  else add('delisted', words ?? cause, { by });
}

function addVerificationChanges(before: Listing, after: DerivedListing, add: AddDifference): void {
  const now = new Set(after.routes.map(({ id }) => id));
  for (const route of before.routes) {
    if (!route.proof || now.has(route.id)) continue;
    add('unverified', 'route_removed', { route: formatRoute(route), proof: null, earlier: route.proof });
  }
  for (const route of after.routes) {
    const earlier = before.routes.find(({ id }) => id === route.id);
    if (earlier?.proof?.receipt_id === route.proof?.receipt_id) continue;
    const detail = { route: formatRoute(route), proof: route.proof, earlier: earlier?.proof ?? null };
    if (route.proof) add('verified', 'receipt', detail);
    else add('unverified', 'terms_changed', detail);
  }
}

/** Says which routes came, went or read otherwise, by name, and how the terms of those changed; undefined when none did. */
function compareRoutes(before: readonly Route[], after: readonly Route[]): JsonObject | undefined {
  const earlier = new Map(before.map((route) => [route.id, route]));
  const now = new Set(after.map(({ id }) => id));
  const added = after.filter(({ id }) => !earlier.has(id));
  const removed = before.filter(({ id }) => !now.has(id));
  const changed = after.filter((route) => {
    const was = earlier.get(route.id);
    return was !== undefined && !isSame(withoutProof(was), withoutProof(route));
  });
  if (added.length + removed.length + changed.length === 0) return undefined;
  const terms = changed.flatMap((route) => compareTerms(earlier.get(route.id), route) ?? []);
  const undelivered = changed
    .filter(
      (route) => route.undelivered && earlier.get(route.id)?.undelivered?.receipt_id !== route.undelivered.receipt_id,
    )
    .map((route) => ({ route: formatRoute(route), ...route.undelivered }));
  return {
    added: added.map(formatRoute),
    removed: removed.map(formatRoute),
    changed: changed.map(formatRoute),
    ...(terms.length > 0 ? { terms } : {}),
    ...(undelivered.length > 0 ? { undelivered } : {}),
  };
}

/** Says what a buyer was to expect of a route, and is now, where that differs. */
function compareTerms(before: Route | undefined, after: Route): JsonObject | undefined {
  const [from, to] = [before, after].map((route) =>
    getCurrentTerms(route?.terms ?? []).map(({ network, scheme, asset, amount, pay_to }) => {
      return { network, scheme, asset, amount, pay_to };
    }),
  );
  const payees = [before?.payee ?? null, after.payee];
  if (isSame(from, to) && payees[0] === payees[1]) return undefined;
  return { route: formatRoute(after), from, to, ...(payees[0] === payees[1] ? {} : { payee: after.payee }) };
}

/** A proof that comes or goes is a change of its own kind, and being seen again is none of the route. */
function withoutProof(route: Route): Omit<ReturnType<typeof getRouteSubstance>, 'proof' | 'verification' | 'probed'> {
  const { proof: _proof, verification: _verification, probed: _probed, ...rest } = getRouteSubstance(route);
  return rest;
}

/** What says how recent a listing is. */
function getSeen({ networks, routes, reliability, sources }: DerivedListing): unknown {
  return [networks, routes.map(({ terms, probe }) => [terms, probe]), reliability, sources];
}

function withoutDays({ days: _days, ...figures }: Reliability): Omit<Reliability, 'days'> {
  return figures;
}

/** Compares JSON values that were built in the same key order. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
