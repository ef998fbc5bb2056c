import { type Caution, isDangerous } from '../model/caution.ts';
import { DAY_MS } from '../model/duration.ts';
import type { PayeeKind, RouteProof } from '../model/route.ts';
import { isCeiling, type RecordedTerms, type Terms, type TermsDifference } from '../model/terms.ts';
import type { GivenChallenge, GivenOffer } from '../x402/given-challenge.ts';
import { findOfferDifference } from '../x402/terms-differences.ts';
import { DELISTING_METHOD } from './delisting.ts';

/**
 * Results of comparing one offer of a challenge with the record. `on_record`: it is the same. `differs`: it is on
 * record with other values. `not_on_record`: nothing is known on its network for this route. `not_payable`: it is not
 * USDC on Base or Solana, or it is broken.
 */
export const OFFER_STANDINGS = ['on_record', 'differs', 'not_on_record', 'not_payable'] as const;
type OfferStanding = (typeof OFFER_STANDINGS)[number];

/** The fault of an offer itself: a reason code of `src/x402`. */
export type OfferFault = Extract<GivenOffer['offer'], { reason: unknown }>['reason'];

/** One offer, judged. */
export interface JudgedOffer extends GivenOffer {
  standing: OfferStanding;
  /** The difference from the most similar terms on record; null if there is none. */
  difference: TermsDifference | null;
  /** True if it differs only by a lower price. */
  is_cheaper: boolean;
}

/** Other facts worth knowing about a challenge; `src/views/check.ts` has a sentence for each. */
export const CHECK_WARNINGS = [
  'reads_differently',
  'other_offers_differ',
  'resource_differs',
  'long_timeout',
  'payee_not_on_record',
  'declared_only',
  'stale_record',
] as const;
export type CheckWarning = (typeof CHECK_WARNINGS)[number];

/** The record about paying for a route; `terms` are the current ones. */
export interface PayableRecord {
  terms: readonly RecordedTerms[];
  payee: PayeeKind | null;
  proofs: readonly Pick<RouteProof, 'network' | 'amount' | 'ceiling' | 'pay_to' | 'verified_at' | 'receipt_id'>[];
  /** Cautions about the route or its whole listing, the gravest first. */
  cautions: readonly Caution[];
}

/**
 * Verdicts on whether terms are safe to pay. `match`: an offer was seen or paid before, and no caution of danger holds
 * for the route. An offer is safe only with this verdict. `unseen`: as on record, but only declared. `caution`: as on
 * record, but a caution of danger holds, the payee is new and was announced, or the challenge can be read in two ways.
 * `mismatch`: not what is on record. `unknown_route`: nothing is on record. `delisted`: it was removed. `expected`: no
 * terms were given, and those on record were seen or paid before.
 */
export const CHECK_VERDICTS = [
  'match',
  'unseen',
  'caution',
  'mismatch',
  'unknown_route',
  'delisted',
  'expected',
] as const;
export type CheckVerdict = (typeof CHECK_VERDICTS)[number];

/**
 * Grades of a verdict. `none`: as on record, and seen. `notice`: worth knowing before paying, such as a lower price, or
 * that nothing is on record. `danger`: do not pay.
 */
export const CHECK_SEVERITIES = ['none', 'notice', 'danger'] as const;
export type CheckSeverity = (typeof CHECK_SEVERITIES)[number];

/** The result of comparing a challenge with the record. */
export interface Judgement {
  verdict: Extract<CheckVerdict, 'match' | 'unseen' | 'caution' | 'mismatch' | 'expected'>;
  severity: CheckSeverity;
  offers: JudgedOffer[];
  /** Indices in `accepts` of the offers that are safe to pay: empty unless the verdict is `match`. */
  safe_offers: number[];
  warnings: CheckWarning[];
  /** Time of the latest evidence that the challenge was compared with; null for an undated claim. */
  evidence_at: string | null;
}

/**
 * Time without confirmation after which a record is stale, in milliseconds: after the same time without a valid 402 a
 * rule removes a listing.
 */
const STALE_AFTER_MS = DELISTING_METHOD.days_without_valid_402 * DAY_MS;

