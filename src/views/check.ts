import { z } from 'zod';
import { listMissing, listNeeds } from '../evidence/abilities.ts';
import {
  CHECK_SEVERITIES,
  CHECK_VERDICTS,
  CHECK_WARNINGS,
  type CheckSeverity,
  type CheckVerdict,
  type CheckWarning,
  findPayment,
  getEvidenceKind,
  isUnsafe,
  type JudgedOffer,
  listSameTerms,
  OFFER_STANDINGS,
  type OfferFault,
  type PayableRecord,
} from '../evidence/terms-check.ts';
import { findProvedPrice } from '../evidence/verification.ts';
import { ABILITIES, type Ability, abilityList, needs } from '../model/ability.ts';
import { catalogueSummary } from '../model/catalogue.ts';
import { type CautionCode, caution } from '../model/caution.ts';
import { NETWORKS, nameNetworks, networkKey } from '../model/network.ts';
import { httpMethod } from '../model/request.ts';
import { isToolPath, type Route, routeVerification } from '../model/route.ts';
import { isCeiling, type Terms, termsField } from '../model/terms.ts';
import { cutText } from '../model/text.ts';
import { formatPrice, formatUsdc, parseUsdc } from '../model/usdc.ts';
import { buildUrl, PATHS } from './links.ts';
import { type Tombstone, tombstone } from './listing/record.ts';
import type { PublicTerms } from './listing/route-record.ts';
import type { Site } from './site.ts';
import { describeCaution } from './words/caution.ts';
import { formatDay } from './words/figures.ts';

/** The scheme of an offer that does not name one. */
export const DEFAULT_SCHEME = 'exact';

/**
 * A text of 1 to 100 characters. The limit is left out of the schemas, because honest callers never reach it and each word costs
 * readers tokens.
 */
const word = z.string().refine(({ length }) => length > 0 && length <= 100, 'of 1 to 100 characters');

const url = z.string().refine(({ length }) => length <= 2048, 'an address of at most 2048 characters');
const method = httpMethod.optional();
const amount = z
  .string()
  .refine((text) => /^\d{1,40}$/.test(text), 'atomic USDC in decimal digits, such as 1000 for 0.001 USDC');
const price = z.string().refine((text) => parseUsdc(text) !== undefined, 'a decimal amount of USDC, such as 0.001');
const scheme = word.default(DEFAULT_SCHEME);
const challenge = z
  .unknown()
  .optional()
  .meta({ type: ['string', 'object'] });

/** The call that was answered with 402, and the terms of one offer in that answer, copied field by field. */
export const checkFields = z.strictObject({
  url: url.describe('Address that answered 402, as it was called'),
  method: method.describe('Method of that call; without it that of the only route at the address, else GET'),
  network: word.optional().describe('network of the offer: eip155:8453 or base, solana:… or solana'),
  asset: word.optional().describe('asset of the offer: the contract or mint of USDC'),
  pay_to: word.optional().describe('payTo of the offer'),
  amount: amount.optional().describe('amount (version 1: maxAmountRequired) of the offer, in atomic USDC'),
  price_usdc: price.optional().describe('The same as a decimal amount of USDC; give either'),
  scheme: scheme.describe('scheme of the offer'),
  can: abilityList
    .optional()
    .describe(
      `What your client can do, separated by commas: the answer says what it lacks. Of ${ABILITIES.join(', ')}`,
    ),
});

/** The same as one JSON object, which may have the unchanged challenge in place of the fields. */
export const checkQuestion = checkFields.extend({
  challenge: challenge.describe(
    'In place of the fields of one offer: the value of the PAYMENT-REQUIRED header (base 64), or the JSON of the ' +
      'challenge, of version 1 or 2, as an object or as text',
  ),
});
export type CheckQuestion = z.output<typeof checkQuestion>;

/** The fields of an offer, all of which are needed for a comparison; the amount in either unit. */
export const OFFER_FIELDS = ['network', 'asset', 'pay_to', 'amount', 'price_usdc'] as const;

/** Reasons why a route is unknown. `no_terms`: it is listed, and its price is not on record. */
const UNKNOWN_REASONS = [
  'host_not_listed',
  'path_not_listed',
  'other_method',
  'not_https',
  'not_itemised',
  'no_terms',
] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

