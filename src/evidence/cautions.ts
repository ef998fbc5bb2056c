import {
  CAUTIONS,
  type Caution,
  type CautionCode,
  type CautionEvidence,
  ON_RECORD_AFTER_DAYS,
  type ProviderReply,
  sortCautions,
} from '../model/caution.ts';
import { isPublicChain, type NetworkKey } from '../model/network.ts';
import type { Receipt } from '../model/receipt.ts';
import { formatRoute, type PayeeKind, type Route, type RouteProbe } from '../model/route.ts';
import type { RecordedTerms } from '../model/terms.ts';
import type { FailingRun } from './delisting.ts';
import { isStillOffered } from './sampled.ts';
import { getCurrentTerms } from './terms.ts';
import { listCounted } from './verification.ts';

const ON_RECORD_AFTER_MS = ON_RECORD_AFTER_DAYS * 24 * 60 * 60 * 1000;

/** What is on record of one route, as far as it can speak against it. */
export interface RouteRecord {
  readonly terms: readonly RecordedTerms[];
  readonly receipts: readonly Receipt[];
  readonly payee: PayeeKind | null;
  readonly probe: RouteProbe | null;
  /** How the whole listing fails, and how many routes it has. */
  readonly failing: FailingRun | undefined;
  readonly routes: number;
}

/** A better known listing at another domain that goes by the same name. */
export interface Namesake {
  readonly slug: string;
  readonly host: string;
  /** Since when both go by it, ISO 8601 UTC. */
  readonly since: string;
}

/** What is on record of a listing as a whole, as far as it can speak against it. */
export interface ListingRecord {
  /** When the last source withdrew it; null while one offers it. */
  readonly withdrawn_at: string | null;
  /** The namesake that is better known; null where there is none. */
  readonly namesake: Namesake | null;
  /** When the price of a listing without itemised routes was declared; undefined where routes are itemised. */
  readonly declared: { readonly at: string | null } | undefined;
}

/** A reply as its provider's file holds it. */
export interface RecordedReply extends ProviderReply {
  readonly caution: CautionCode;
  /** Method and path, as in `POST /v1/x`; null for the whole listing and all its routes. */
  readonly route: string | null;
}

/**
 * Lists what speaks against a route, the gravest first. Each caution is derived from the record alone, so it ends when the
 * record no longer gives it (`CAUTIONS` says of each when that is).
 */
export function listCautionsOfRoute(record: RouteRecord): Caution[] {
  return sortCautions([
    ...findFailedCall(record),
    ...findOtherPayee(record),
    ...findHigherPrice(record),
    ...findFailingProbes(record),
    ...findUnseenTerms(record),
    ...findRotatingPayee(record),
  ]);
}

/** Lists what speaks against a listing as a whole, the gravest first. */
export function listCautionsOfListing({ withdrawn_at, namesake, declared }: ListingRecord): Caution[] {
  return sortCautions([
    ...(withdrawn_at === null ? [] : [build('withdrawn', withdrawn_at, {})]),
    ...(namesake === null
      ? []
      : [build('imitates_name', namesake.since, { known_listing: namesake.slug, known_host: namesake.host })]),
    ...(declared === undefined ? [] : [buildUnseen(declared.at)]),
  ]);
}

/** Puts beside each caution what the provider replies to it: the reply to that route before one to the whole listing. */
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

/** The latest paid call was not delivered; it is so since the first of those in a row that ended alike. */
function findFailedCall({ receipts }: RouteRecord): Caution[] {
  const counted = listCounted(receipts);
  const [latest] = counted;
  if (!latest || latest.delivered) return [];
  const { id, network, amount, genesis, unrecognised } = latest;
  const end = counted.findIndex((one) => one.delivered || (one.unrecognised === null) !== (unrecognised === null));
  const first = counted[(end < 0 ? counted.length : end) - 1] ?? latest;
  const paid = { receipt_id: id, network, amount, public_chain: isPublicChain(network, genesis) };
  if (unrecognised === null) return [build('undelivered', first.settled_at, paid)];
  return [build('unrecognised', first.settled_at, { ...paid, reason: unrecognised })];
}

/**
 * A payee is on record that was asked for 14 days, that a delivered call was paid to, or that nothing came before. Before
 * the first payee on one network comes an established payee on another one.
 */
