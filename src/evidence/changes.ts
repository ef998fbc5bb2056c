import { CAUTION_CODES, type Caution, type CautionCode } from '../model/caution.ts';
import type { ChangeKind } from '../model/change.ts';
import type { JsonObject } from '../model/json.ts';
import type { Listing, Reliability } from '../model/listing.ts';
import { formatRoute, type Route } from '../model/route.ts';
import type { InferredCategory } from './category.ts';
import { omitNetworkFreshness, omitRouteFreshness } from './freshness.ts';
import type { DerivedListing } from './listing.ts';
import { getCurrentTerms, getPriceCeilings } from './terms.ts';

/** One difference that readers can see. The reason is a stable code; the detail is the evidence for it. */
export interface Difference {
  kind: ChangeKind;
  reason: string;
  detail: JsonObject;
}

/** The evidence of changes: the same for all of them, or chosen by the reason of each change. */
export type ChangeEvidence = JsonObject | ((reason: string) => JsonObject);

/** The reason of a delisting if the provider gives none. */
export const ASKED_BY_PROVIDER = 'provider_asked';

const TEXT_FIELDS = ['title', 'tagline', 'description', 'provider_name', 'mcp_endpoint', 'docs_url'] as const;

/**
 * Lists the differences that readers will see between the published listing (undefined: none was published) and the one
 * that now follows from the evidence, as the log of changes has them. Listings that are equal, or differ only in
 * how recent they are or in points of the score, give an empty list. `cause` is the reason code of the event that led to this derivation,
 * and `evidence` describes that event.
 */
export function listDifferences(
  before: Listing | undefined,
  after: DerivedListing,
  {
    cause,
    evidence,
    inferred,
  }: { cause: string; evidence?: ChangeEvidence | undefined; inferred: InferredCategory | null },
): Difference[] {
  const differences: Difference[] = [];
  const add = (kind: ChangeKind, reason: string, detail: JsonObject) => {
    const basis = typeof evidence === 'function' ? evidence(reason) : evidence;
    differences.push({ kind, reason, detail: basis ? { ...detail, evidence: basis } : detail });
  };

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
  const [priceBefore, price] = [before ? getPriceRange(before) : null, getPriceRange(after)];
  if (!isSame(priceBefore, price)) add('priced', cause, { from: priceBefore, to: price });
  if (!before) return differences;

  const fields = TEXT_FIELDS.filter((field) => before[field] !== after[field]);
  if (fields.length > 0) add('described', cause, { fields });
  addVerificationChanges(before, after, cause, add);
  addCautionChanges(before, after, cause, add);
  addCorrections(before, after, add);
  const routed = compareRoutes(before.routes, after.routes);
  if (routed) add('routed', cause, routed);
  const { primary_network } = after;
  const isPrimarySame = before.primary_network === primary_network;
  if (!isPrimarySame || !isSame(omitNetworkFreshness(before.networks), omitNetworkFreshness(after.networks))) {
    const moved = isPrimarySame ? {} : { primary_network };
    const reason = isLossByFailingProbes(before, after) ? 'probe_failed' : cause;
    add('networked', reason, { from: before.networks, to: after.networks, ...moved });
  }
  const [was, is] = [before.reliability, after.reliability];
  if (was.band !== is.band) add('scored', 'sampled', { from: withoutDays(was), to: withoutDays(is) });
  return differences;
}

/** Returns the prices of a listing, with the ends that are ceilings where one is. */
function getPriceRange(listing: DerivedListing) {
  const ceilings = getPriceCeilings(listing);
  const isCapped = ceilings.min || ceilings.max;
  return { min: listing.price_min, max: listing.price_max, ...(isCapped && { ceilings }) };
}

type AddDifference = (kind: ChangeKind, reason: string, detail: JsonObject) => void;