/** Detail of a verdict. For `caution` it is the code of the gravest caution. */
export type CheckReason =
  | UnknownReason
  | CautionCode
  | 'declared_only'
  | 'terms_differ'
  | 'cheaper'
  | 'not_on_record'
  | 'delisted'
  | OfferFault;

/** A route on record, as a check shows it. */
export interface CheckedRoute extends PayableRecord, Pick<Route, 'method' | 'verification'> {
  readonly terms: readonly PublicTerms[];
  /** Slug of its listing, and the address at which it is called. */
  readonly listing: string;
  readonly url: string;
}

/** Result of a comparison with the record. Text in `offers` and `resources` is a provider's. */
export interface TermsCheck {
  /** The call in question, as the caller gave it. */
  asked: { method: string; url: string };
  verdict: CheckVerdict;
  severity: CheckSeverity;
  /** Null for a match, and where no terms were given. */
  reason: CheckReason | null;
  offers: JudgedOffer[];
  /** Positions in `accepts` of the offers that are safe to take; empty unless the verdict is `match`. */
  safe_offers: number[];
  warnings: CheckWarning[];
  /** Time of the latest evidence for this verdict; null without evidence. */
  evidence_at: string | null;
  /** The route on record; null where none is known. */
  route: CheckedRoute | null;
  /** Slug of the listing that the address belongs to. */
  listing: string | null;
  /** Routes of the same host that may have been meant. */
  nearest: CheckedRoute[];
  tombstone: Tombstone | null;
  /** Addresses that the challenge names as its own, if they are not the called one. */
  resources: string[];
  /** Abilities of the client; undefined where it does not say. */
  can: ReadonlySet<Ability> | undefined;
  /** JSON pointers to parts of the challenge that readers may read differently. Their keys are a provider's words. */
  places: string[];
}

/** Most offers and terms on record that an answer shows; a challenge has one to eight. */
const MAX_SHOWN = 20;
const MAX_ADDRESS = 300;

const missing = z.array(z.string()).describe('With can: what of these needs your client lacks; empty where it can pay');

const shownTerms = z.object({
  network: z.string().describe('base or solana; of an offer that cannot be paid what the challenge says, cut'),
  network_id: z.string().optional().describe('CAIP-2 identifier'),
  scheme: z.string().optional(),
  asset: z.string().optional(),
  amount: z.string().optional().describe('Atomic USDC'),
  price_usdc: z.string().optional().describe('The same as a decimal amount'),
  pay_to: z.string().optional().describe('Absent where it is not known, or rotates'),
  is_ceiling: z.literal(true).optional().describe('There where the amount is the most that a call may cost'),
});

const neededOf = { needs: needs.optional(), missing: missing.optional() };

const fieldDifference = z.object({ field: termsField, offered: z.string(), on_record: z.string() });

const checkedOffer = shownTerms.partial().extend({
  index: z.int().nonnegative().describe('Its place in accepts'),
  standing: z.enum(OFFER_STANDINGS).describe('on_record: what is on record; safe_offers says which of these are safe'),
  reason: z.string().optional().describe('Why an offer cannot be paid'),
  differences: z.array(fieldDifference).optional().describe('Against the terms on record most like it'),
  ...neededOf,
});

const termsOnRecord = shownTerms.extend({
  network: networkKey,
  evidence: z.enum(['declared', 'observed', 'paid']).describe('Claimed; seen in a 402; paid by this service'),
  first_seen_at: z.iso.datetime().optional(),
  last_seen_at: z.iso.datetime().optional(),
  paid_at: z.iso.datetime().optional(),
  ...neededOf,
});

const nearRoute = z.object({ listing: z.string(), method: z.string(), url: z.string() });