function findOtherPayee({ terms, receipts, payee }: RouteRecord): Caution[] {
  if (payee === 'rotating') return [];
  const offers = listObserved(terms).filter(({ current, pay_to }) => current && pay_to !== null);
  const found = offers.flatMap(({ network, pay_to }) => {
    const spells = listPayeeSpells(terms, network);
    const now = spells.findLast((spell) => spell.value === pay_to);
    if (!pay_to || !now) return [];
    const named = listNamedPayees(terms, network);
    const paid = listCounted(receipts).filter((receipt) => receipt.delivered && receipt.network === network);
    const elsewhere = findEstablishedElsewhere({ terms, receipts }, network, spells[0]?.since ?? now.since);
    const recorded = spells.filter(
      (spell) =>
        isLong(spell) ||
        paid.some((receipt) => receipt.pay_to === spell.value) ||
        (spell.since === spells[0]?.since && (named.length === 0 ? !elsewhere : named.includes(spell.value ?? ''))),
    );
    if (recorded.some(({ value }) => value === pay_to)) return [];
    const last = recorded.findLast(({ since }) => since < now.since);
    // After one that rotated there is nothing to compare with.
    const before = last ? last.value : named[0];
    if (before) return [build('payee_differs', now.since, { network, pay_to, pay_to_before: before })];
    if (last || !elsewhere) return [];
    return [build('payee_differs', now.since, { network, pay_to, ...elsewhere })];
  });
  return found.slice(0, 1);
}

/** Finds the payee of another network that was established at a time: asked for 14 days by then, or paid and delivered. */
function findEstablishedElsewhere(
  { terms, receipts }: Pick<RouteRecord, 'terms' | 'receipts'>,
  network: NetworkKey,
  at: string,
): Pick<CautionEvidence, 'network_before' | 'pay_to_before'> | undefined {
  const others = [...new Set(listObserved(terms).map((one) => one.network))].filter((one) => one !== network);
  const found = others.flatMap((network_before) =>
    listPayeeSpells(terms, network_before).flatMap(({ value, since, until }) => {
      const isPaid = receipts.some(
        (one) => one.delivered && one.network === network_before && one.pay_to === value && one.settled_at < at,
      );
      const isEstablished = isPaid || isLong({ value, since, until: until < at ? until : at });
      return value !== null && isEstablished ? [{ network_before, pay_to_before: value }] : [];
    }),
  );
  return found.at(-1);
}

/** What sources name counts where nothing was seen before. */
function listNamedPayees(terms: readonly RecordedTerms[], network: NetworkKey): string[] {
  return terms.flatMap((one) =>
    one.evidence === 'declared' && one.current && one.network === network && one.pay_to ? [one.pay_to] : [],
  );
}

/** A price is on record that was asked for 14 days, at which a delivered call was paid, or that was the first. */
function findHigherPrice({ terms, receipts }: RouteRecord): Caution[] {
  const networks = [...new Set(getCurrentTerms(terms).map(({ network }) => network))];
  const found = networks.flatMap((network) => {
    const spells = listPriceSpells(terms, network);
    const asked = spells.at(-1);
    if (!asked) return [];
    const paid = listCounted(receipts).filter((receipt) => receipt.delivered && receipt.network === network);
    const recorded = spells.findLastIndex((spell, index) => {
      const end = spells[index + 1]?.since;
      const isPaid = paid.some(
        ({ amount, settled_at }) =>
          amount >= spell.value && settled_at >= spell.since && (end === undefined || settled_at < end),
      );
      return isPaid || isLong(spell);
    });
    const declared = terms.filter((one) => one.evidence === 'declared' && one.current && one.network === network);
    const before = (spells[recorded] ?? spells[0])?.value;
    const claimed = recorded < 0 ? getLowest(declared) : undefined;
    const known = Math.min(before ?? asked.value, claimed ?? Number.POSITIVE_INFINITY);
    if (known >= asked.value) return [];
    const lower = spells.findLastIndex(({ value }) => value <= known);
    const since = spells[lower + 1]?.since ?? asked.since;
    return [build('price_above_record', since, { network, amount: asked.value, amount_before: known })];
  });
  return found.slice(0, 1);
}

function findFailingProbes({ probe, failing, routes }: RouteRecord): Caution[] {
  if (isStillOffered(probe, { failing, routes })) return [];
  const since = probe?.failing_since ?? failing?.since ?? null;
  const failures = Math.max(probe?.failures ?? 0, probe && probe.failures > 0 ? 0 : (failing?.failures ?? 0));
  return [
    build('probes_failing', since, {
      ...(probe && probe.failures > 0 && { outcome: probe.outcome }),
      ...(failures > 0 && { failures }),
      ...(probe?.valid_at && { valid_at: probe.valid_at }),
    }),
  ];
}