function addStateChange(before: Listing | undefined, after: DerivedListing, cause: string, add: AddDifference): void {
  if (after.state === 'delisted') addDelisting(after, cause, add);
  else if (after.state === 'held') add('held', after.state_reason ?? cause, {});
  else if (before?.state === 'delisted') add('relisted', cause, {});
  else add('listed', cause, { sources: after.sources });
}

/**
 * A provider's words come from outside, so they are never used as the reason: a reason may be taken for one of our
 * codes.
 */
function addDelisting({ state_by: by, state_reason: words }: DerivedListing, cause: string, add: AddDifference): void {
  if (by === 'provider') add('delisted', 'delisted_by_provider', { by, words });
  else add('delisted', words ?? cause, { by });
}

function addVerificationChanges(before: Listing, after: DerivedListing, cause: string, add: AddDifference): void {
  const now = new Set(after.routes.map(({ id }) => id));
  for (const route of before.routes) {
    if (!route.proof || now.has(route.id)) continue;
    add('unverified', 'route_removed', { route: formatRoute(route), proof: null, earlier: route.proof });
  }
  const earlierById = new Map(before.routes.map((route) => [route.id, route]));
  for (const route of after.routes) {
    const earlier = earlierById.get(route.id);
    const known = new Set(earlier?.proofs.map(({ receipt_id }) => receipt_id));
    const shared = { route: formatRoute(route), earlier: earlier?.proof ?? null };
    for (const proof of route.proofs.filter(({ receipt_id }) => !known.has(receipt_id))) {
      add('verified', 'paid_and_delivered', { ...shared, proof });
    }
    if (earlier?.proof && !route.proof) add('unverified', getLossReason(route, cause), { ...shared, proof: null });
  }
}

/**
 * Returns why a route is no longer verified: a later paid call, a correction, or terms that differ from those that were
 * paid.
 */
function getLossReason({ undelivered }: Route, cause: string): string {
  if (undelivered) return undelivered.unrecognised === null ? 'paid_not_delivered' : 'paid_not_recognised';
  return cause === 'corrected_by_operator' ? cause : 'terms_changed';
}

/**
 * Adds one change for each caution code: the routes that have the caution now (an empty list means the whole listing),
 * and those for which it began or ended.
 */
function addCautionChanges(before: Listing, after: DerivedListing, cause: string, add: AddDifference): void {
  for (const code of CAUTION_CODES) {
    const [was, is] = [before, after].map((listing) => listCautionsBySubject(listing, code)) as [
      CautionsBySubject,
      CautionsBySubject,
    ];
    const added = [...is].filter(([name, one]) => getCautionKey(was.get(name)) !== getCautionKey(one));
    const cleared = [...was.keys()].filter((name) => !is.has(name));
    const routes = [...is.keys()].filter(isRouteName);
    const [first] = added;
    if (first) {
      const detail = { code, routes, added: added.map(([name]) => name).filter(isRouteName), caution: first[1] };
      add('cautioned', code, detail);
    } else if (cleared.length > 0) {
      add('cleared', cause, { code, routes, cleared: cleared.filter(isRouteName) });
    }
    for (const [name, { reply }] of is) {
      const earlier = was.get(name);
      if (!earlier || earlier.reply?.text === reply?.text) continue;
      const detail = { code, route: isRouteName(name) ? name : null, text: reply?.text ?? null };
      add('replied', reply ? 'replied' : 'reply_withdrawn', detail);
    }
  }
}

function addCorrections(before: Listing, after: DerivedListing, add: AddDifference): void {
  for (const correction of after.corrections) {
    if (before.corrections.some((one) => isSame(one, correction))) continue;
    const { receipt_id, route_id, because } = correction;
    const route = after.routes.find(({ id }) => id === route_id);
    add('corrected', 'corrected_by_operator', { receipt_id, route: route ? formatRoute(route) : null, because });
  }
}

type CautionsBySubject = Map<string, Caution>;