/** The answer of `/agent/check`. */
export const agentCheck = z
  .object({
    catalogue: catalogueSummary,
    revision: z.int().nonnegative().describe('Catalogue revision that this answer is of'),
    asked: z.object({ method: httpMethod, url: z.string() }).describe('The call, as it was asked about'),
    verdict: z
      .enum(CHECK_VERDICTS)
      .describe(
        'match: as seen or paid before. unseen: as declared, never seen. caution: as on record, but do not pay (severity notice: not yet). ' +
          'expected: no terms were given; on_record has those seen or paid before',
      ),
    severity: z
      .enum(CHECK_SEVERITIES)
      .describe('none: as on record, and seen. notice: worth knowing first. danger: do not pay'),
    reason: z.string().optional().describe('Stable code for anything but a match'),
    summary: z.string().describe('The same in a sentence'),
    safe_offers: z
      .array(z.int().nonnegative())
      .describe('Places in accepts of the offers that are safe to take; none unless the verdict is match'),
    offers: z.array(checkedOffer).describe("The challenge's offers, at most 20"),
    cautions: z
      .array(caution.extend({ detail: z.string() }))
      .describe('What speaks against the route or its listing, the gravest first: pay nothing where one is of danger'),
    warnings: z.array(
      z.object({
        code: z.enum(CHECK_WARNINGS),
        detail: z.string(),
        places: z.array(z.string()).optional().describe('Of reads_differently: JSON pointers in the challenge'),
      }),
    ),
    evidence_at: z.iso.datetime().optional().describe('Time of the latest evidence; absent where it has none'),
    route: nearRoute
      .extend({
        verification: routeVerification,
        verified_price_usdc: z
          .string()
          .optional()
          .describe('Price that was verified; only where the route asks another price now'),
        payee: z.enum(['fixed', 'rotating']).optional(),
        details_url: z.url(),
      })
      .optional()
      .describe('The route on record'),
    on_record: z.array(termsOnRecord).describe('What is on record of it'),
    listing: z.string().optional().describe('Slug of the listing that the address belongs to'),
    nearest: z.array(nearRoute).optional().describe('Routes of the same host that may have been meant'),
    tombstone: tombstone.optional(),
    resources: z.array(z.string()).optional().describe('What the challenge says it is for, if not for what was called'),
    can_pay: z
      .boolean()
      .optional()
      .describe('With can: whether your client is able to pay any of the safe offers, else of those shown'),
    missing: missing.optional().describe('With can: what it lacks for the one that it lacks least for'),
  })
  .meta({ id: 'AgentCheck' });
export type AgentCheck = z.infer<typeof agentCheck>;

/** Result of a comparison, without the fields that every document of a revision has. */
export type CheckBody = Omit<AgentCheck, 'catalogue' | 'revision'>;

/** Builds the answer from the result of a comparison. */
export function buildAgentCheck(check: TermsCheck, { baseUrl }: Site): CheckBody {
  const { asked, verdict, severity, reason, evidence_at, route, listing, nearest, resources } = check;
  const needing = { isTool: isToolPath(route?.url ?? asked.url), can: check.can, route };
  const offers = check.offers.map((offer) => buildOffer(offer, needing));
  const proved = route ? findProvedPrice(route.proofs[0], route.terms) : null;
  const on_record = route ? route.terms.map((terms) => buildRecorded(terms, route, needing)) : [];
  return {
    asked: { method: httpMethod.parse(asked.method), url: asked.url },
    verdict,
    severity,
    ...(reason !== null && { reason }),
    summary: describeCheck(check),
    safe_offers: check.safe_offers,
    offers: offers.slice(0, MAX_SHOWN),
    cautions: (route?.cautions ?? []).map((one) => ({ ...one, detail: describeCaution(one) })),
    warnings: check.warnings.map((code) => ({
      code,
      detail: WARNINGS[code],
      ...(code === 'reads_differently' && { places: check.places.map((place) => cutText(place, MAX_ADDRESS)) }),
    })),
    ...(evidence_at !== null && { evidence_at }),
    ...(route && {
      route: {
        ...buildNear(route),
        verification: route.verification,
        ...(proved !== null && { verified_price_usdc: formatUsdc(proved) }),
        ...(route.payee !== null && { payee: route.payee }),
        details_url: buildUrl(baseUrl, PATHS.agentListing(route.listing)),
      },
    }),
    on_record: on_record.slice(0, MAX_SHOWN),
    ...(listing !== null && { listing }),
    ...(nearest.length > 0 && { nearest: nearest.map(buildNear) }),
    ...(check.tombstone && { tombstone: check.tombstone }),
    ...(resources.length > 0 && { resources: resources.slice(0, 3).map((text) => cutText(text, MAX_ADDRESS)) }),
    ...findLeastMissing(check, offers, on_record),
  };
}

