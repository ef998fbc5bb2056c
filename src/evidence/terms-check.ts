import type { PayeeKind, RouteProof, UndeliveredCall } from '../model/route.ts';
import type { TermsDifference } from '../model/sample.ts';
import type { RecordedTerms, Terms } from '../model/terms.ts';
import type { GivenChallenge, GivenOffer } from '../x402/given-challenge.ts';
import { findOfferDifference } from '../x402/terms-differences.ts';
import { DELISTING_METHOD } from './delisting.ts';

/**
 * How one offer of a challenge stands. `on_record`: it is what we know. `differs`: it is what we know with other values.
 * `not_on_record`: nothing on its network is known of this route. `not_payable`: no USDC on Base or Solana, or broken.
 */
export const OFFER_STANDINGS = ['on_record', 'differs', 'not_on_record', 'not_payable'] as const;
export type OfferStanding = (typeof OFFER_STANDINGS)[number];

/** What is wrong with an offer itself, in the words of `src/x402`. */
export type OfferFault = Extract<GivenOffer['offer'], { reason: unknown }>['reason'];

/** One offer, judged. */
export interface JudgedOffer extends GivenOffer {
  standing: OfferStanding;
  /** Against the terms on record most like it, where it differs. */
  difference: TermsDifference | null;
  /** It differs in nothing but a lower price. */
  is_cheaper: boolean;
}

/** What else there is to say of a challenge; `src/views/check-words.ts` puts each into a sentence. */
export const CHECK_WARNINGS = [
  'other_offers_differ',
  'resource_differs',
  'undelivered',
  'long_timeout',
  'payee_rotates',
  'payee_not_on_record',
  'declared_only',
  'stale_record',
] as const;
export type CheckWarning = (typeof CHECK_WARNINGS)[number];

/** What is on record of a route, as far as a payment goes: `terms` are the current ones. */
export interface PayableRecord {
  terms: readonly RecordedTerms[];
  payee: PayeeKind | null;
  proof: Pick<RouteProof, 'network' | 'amount' | 'verified_at' | 'receipt_id'> | null;
  undelivered: UndeliveredCall | null;
}

/** How a challenge compares with the record. */
export interface Judgement {
  verdict: 'match' | 'mismatch';
  offers: JudgedOffer[];
  warnings: CheckWarning[];
  /** Time of the latest evidence that was compared with; null for an undated claim. */
  evidence_at: string | null;
}

/** A record that nothing has confirmed for so long is old: by then silence would have had a listing taken out. */
const STALE_AFTER_MS = DELISTING_METHOD.days_without_valid_402 * 24 * 60 * 60 * 1000;

/**
 * Compares a challenge with what is on record of its route. It matches where at least one of its offers is on record, and
 * then the others are flagged: only an offer on record is safe to take. A payee that is not known, or that is known to
 * rotate, is not compared, and the warnings say so. `at` is the time of asking; `isForAnother` says that the challenge
 * names another resource than the one called.
 */
export function judgeChallenge(
  challenge: GivenChallenge,
  record: PayableRecord,
  { at, isForAnother }: { at: Date; isForAnother: boolean },
): Judgement {
  const payeeRotates = record.payee === 'rotating';
  const offers = challenge.offers.map((given) => judgeOffer(given, record.terms, payeeRotates));
  const safe = offers.filter(({ standing }) => standing === 'on_record');
  const compared = record.terms.filter((known) =>
    safe.some(({ offer }) => 'terms' in offer && !findOfferDifference(offer.terms, [known], { payeeRotates })),
  );
  const basis = compared.length > 0 ? compared : record.terms;
  const evidence_at = getEvidenceTime(basis, record.proof);
  const found: Record<CheckWarning, boolean> = {
    other_offers_differ: safe.length > 0 && safe.length < offers.length,
    resource_differs: isForAnother,
    undelivered: record.undelivered !== null,
    long_timeout: offers.some(({ offer }) => 'terms' in offer && offer.terms.max_timeout_seconds === null),
    payee_rotates: payeeRotates,
    payee_not_on_record: !payeeRotates && basis.some(({ pay_to }) => pay_to === null),
    declared_only: basis.every(({ evidence }) => evidence === 'declared') && record.proof === null,
    stale_record: evidence_at === null || at.getTime() - Date.parse(evidence_at) > STALE_AFTER_MS,
  };
  return {
    verdict: safe.length > 0 ? 'match' : 'mismatch',
    offers,
    warnings: CHECK_WARNINGS.filter((warning) => found[warning]),
    evidence_at,
  };
}

/** Judges a challenge of a route of which no terms are on record: by what can be told from the offers alone. */
export function judgeUnrecorded(challenge: GivenChallenge): { offers: JudgedOffer[]; is_wrong: boolean } {
  const offers = challenge.offers.map((given) => judgeOffer(given, [], false));
  const isWrong = ({ offer }: JudgedOffer) => 'reason' in offer && offer.reason !== 'unsupported_network';
  return {
    offers,
    is_wrong: offers.every(({ standing }) => standing === 'not_payable') && offers.some(isWrong),
  };
}

/** Gives how sure terms on record are: paid by this service, seen in a 402, or only claimed. */
export function getEvidenceKind(terms: RecordedTerms, { proof }: PayableRecord): 'paid' | 'observed' | 'declared' {
  return isPaid(terms, proof) ? 'paid' : terms.evidence;
}

/** Says whether a payment of this service proved these very terms. */
export function isPaid(
  { network, amount }: Terms,
  proof: PayableRecord['proof'],
): proof is NonNullable<PayableRecord['proof']> {
  return proof !== null && proof.network === network && proof.amount === amount;
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

function getEvidenceTime(terms: readonly RecordedTerms[], proof: PayableRecord['proof']): string | null {
  const times = terms.flatMap((offer) => [
    ...(offer.last_seen_at === null ? [] : [offer.last_seen_at]),
    ...(isPaid(offer, proof) ? [proof.verified_at] : []),
  ]);
  return times.sort().at(-1) ?? null;
}