/**
 * Compares a challenge with what is on record about its route. An offer is safe only if the same terms were seen in a
 * 402 or paid before, and no caution of danger holds for the route. Other offers beside a safe one are flagged. A payee
 * that is not known, or that rotates, is not compared, and a warning says so. A challenge without offers asks what to
 * expect: then nothing is safe, and the record itself is judged. `at` is the time of the question; `isForAnother` means
 * that the challenge names another resource than the one that was called.
 */
export function judgeChallenge(
  challenge: GivenChallenge,
  record: PayableRecord,
  { at, isForAnother }: { at: Date; isForAnother: boolean },
): Judgement {
  const payeeRotates = record.payee === 'rotating';
  const offers = challenge.offers.map((given) => judgeOffer(given, record.terms, payeeRotates));
  const known = offers.filter(({ standing }) => standing === 'on_record');
  const isComparedWith = (one: JudgedOffer, terms: RecordedTerms) =>
    'terms' in one.offer && !findOfferDifference(one.offer.terms, [terms], { payeeRotates });
  const seen = known.filter(({ offer }) => 'terms' in offer && isSeenOrPaid(offer.terms, record));
  const compared = record.terms.filter((terms) => known.some((one) => isComparedWith(one, terms)));
  const basis = compared.length > 0 ? compared : record.terms;
  const evidence_at = getEvidenceTime(basis, record);
  const isAmbiguous = challenge.ambiguities.length > 0;
  const isRefused = isAmbiguous || record.cautions.some(isUnsafe);
  const verdict = offers.length > 0 ? getVerdict({ known, seen }, isRefused) : getExpectation(record);
  const found: Record<CheckWarning, boolean> = {
    reads_differently: isAmbiguous,
    other_offers_differ: known.length > 0 && known.length < offers.length,
    resource_differs: isForAnother,
    long_timeout: offers.some(({ offer }) => 'terms' in offer && offer.terms.max_timeout_seconds === null),
    payee_not_on_record: !payeeRotates && basis.some(({ pay_to }) => pay_to === null),
    declared_only: known.length > seen.length || basis.every((terms) => getEvidenceKind(terms, record) === 'declared'),
    stale_record: evidence_at === null || at.getTime() - Date.parse(evidence_at) > STALE_AFTER_MS,
  };
  const warnings = CHECK_WARNINGS.filter((warning) => found[warning]);
  return {
    verdict,
    severity: getSeverity(verdict, offers, { cautions: record.cautions, warnings }),
    offers,
    safe_offers: verdict === 'match' ? seen.map(({ index }) => index) : [],
    warnings,
    evidence_at,
  };
}

/** Returns whether no offer of a route is safe while a caution holds: one of danger, or a payee that was announced and is new. */
export function isUnsafe({ code, severity }: Pick<Caution, 'code' | 'severity'>): boolean {
  return severity === 'danger' || code === 'payee_announced';
}

function getVerdict(
  { known, seen }: { known: readonly JudgedOffer[]; seen: readonly JudgedOffer[] },
  isRefused: boolean,
): Judgement['verdict'] {
  if (known.length === 0) return 'mismatch';
  if (isRefused) return 'caution';
  return seen.length === 0 ? 'unseen' : 'match';
}

function getExpectation(record: PayableRecord): Judgement['verdict'] {
  if (record.cautions.some(isUnsafe)) return 'caution';
  return record.terms.some((terms) => getEvidenceKind(terms, record) !== 'declared') ? 'expected' : 'unseen';
}

function getSeverity(
  verdict: Judgement['verdict'],
  offers: readonly JudgedOffer[],
  { cautions, warnings }: { cautions: readonly Caution[]; warnings: readonly CheckWarning[] },
): CheckSeverity {
  if (isDangerous(cautions) || warnings.includes('reads_differently')) return 'danger';
  if (verdict === 'mismatch') {
    // Terms that were only ever declared prove no other terms wrong.
    const isUnproven = warnings.includes('declared_only') && offers.some(({ standing }) => standing !== 'not_payable');
    return isCheaper(offers) || isUnproven ? 'notice' : 'danger';
  }
  return verdict === 'match' && cautions.length + warnings.length === 0 ? 'none' : 'notice';
}

