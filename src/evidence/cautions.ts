import {
  CAUTIONS,
  type Caution,
  type CautionCode,
  type CautionEvidence,
  ON_RECORD_AFTER_DAYS,
  type ProviderReply,
  SAFE_AFTER_ANNOUNCED_DAYS,
  sortCautions,
} from '../model/caution.ts';
import { DAY_MS } from '../model/duration.ts';
import { isPublicChain, type NetworkKey } from '../model/network.ts';
import type { Receipt } from '../model/payment.ts';
import { formatRoute, type OtherPrice, type PayeeKind, type Route, type RouteProbe } from '../model/route.ts';
import type { Authority } from '../model/source.ts';
import type { RecordedTerms } from '../model/terms.ts';
import type { FailingRun } from './delisting.ts';
import { isStillOffered } from './sample-summary.ts';
import { getCurrentTerms } from './terms.ts';
import { listCountedReceipts } from './verification.ts';

const ON_RECORD_AFTER_MS = ON_RECORD_AFTER_DAYS * DAY_MS;

/** The record about one route that may lead to a caution. */
export interface RouteRecord {
  readonly terms: readonly RecordedTerms[];
  /** Authority for the route's existence, and for its current declared terms. */
  readonly authority: Authority;
  readonly terms_by: Authority;
  readonly receipts: readonly Receipt[];
  readonly payee: PayeeKind | null;
  readonly probe: RouteProbe | null;
  /** The failing run of the whole listing, and the number of its routes. */
  readonly failing: FailingRun | undefined;
  readonly routes: number;
  /** The document whose terms are believed, and another one with another price; undefined if no two differ. */
  readonly documents: { readonly source: string; readonly other: OtherPrice } | undefined;
}

/** A listing at another domain that is better known for the same name. */
export interface Namesake {
  readonly slug: string;
  readonly host: string;
  /** Time since when both have this name, ISO 8601 UTC. */
  readonly since: string;
}

/** The record about a listing as a whole that may lead to a caution. */
export interface ListingRecord {
  /** Time at which the last source withdrew it; null while one offers it. */
  readonly withdrawn_at: string | null;
  /** The better known listing of the same name; null if there is none. */
  readonly namesake: Namesake | null;
  /** Time at which the price of a listing without itemised routes was declared; undefined if routes are itemised. */
  readonly declared: { readonly at: string | null } | undefined;
}

/** A reply in the provider's file. */
export interface RecordedReply extends ProviderReply {
  readonly caution: CautionCode;
  /** Method and path, as in `POST /v1/x`; null for the whole listing and all its routes. */
  readonly route: string | null;
}

/**
 * Lists the cautions about a route, the gravest first. Each caution is derived from the record alone, so it ends as
 * soon as the record no longer supports it (`CAUTIONS` says when that is).
 */
export function listCautionsOfRoute(record: RouteRecord): Caution[] {
  return sortCautions([
    ...findFailedCall(record),
    ...findOtherPayee(record),
    ...findTwoReadings(record),
    ...findHigherPrice(record),
    ...findFailingProbes(record),
    ...findDifferentPrices(record),
    ...findNeverSeenTerms(record),
    ...findRotatingPayee(record),
  ]);
}

/** Lists the cautions about a listing as a whole, the gravest first. */
export function listCautionsOfListing({ withdrawn_at, namesake, declared }: ListingRecord): Caution[] {
  return sortCautions([
    ...(withdrawn_at === null ? [] : [buildCaution('withdrawn', withdrawn_at, {})]),
    ...(namesake === null
      ? []
      : [buildCaution('imitates_name', namesake.since, { known_listing: namesake.slug, known_host: namesake.host })]),
    ...(declared === undefined ? [] : [buildNeverSeen(declared.at)]),
  ]);
}

/** Adds the provider's reply to each caution. A reply about that route wins over one about the whole listing. */
export function addReplies(
  cautions: readonly Caution[],
  replies: readonly RecordedReply[],
  route: Pick<Route, 'method' | 'path'> | null,
): Caution[] {
  const name = route && formatRoute(route);
  return cautions.map((caution) => {
    const own = replies.filter((one) => one.caution === caution.code);
    const reply = own.find((one) => one.route === name) ?? own.find((one) => one.route === null);
    return reply ? { ...caution, reply: { text: reply.text, at: reply.at, source: reply.source } } : caution;
  });
}

/**
 * Warns when the latest paid call was not delivered. The caution dates from the first of the calls in a row that ended
 * the same way.
 */
