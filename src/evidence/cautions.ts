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

function findOtherPayee({ terms, receipts, payee }: RouteRecord): Caution[] {
  if (payee === 'rotating') return [];
  const offers = listObserved(terms).filter(({ current, pay_to }) => current && pay_to !== null);
  const found = offers.flatMap(({ network, pay_to }) => {
    const spell = getSpell(terms, network, (one) => one.pay_to === pay_to);
    const before = spell.before?.pay_to ?? findOtherDeclaredPayee(terms, network, pay_to, spell);
    if (!pay_to || !before || spell.isKnown || isOnRecord(spell)) return [];
    const isPaid = listCounted(receipts).some(
      (receipt) => receipt.delivered && receipt.network === network && receipt.pay_to === pay_to,
    );
    return isPaid ? [] : [build('payee_differs', spell.since, { network, pay_to, pay_to_before: before })];
  });
  return found.slice(0, 1);
}

/** What sources name counts only where nothing else was ever seen, and nobody names the payee that is asked for. */
function findOtherDeclaredPayee(
  terms: readonly RecordedTerms[],
  network: NetworkKey,
  payee: string | null,
  spell: Spell,
): string | null {
  if (spell.before) return null;
  const named = terms.flatMap((one) =>
    one.evidence === 'declared' && one.current && one.network === network && one.pay_to ? [one.pay_to] : [],
  );
  return named.includes(payee ?? '') ? null : (named[0] ?? null);
}

function findHigherPrice({ terms, receipts }: RouteRecord): Caution[] {
  const networks = [...new Set(getCurrentTerms(terms).map(({ network }) => network))];
  const found = networks.flatMap((network) => {
    const asked = getLowest(listObserved(terms).filter((one) => one.current && one.network === network));
    if (asked === undefined) return [];
    const spell = getSpell(terms, network, ({ amount }) => amount === asked);
    const declared = terms.filter((one) => one.evidence === 'declared' && one.current && one.network === network);
    const before = spell.before?.amount ?? getLowest(declared);
    if (before === undefined || before >= asked || isOnRecord(spell)) return [];
    const isPaid = listCounted(receipts).some(
      (receipt) =>
        receipt.delivered &&
        receipt.network === network &&
        receipt.amount >= asked &&
        receipt.settled_at >= spell.since,
    );
    const evidence = { network, amount: asked, amount_before: before };
    return isPaid ? [] : [build('price_above_record', spell.since, evidence)];
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

/** For how long a value is asked without a break, and what was asked before. */
interface Spell {
  readonly since: string;
  readonly until: string;
  /** The last other offer on that network before it; undefined where there is none. */
  readonly before: RecordedTerms | undefined;
  /** It was asked before that one, too. */
  readonly isKnown: boolean;
}

/** Finds the spell of what is asked now on a network. Offers made beside it are no break. */
function getSpell(
  terms: readonly RecordedTerms[],
  network: NetworkKey,
  isSame: (offer: RecordedTerms) => boolean,
): Spell {
  const latestFirst = listObserved(terms)
    .filter((one) => one.network === network)
    .toReversed();
  const end = latestFirst.findIndex((one) => !isSame(one) && !one.current);
  const spell = (end < 0 ? latestFirst : latestFirst.slice(0, end)).filter(isSame);
  return {
    since: spell.at(-1)?.first_seen_at ?? '',
    until:
      spell
        .flatMap(({ last_seen_at }) => last_seen_at ?? [])
        .sort()
        .at(-1) ?? '',
    before: end < 0 ? undefined : latestFirst[end],
    isKnown: end >= 0 && latestFirst.slice(end).some(isSame),
  };
}

function isOnRecord({ since, until }: Spell): boolean {
  return Date.parse(until) - Date.parse(since) >= ON_RECORD_AFTER_MS;
}

/** Lists what 402 answers were seen to ask, by when that was first seen. */
function listObserved(terms: readonly RecordedTerms[]): RecordedTerms[] {
  return terms
    .filter(({ evidence }) => evidence === 'observed')
    .toSorted((a, b) => ((a.first_seen_at ?? '') < (b.first_seen_at ?? '') ? -1 : 1));
}

function getLowest(offers: readonly RecordedTerms[]): number | undefined {
  return offers.length === 0 ? undefined : offers.map(({ amount }) => amount).reduce((a, b) => Math.min(a, b));
}