/** Returns whether every payable offer differs from the record only by a lower price. */
export function isCheaper(offers: readonly JudgedOffer[]): boolean {
  const payable = offers.filter(({ standing }) => standing !== 'not_payable');
  return payable.length > 0 && payable.every(({ is_cheaper }) => is_cheaper);
}

/** Judges a challenge of a route without terms on record, from its offers alone. */
export function judgeUnrecorded(challenge: GivenChallenge): { offers: JudgedOffer[]; is_wrong: boolean } {
  const offers = challenge.offers.map((given) => judgeOffer(given, [], false));
  const isWrong = ({ offer }: JudgedOffer) => 'reason' in offer && offer.reason !== 'unsupported_network';
  return {
    offers,
    is_wrong: offers.every(({ standing }) => standing === 'not_payable') && offers.some(isWrong),
  };
}

/** Lists the terms on record that an offer is the same as. */
export function listSameTerms<Recorded extends RecordedTerms>(
  offer: Terms,
  { terms, payee }: Pick<PayableRecord, 'payee'> & { readonly terms: readonly Recorded[] },
): Recorded[] {
  return terms.filter((one) => !findOfferDifference(offer, [one], { payeeRotates: payee === 'rotating' }));
}

/** Returns the kind of evidence for terms on record: paid by this service, seen in a 402, or only claimed. */
export function getEvidenceKind(terms: RecordedTerms, { proofs }: PayableRecord): 'paid' | 'observed' | 'declared' {
  return findPayment(terms, proofs) ? 'paid' : terms.evidence;
}

/**
 * Finds the payment by this service that proved these terms: signed for the same amount, exactly or as a ceiling. For terms
 * without a payee the price is enough.
 */
export function findPayment(
  { network, scheme, amount, pay_to }: Terms,
  proofs: PayableRecord['proofs'],
): PayableRecord['proofs'][number] | undefined {
  return proofs.find(
    (proof) =>
      proof.network === network &&
      isCeiling({ scheme }) === (proof.ceiling !== undefined) &&
      (proof.ceiling ?? proof.amount) === amount &&
      (pay_to === null || proof.pay_to === pay_to),
  );
}

/**
 * Returns whether this exact offer was seen or paid. A claim without a payee would match any offer, so it does not
 * count.
 */
function isSeenOrPaid(offer: Terms, { terms, payee, proofs }: PayableRecord): boolean {
  const payeeRotates = payee === 'rotating';
  const observed = terms.filter(({ evidence, pay_to }) => evidence === 'observed' && (payeeRotates || pay_to !== null));
  if (observed.some((one) => !findOfferDifference(offer, [one], { payeeRotates }))) return true;
  return findPayment(payeeRotates ? { ...offer, pay_to: null } : offer, proofs) !== undefined;
}

function judgeOffer(given: GivenOffer, known: readonly RecordedTerms[], payeeRotates: boolean): JudgedOffer {
  if ('reason' in given.offer) return { ...given, standing: 'not_payable', difference: null, is_cheaper: false };
  const difference = findOfferDifference(given.offer.terms, known, { payeeRotates }) ?? null;
  if (!difference) return { ...given, standing: 'on_record', difference, is_cheaper: false };
  const { kind, before, fields } = difference;
  if (kind === 'added' || !before) return { ...given, standing: 'not_on_record', difference: null, is_cheaper: false };
  const isPriceAlone = fields.length === 1 && fields[0] === 'amount';
  return {
    ...given,
    standing: 'differs',
    difference,
    is_cheaper: isPriceAlone && given.offer.terms.amount < before.amount,
  };
}

function getEvidenceTime(terms: readonly RecordedTerms[], { proofs }: PayableRecord): string | null {
  const times = terms.flatMap((offer) => [offer.last_seen_at ?? [], findPayment(offer, proofs)?.verified_at ?? []]);
  return times.flat().sort().at(-1) ?? null;
}