/** The key of the listing as a whole, among the names of its routes. */
const WHOLE_LISTING = '';
const isRouteName = (name: string) => name !== WHOLE_LISTING;

function listCautionsBySubject({ cautions, routes }: DerivedListing, code: CautionCode): CautionsBySubject {
  const subjects = [
    { name: WHOLE_LISTING, cautions },
    ...routes.map((route) => ({ name: formatRoute(route), cautions: route.cautions })),
  ];
  return new Map(
    subjects.flatMap(({ name, cautions: held }) =>
      held.filter((one) => one.code === code).map((one) => [name, one] as const),
    ),
  );
}

/** Returns the key by which two cautions are compared: their evidence, but not how often or since when it was seen. */
function getCautionKey(one: Caution | undefined): string | undefined {
  if (!one) return undefined;
  const { receipt_id, pay_to, amount, known_listing, source_other, amount_other } = one.evidence;
  return [one.code, receipt_id, pay_to, amount, known_listing, source_other, amount_other].join('|');
}

/**
 * Returns whether the only change is that some networks are no longer advertised because probes fail, while no source
 * withdrew the offer.
 */
function isLossByFailingProbes(before: Listing, after: DerivedListing): boolean {
  const changed = after.networks.filter((entry) => {
    const was = before.networks.find(({ key }) => key === entry.key);
    return was?.advertised !== entry.advertised || was.settlement_verified !== entry.settlement_verified;
  });
  const offers = after.routes.flatMap(({ terms }) => getCurrentTerms(terms));
  const isSilent = (key: string) =>
    after.routes.some(({ cautions }) => cautions.some((one) => one.code === 'probes_failing')) &&
    offers.some(({ network }) => network === key);
  return changed.length > 0 && changed.every(({ key, advertised }) => !advertised && isSilent(key));
}

/**
 * Returns the names of routes that were added, removed or changed, and how the terms of changed routes differ;
 * undefined if there are none.
 */
function compareRoutes(before: readonly Route[], after: readonly Route[]): JsonObject | undefined {
  const earlier = new Map(before.map((route) => [route.id, route]));
  const now = new Set(after.map(({ id }) => id));
  const added = after.filter(({ id }) => !earlier.has(id));
  const removed = before.filter(({ id }) => !now.has(id));
  const changed = after.filter((route) => {
    const was = earlier.get(route.id);
    return (
      was !== undefined && !isSame(getComparedRoute(was, false), getComparedRoute(route, hasLostOneProof(was, route)))
    );
  });
  if (added.length + removed.length + changed.length === 0) return undefined;
  const terms = changed.flatMap((route) => compareTerms(earlier.get(route.id), route) ?? []);
  return {
    added: added.map(formatRoute),
    removed: removed.map(formatRoute),
    changed: changed.map(formatRoute),
    ...(terms.length > 0 ? { terms } : {}),
  };
}

/** Returns the terms that a buyer had to expect before and has to expect now; undefined if they are the same. */
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

/**
 * Returns the parts of a route that count as a change of the route. Proofs and cautions that come or go are changes of
 * their own kinds, and being seen again is not a change. `lapsed` says that one of several proofs lapsed, which has no
 * kind of its own.
 */
function getComparedRoute(route: Route, lapsed: boolean) {
  const {
    proof: _proof,
    proofs: _proofs,
    verification: _verification,
    cautions: _cautions,
    undelivered: _undelivered,
    probed: _probed,
    ...rest
  } = omitRouteFreshness(route);
  return { ...rest, lapsed };
}

/** Returns whether a route lost one proof and keeps another. */
function hasLostOneProof(before: Route, after: Route): boolean {
  const now = new Set(after.proofs.map(({ network }) => network));
  return after.proof !== null && before.proofs.some(({ network }) => !now.has(network));
}

function withoutDays({ days: _days, ...figures }: Reliability): Omit<Reliability, 'days'> {
  return figures;
}

/** Compares JSON values that were built in the same key order. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