function findFailedCall({ receipts }: RouteRecord): Caution[] {
  const counted = listCountedReceipts(receipts);
  const [latest] = counted;
  if (!latest || latest.delivered) return [];
  const { id, network, amount, genesis, unrecognised } = latest;
  const end = counted.findIndex((one) => one.delivered || (one.unrecognised === null) !== (unrecognised === null));
  const first = counted[(end < 0 ? counted.length : end) - 1] ?? latest;
  const paid = { receipt_id: id, network, amount, public_chain: isPublicChain(network, genesis) };
  if (unrecognised === null) return [buildCaution('undelivered', first.settled_at, paid)];
  return [buildCaution('unrecognised', first.settled_at, { ...paid, reason: unrecognised })];
}

/**
 * Warns when the current payee is not the one on record. A payee is on record if it was asked for during 14 days, if a
 * delivered call was paid to it, or if it is the first one seen and not another than the provider or the operator named. The
 * first payee on a network is compared with an established payee on another network. A change that the host's own document
 * announced a day before the first such 402 is only a notice, until it was seen for three days.
 */
function findOtherPayee({ terms, terms_by, receipts, payee }: RouteRecord): Caution[] {
  if (payee === 'rotating') return [];
  const offers = listObservedTerms(terms).filter(({ current, pay_to }) => current && pay_to !== null);
  const found = offers.flatMap(({ network, pay_to }) => {
    const periods = listPayeePeriods(terms, network);
    const now = periods.findLast((period) => period.value === pay_to);
    if (!pay_to || !now) return [];
    const own = listOwnWords({ terms, terms_by });
    const named = listNamedPayees(own, network);
    // A source that names another payee now may have named the first one before.
    const once = terms.filter(
      ({ evidence, source }) => evidence === 'declared' && own.some((one) => one.source === source),
    );
    const everNamed = listNamedPayees(once, network);
    const isAnnounced = terms_by === 'host' && wasAnnounced(terms, { network, pay_to, since: now.since });
    const paid = listCountedReceipts(receipts).filter((receipt) => receipt.delivered && receipt.network === network);
    const elsewhere = findEstablishedElsewhere({ terms, receipts }, network, periods[0]?.since ?? now.since);
    const recorded = periods.filter(
      (period) =>
        isLongEnough(period) ||
        paid.some((receipt) => receipt.pay_to === period.value) ||
        (period.since === periods[0]?.since &&
          (named.length === 0 ? !elsewhere : everNamed.includes(period.value ?? ''))),
    );
    if (recorded.some(({ value }) => value === pay_to)) return [];
    if (isAnnounced && isLongEnough(now, ANNOUNCED_SEEN_MS)) return [];
    const code = isAnnounced ? 'payee_announced' : 'payee_differs';
    const last = recorded.findLast(({ since }) => since < now.since);
    // Nothing can be compared after a payee that rotated.
    const before = last ? last.value : named[0];
    if (before) return [buildCaution(code, now.since, { network, pay_to, pay_to_before: before })];
    if (last || !elsewhere) return [];
    return [buildCaution(code, now.since, { network, pay_to, ...elsewhere })];
  });
  return sortCautions(found).slice(0, 1);
}

/** Time for which an announced payee must have been seen before paying it is safe, in milliseconds. */
const ANNOUNCED_SEEN_MS = SAFE_AFTER_ANNOUNCED_DAYS * DAY_MS;

/** Returns whether the current terms of the host's document named a payee a day before a 402 first did. */
function wasAnnounced(
  terms: readonly RecordedTerms[],
  { network, pay_to, since }: { network: NetworkKey; pay_to: string; since: string },
): boolean {
  return terms.some(
    ({ evidence, current, heard_at = null, ...one }) =>
      evidence === 'declared' &&
      current &&
      one.network === network &&
      one.pay_to === pay_to &&
      heard_at !== null &&
      Date.parse(since) - Date.parse(heard_at) >= DAY_MS,
  );
}

/**
 * Finds a payee on another network that was established before `at`: asked for during 14 days, or paid for a call that
 * was delivered.
 */
function findEstablishedElsewhere(
  { terms, receipts }: Pick<RouteRecord, 'terms' | 'receipts'>,
  network: NetworkKey,
  at: string,
): Pick<CautionEvidence, 'network_before' | 'pay_to_before'> | undefined {
  const others = [...new Set(listObservedTerms(terms).map((one) => one.network))].filter((one) => one !== network);
  const found = others.flatMap((network_before) =>
    listPayeePeriods(terms, network_before).flatMap(({ value, since, until }) => {
      const isPaid = receipts.some(
        (one) => one.delivered && one.network === network_before && one.pay_to === value && one.settled_at < at,
      );
      const isEstablished = isPaid || isLongEnough({ value, since, until: until < at ? until : at });
      return value !== null && isEstablished ? [{ network_before, pay_to_before: value }] : [];
    }),
  );
  return found.at(-1);
}