/** Context for the needs of an offer. */
interface Needing {
  isTool: boolean;
  can: ReadonlySet<Ability> | undefined;
  route: CheckedRoute | null;
}

/** Builds the needs of an offer, and, where the client states its abilities, those it lacks. */
function buildNeeds(needs: string[], { can }: Needing): { needs: string[]; missing?: string[] } {
  return { needs, ...(can && { missing: listMissing(needs, can) }) };
}

/**
 * Builds the needs of an offer that the caller gives. Copied fields do not show all needs, so they are taken from the recorded
 * offer with the same terms for which the client lacks least.
 */
function buildGivenNeeds(terms: Terms, needing: Needing): ReturnType<typeof buildNeeds> {
  const isCopied = terms.x402_version === null;
  const same = isCopied && needing.route ? listSameTerms(terms, needing.route) : [];
  const [least] = same
    .map((one) => buildNeeds(one.needs, needing))
    .toSorted((a, b) => (a.missing?.length ?? 0) - (b.missing?.length ?? 0));
  return least ?? buildNeeds(listNeeds(terms, needing), needing);
}

/**
 * Finds the offer for which the client lacks least, and returns what it lacks. The choice is among the safe offers, else all
 * payable ones, else, without a challenge, the recorded ones. Empty if the client does not state its abilities, or there is no
 * offer.
 */
function findLeastMissing(
  { can, safe_offers }: TermsCheck,
  offers: CheckBody['offers'],
  recorded: CheckBody['on_record'],
): { can_pay?: boolean; missing?: string[] } {
  if (can === undefined) return {};
  const safe = offers.filter(({ index }) => safe_offers.includes(index));
  const compared = safe.length > 0 ? safe : offers.length > 0 ? offers : recorded;
  const lists = compared.flatMap((offer) => (offer.missing ? [offer.missing] : []));
  const least = lists.toSorted((a, b) => a.length - b.length)[0];
  return least === undefined ? {} : { can_pay: least.length === 0, missing: least };
}

function buildOffer(
  { index, standing, offer, difference, network, asset }: JudgedOffer,
  needing: Needing,
): CheckBody['offers'][number] {
  if ('reason' in offer) {
    return {
      index,
      standing,
      reason: offer.reason,
      ...(network !== null && { network }),
      ...(asset !== null && { asset }),
    };
  }
  const { before, after, fields = [] } = difference ?? {};
  return {
    index,
    standing,
    ...buildTerms(offer.terms),
    ...(before &&
      after && {
        differences: fields.map((field) => ({
          field,
          offered: String(after[field] ?? ''),
          on_record: String(before[field] ?? ''),
        })),
      }),
    ...buildGivenNeeds(offer.terms, needing),
  };
}

function buildTerms(terms: Terms) {
  const { network, scheme, asset, amount, pay_to } = terms;
  return {
    network,
    network_id: NETWORKS[network].id,
    scheme,
    asset,
    amount: String(amount),
    price_usdc: formatUsdc(amount),
    ...(pay_to !== null && { pay_to }),
    ...(isCeiling(terms) && { is_ceiling: true as const }),
  };
}

function buildRecorded(terms: PublicTerms, route: CheckedRoute, needing: Needing): CheckBody['on_record'][number] {
  const { first_seen_at, last_seen_at } = terms;
  const paid = findPayment(terms, route.proofs);
  return {
    ...buildTerms(terms),
    evidence: getEvidenceKind(terms, route),
    ...(first_seen_at !== null && { first_seen_at }),
    ...(last_seen_at !== null && { last_seen_at }),
    ...(paid && { paid_at: paid.verified_at }),
    ...buildNeeds(terms.needs, needing),
  };
}

function buildNear({ listing, method, url }: CheckedRoute): z.infer<typeof nearRoute> {
  return { listing, method, url };
}