function findUnseenTerms({ terms, receipts }: RouteRecord): Caution[] {
  const current = getCurrentTerms(terms);
  if (current.length === 0 || current.some(({ evidence }) => evidence === 'observed')) return [];
  if (receipts.some(({ settled }) => settled)) return [];
  const times = current.flatMap(({ last_seen_at }) => last_seen_at ?? []).sort();
  return [buildUnseen(times.at(-1) ?? null)];
}

function findRotatingPayee({ terms, payee }: RouteRecord): Caution[] {
  if (payee !== 'rotating') return [];
  const rotating = listObserved(terms).filter(({ current, pay_to }) => current && pay_to === null);
  return [build('payee_rotates', rotating[0]?.first_seen_at ?? null, {})];
}

function buildUnseen(declaredAt: string | null): Caution {
  return build('never_seen', declaredAt, declaredAt === null ? {} : { declared_at: declaredAt });
}

function build(code: CautionCode, since: string | null, evidence: CautionEvidence): Caution {
  return { code, severity: CAUTIONS[code].severity, since, evidence, reply: null };
}

/** A time in which one thing was asked in every 402 that was seen: a payee (null: a fresh one each time), or a price. */
interface Spell<Value> {
  readonly value: Value;
  readonly since: string;
  readonly until: string;
}

/** Lists the spells of all payees on a network, by when they began. Two that are named side by side have one each. */
function listPayeeSpells(terms: readonly RecordedTerms[], network: NetworkKey): Spell<string | null>[] {
  const offers = listSeen(terms, network);
  const times = listTimes(offers);
  const spells = [...Map.groupBy(offers, ({ pay_to }) => pay_to)].flatMap(([value, asked]) => {
    const own: Spell<string | null>[] = [];
    for (const { since, until } of asked) {
      const last = own.at(-1);
      if (!last || isTimeBetween(times, last.until, since)) own.push({ value, since, until });
      else if (until > last.until) own[own.length - 1] = { ...last, until };
    }
    return own;
  });
  return spells.sort((a, b) => (a.since < b.since ? -1 : 1));
}

/** Lists the spells of the lowest price on a network, one after the other. */
function listPriceSpells(terms: readonly RecordedTerms[], network: NetworkKey): Spell<number>[] {
  const offers = listSeen(terms, network);
  const spells: Spell<number>[] = [];
  let [begun, asked] = [0, offers.slice(0, 0)];
  for (const time of listTimes(offers)) {
    for (let offer = offers[begun]; offer && offer.since <= time; offer = offers[++begun]) asked.push(offer);
    asked = asked.filter(({ until }) => until >= time);
    const value = getLowest(asked);
    const last = spells.at(-1);
    if (value === undefined) continue;
    if (last?.value === value) spells[spells.length - 1] = { ...last, until: time };
    else spells.push({ value, since: time, until: time });
  }
  return spells;
}

function listSeen(terms: readonly RecordedTerms[], network: NetworkKey) {
  return listObserved(terms)
    .filter((one) => one.network === network)
    .map(({ pay_to, amount, first_seen_at, last_seen_at }) => {
      return { pay_to, amount, since: first_seen_at ?? '', until: last_seen_at ?? '' };
    });
}

/** Lists the times at which something was seen for the first or the last time, each once. */
function listTimes(offers: readonly { since: string; until: string }[]): string[] {
  return [...new Set(offers.flatMap(({ since, until }) => [since, until]))].sort();
}

/** `times` are sorted; a history can have thousands. */
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

function isLong({ since, until }: Spell<unknown>): boolean {
  return Date.parse(until) - Date.parse(since) >= ON_RECORD_AFTER_MS;
}

/** Lists what 402 answers were seen to ask, by when that was first seen. */
function listObserved(terms: readonly RecordedTerms[]): RecordedTerms[] {
  return terms
    .filter(({ evidence }) => evidence === 'observed')
    .toSorted((a, b) => ((a.first_seen_at ?? '') < (b.first_seen_at ?? '') ? -1 : 1));
}

function getLowest(offers: readonly { readonly amount: number }[]): number | undefined {
  return offers.length === 0 ? undefined : offers.map(({ amount }) => amount).reduce((a, b) => Math.min(a, b));
}