/**
 * Lists the current declared terms if they are the host's or the operator's: declarations of others count against
 * nobody.
 */
function listOwnWords({ terms, terms_by }: Pick<RouteRecord, 'terms' | 'terms_by'>): RecordedTerms[] {
  return terms_by === 'hearsay' ? [] : terms.filter(({ evidence, current }) => evidence === 'declared' && current);
}

/** Lists the payees that sources name. They count if no payee was seen before. */
function listNamedPayees(terms: readonly RecordedTerms[], network: NetworkKey): string[] {
  return terms.flatMap((one) => (one.network === network && one.pay_to ? [one.pay_to] : []));
}

/**
 * Warns when the current price is higher than the one on record. A price is on record if it was asked for during 14
 * days, if a delivered call was paid at it, or signed for it as a ceiling, or if it was the first.
 */
function findHigherPrice({ terms, terms_by, receipts }: RouteRecord): Caution[] {
  const networks = [...new Set(getCurrentTerms(terms).map(({ network }) => network))];
  const found = networks.flatMap((network) => {
    const periods = listPricePeriods(terms, network);
    const asked = periods.at(-1);
    if (!asked) return [];
    const paid = listCountedReceipts(receipts).filter((receipt) => receipt.delivered && receipt.network === network);
    const recorded = periods.findLastIndex((period, index) => {
      const end = periods[index + 1]?.since;
      const isPaid = paid.some(
        ({ amount, ceiling, settled_at }) =>
          (ceiling ?? amount) >= period.value && settled_at >= period.since && (end === undefined || settled_at < end),
      );
      return isPaid || isLongEnough(period);
    });
    const declared = listOwnWords({ terms, terms_by }).filter((one) => one.network === network);
    const before = (periods[recorded] ?? periods[0])?.value;
    const claimed = recorded < 0 ? getLowest(declared) : undefined;
    const known = Math.min(before ?? asked.value, claimed ?? Number.POSITIVE_INFINITY);
    if (known >= asked.value) return [];
    const lower = periods.findLastIndex(({ value }) => value <= known);
    const since = periods[lower + 1]?.since ?? asked.since;
    return [buildCaution('price_above_record', since, { network, amount: asked.value, amount_before: known })];
  });
  return found.slice(0, 1);
}

function findFailingProbes({ probe, failing, routes }: RouteRecord): Caution[] {
  if (isStillOffered(probe, { failing, routes })) return [];
  const since = probe?.failing_since ?? failing?.since ?? null;
  const failures = Math.max(probe?.failures ?? 0, probe && probe.failures > 0 ? 0 : (failing?.failures ?? 0));
  return [
    buildCaution('probes_failing', since, {
      ...(probe && probe.failures > 0 && { outcome: probe.outcome }),
      ...(failures > 0 && { failures }),
      ...(probe?.valid_at && { valid_at: probe.valid_at }),
    }),
  ];
}

/** Warns while two documents of the provider state different prices. Its date is when the price believed was first heard. */
function findDifferentPrices({ terms, documents }: RouteRecord): Caution[] {
  const declared = terms.filter(({ evidence, current }) => evidence === 'declared' && current);
  const amount = getLowest(declared);
  if (!documents || amount === undefined) return [];
  const { source, other } = documents;
  const [since = null] = declared.flatMap(({ heard_at }) => heard_at ?? []).sort();
  const evidence = { amount, source, source_other: other.source, amount_other: other.amount };
  return [buildCaution('prices_differ', since, evidence)];
}

/** Warns while the latest valid 402 can be read in two ways. */
function findTwoReadings({ probe }: RouteRecord): Caution[] {
  const since = probe?.reads_differently_since;
  return since === undefined ? [] : [buildCaution('reads_differently', since, {})];
}

/** Warns if no 402 and no payment ever showed the current terms of a route. */
export function findNeverSeenTerms({
  terms,
  receipts,
  authority,
}: Pick<RouteRecord, 'terms' | 'receipts' | 'authority'>): Caution[] {
  const current = getCurrentTerms(terms);
  if (current.length === 0 || current.some(({ evidence }) => evidence === 'observed')) return [];
  if (receipts.some(({ settled }) => settled)) return [];
  const times = current.flatMap(({ last_seen_at }) => last_seen_at ?? []).sort();
  return [buildNeverSeen(times.at(-1) ?? null, authority)];
}