/** Meaning of each warning, in the service's own words. */
const WARNINGS: Readonly<Record<CheckWarning, string>> = {
  reads_differently:
    'Two readers of this challenge may see different payees or amounts: a key twice, two payees or amounts for one offer, or an amount that is not plain digits.',
  other_offers_differ: 'The challenge also makes offers that are not on record: take only those of safe_offers.',
  resource_differs: 'The challenge says it is for another address than the one that was called.',
  long_timeout: 'A payment signed for this challenge could be cashed for more than a day.',
  payee_not_on_record: 'The payee is not on record, so it was not compared.',
  declared_only: 'Terms of this challenge are on record only as a claim: no 402 with them was ever seen here.',
  stale_record: 'The record is more than two weeks old, or has no date.',
};

const REASONS: Readonly<Partial<Record<CheckReason, string>>> = {
  host_not_listed: 'No API of this host is listed.',
  path_not_listed: 'This host is listed, this route is not.',
  other_method: 'This address is listed with another method.',
  not_https: 'This host is listed with https, and was called without.',
  not_itemised: 'The API is listed without its routes, so there is nothing to compare with.',
  no_terms: 'The route is listed, and what it asks is not on record.',
  not_on_record: 'On the network of this offer nothing is on record.',
  not_usdc: 'The offer is not in the USDC of its network.',
  asset_not_an_address: 'The offer does not name the contract or mint of USDC.',
  unsupported_network: `The offer is on another network than ${nameNetworks('and')}.`,
  test_network: 'The offer is on a test network.',
  test_network_mainnet_asset: 'The offer names a test network and the USDC of a main one.',
};

/** Describes the result of a comparison in one or two sentences, without a provider's words. */
function describeCheck(check: TermsCheck): string {
  const { verdict, reason, offers, evidence_at } = check;
  const since = evidence_at === null ? 'undated' : `last confirmed ${formatDay(evidence_at)}`;
  if (verdict === 'match') return `What is asked is what is on record (${since}).`;
  if (verdict === 'expected') {
    return `Nothing was compared: on_record is what its 402 should ask (${since}). Pay no more, and nobody else.`;
  }
  if (verdict === 'unseen') {
    return `A source declares what is ${offers.length > 0 ? 'asked' : 'on record'} (${since}), and no 402 with it was ever seen here: it is not known to be safe.`;
  }
  if (verdict === 'caution') {
    const cautions = (check.route?.cautions ?? []).filter(isUnsafe).map(describeCaution);
    const readings = check.places.length > 0 ? [WARNINGS.reads_differently] : [];
    return [check.severity === 'danger' ? 'Do not pay.' : 'Do not pay yet.', ...readings, ...cautions].join(' ');
  }
  if (verdict === 'delisted') return `The listing was removed on ${formatDay(evidence_at ?? '')}. Do not rely on it.`;
  if (verdict === 'unknown_route') return `${REASONS[reason ?? 'host_not_listed'] ?? 'Nothing is on record.'}`;
  if (reason === 'reads_differently') return `Do not pay. ${WARNINGS.reads_differently}`;
  const differing = offers.find(({ difference }) => difference !== null);
  if (differing) return `${describeDifference(differing)} (${since}). ${getAdvice(check)}`;
  return `${(reason && REASONS[reason]) ?? 'No offer can be paid as it stands.'} ${getAdvice(check)}`;
}

function formatTermsPrice(terms: Terms): string {
  return formatPrice(terms.amount, isCeiling(terms));
}

function describeDifference({ difference, is_cheaper }: JudgedOffer): string {
  const { before, after, fields = [] } = difference ?? {};
  const others = fields.filter((field) => field !== 'amount').map((field) => (field === 'pay_to' ? 'payee' : field));
  const isPriced = before && after && fields.includes('amount');
  const price = isPriced ? `It asks ${formatTermsPrice(after)} USDC; on record is ${formatTermsPrice(before)}` : '';
  if (is_cheaper || others.length === 0) return price;
  const names = `${others.join(', ')} ${others.length === 1 ? 'differs' : 'differ'} from the record`;
  return price === '' ? `The ${names}` : `${price}; ${names}`;
}

function getAdvice({ severity, warnings }: TermsCheck): string {
  if (severity === 'danger') return 'Do not pay before you know why.';
  return warnings.includes('declared_only')
    ? 'Neither is known to be right: what is on record was only declared, and no 402 was ever seen here.'
    : 'It costs less than expected.';
}