function findRotatingPayee({ terms, payee }: RouteRecord): Caution[] {
  if (payee !== 'rotating') return [];
  const rotating = listObservedTerms(terms).filter(({ current, pay_to }) => current && pay_to === null);
  return [buildCaution('payee_rotates', rotating[0]?.first_seen_at ?? null, {})];
}

function buildNeverSeen(declaredAt: string | null, authority?: Authority): Caution {
  return buildCaution('never_seen', declaredAt, {
    ...(declaredAt !== null && { declared_at: declaredAt }),
    ...(authority === 'hearsay' && { said_by_others: true }),
  });
}

function buildCaution(code: CautionCode, since: string | null, evidence: CautionEvidence): Caution {
  return { code, severity: CAUTIONS[code].severity, since, evidence, reply: null };
}

/** A period in which every 402 that was seen asked the same: one payee (null: a fresh one each time), or one price. */
interface Period<Value> {
  readonly value: Value;
  readonly since: string;
  readonly until: string;
}

/**
 * Lists the periods of all payees on a network, by when they began. Two payees that are named side by side have one
 * period each.
 */
function listPayeePeriods(terms: readonly RecordedTerms[], network: NetworkKey): Period<string | null>[] {
  const offers = listObservedOffers(terms, network);
  const times = listTimes(offers);
  const periods = [...Map.groupBy(offers, ({ pay_to }) => pay_to)].flatMap(([value, asked]) => {
    const own: Period<string | null>[] = [];
    for (const { since, until } of asked) {
      const last = own.at(-1);
      if (!last || isTimeBetween(times, last.until, since)) own.push({ value, since, until });
      else if (until > last.until) own[own.length - 1] = { ...last, until };
    }
    return own;
  });
  return periods.sort((a, b) => (a.since < b.since ? -1 : 1));
}

/** Lists the periods of the lowest price on a network, one after the other. */
function listPricePeriods(terms: readonly RecordedTerms[], network: NetworkKey): Period<number>[] {
  const offers = listObservedOffers(terms, network);
  const periods: Period<number>[] = [];
  let [begun, asked] = [0, offers.slice(0, 0)];
  for (const time of listTimes(offers)) {
    for (let offer = offers[begun]; offer && offer.since <= time; offer = offers[++begun]) asked.push(offer);
    asked = asked.filter(({ until }) => until >= time);
    const value = getLowest(asked);
    const last = periods.at(-1);
    if (value === undefined) continue;
    if (last?.value === value) periods[periods.length - 1] = { ...last, until: time };
    else periods.push({ value, since: time, until: time });
  }
  return periods;
}

function listObservedOffers(terms: readonly RecordedTerms[], network: NetworkKey) {
  return listObservedTerms(terms)
    .filter((one) => one.network === network)
    .map(({ pay_to, amount, first_seen_at, last_seen_at }) => {
      return { pay_to, amount, since: first_seen_at ?? '', until: last_seen_at ?? '' };
    });
}

/** Lists the times at which something was seen for the first or the last time, each once. */
function listTimes(offers: readonly { since: string; until: string }[]): string[] {
  return [...new Set(offers.flatMap(({ since, until }) => [since, until]))].sort();
}

/** Finds by binary search whether a time lies between two others. `times` are sorted; a history can have thousands. */
function isTimeBetween(times: readonly string[], after: string, before: string): boolean {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? '') > after) high = middle;
    else low = middle + 1;
  }
  const next = times[low];
  return next !== undefined && next < before;
}

function isLongEnough({ since, until }: Period<unknown>, ms = ON_RECORD_AFTER_MS): boolean {
  return Date.parse(until) - Date.parse(since) >= ms;
}

/** Lists the terms that were seen in 402 answers, by when they were first seen. */
function listObservedTerms(terms: readonly RecordedTerms[]): RecordedTerms[] {
  return terms
    .filter(({ evidence }) => evidence === 'observed')
    .toSorted((a, b) => ((a.first_seen_at ?? '') < (b.first_seen_at ?? '') ? -1 : 1));
}

function getLowest(offers: readonly { readonly amount: number }[]): number | undefined {
  return offers.length === 0 ? undefined : offers.map(({ amount }) => amount).reduce((a, b) => Math.min(a, b));
}
