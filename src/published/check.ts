import { isResourceOf } from '../evidence/route-match.ts';
import {
  CHECK_WARNINGS,
  isCheaper,
  isUnsafe,
  type JudgedOffer,
  type Judgement,
  judgeChallenge,
  judgeUnrecorded,
} from '../evidence/terms-check.ts';
import { parseAbilities } from '../model/ability.ts';
import { isDangerous } from '../model/caution.ts';
import type { CheckQuestion, CheckReason, TermsCheck } from '../views/check.ts';
import type { GivenChallenge } from '../x402/given-challenge.ts';
import { parseCall, parseGivenTerms } from './check-question.ts';
import { type AskedCall, DEFAULT_METHOD, type FoundRoute, findCalledRoute } from './find-route.ts';
import type { KnownRoute } from './known-listings.ts';
import type { Reading } from './reading.ts';

/**
 * Compares the terms that a route just answered with against those on record now, as `compareTerms` does. Call it while the file
 * stays at the revision that the answer names.
 */
export function checkTerms(
  { published, now }: Pick<Reading, 'published' | 'now'>,
  question: CheckQuestion,
  duplicateKeys: readonly string[] = [],
): TermsCheck {
  const find = (call: AskedCall) => findCalledRoute(published, call);
  return compareTerms(question, find, { at: now(), duplicateKeys });
}

/**
 * Compares the terms of a question with the route that `find` finds for its call; returns the terms on record if the question gives
 * none. `duplicateKeys` are the keys that the text of a parsed challenge has twice. Throws `bad_input` as `parseCall` and
 * `parseGivenTerms` do.
 */
export function compareTerms(
  question: CheckQuestion,
  find: (call: AskedCall) => FoundRoute,
  { at, duplicateKeys = [] }: { at: Date; duplicateKeys?: readonly string[] },
): TermsCheck {
  const call = parseCall(question);
  const challenge = parseGivenTerms(question, duplicateKeys);
  const found = find(call);
  const resources = challenge.resources.filter((resource) => !isResourceOf(resource, call.url));
  const can = question.can === undefined ? undefined : parseAbilities(question.can);
  const places = [...new Set(challenge.ambiguities.map(({ place }) => place))];
  const method = call.method ?? (found.kind === 'route' ? found.route.method : DEFAULT_METHOD);
  const shared = { asked: { method, url: call.url.href }, resources, places, can };
  const isPriced = found.kind === 'route' && found.route.terms.length > 0;
  return isPriced
    ? { ...shared, ...compare(challenge, found.route, { at, isForAnother: resources.length > 0 }) }
    : { ...shared, ...judgeWithoutRecord(challenge, found, resources.length > 0) };
}

type Compared = Omit<TermsCheck, 'asked' | 'resources' | 'places' | 'can'>;

function compare(challenge: GivenChallenge, route: KnownRoute, asking: { at: Date; isForAnother: boolean }): Compared {
  const judgement = judgeChallenge(challenge, route, asking);
  const reason = getReason(judgement, route);
  return { ...judgement, reason, route, listing: route.listing, nearest: [], tombstone: null };
}

/** Returns the reason why no offer is safe; null for a match, and if no offer was given. */
function getReason({ verdict, offers, warnings }: Judgement, { cautions }: KnownRoute): CheckReason | null {
  const isAmbiguous = warnings.includes('reads_differently');
  switch (verdict) {
    case 'match':
    case 'expected':
      return null;
    case 'unseen':
      return 'declared_only';
    case 'caution':
      return isAmbiguous && !isDangerous(cautions) ? 'reads_differently' : (cautions.find(isUnsafe)?.code ?? null);
    case 'mismatch':
      if (isAmbiguous) return 'reads_differently';
      return isCheaper(offers) ? 'cheaper' : getMismatch(offers);
  }
}

/**
 * Judges offers for a route without terms on record: none can match, but an offer in a wrong token is still reported as wrong.
 */
function judgeWithoutRecord(challenge: GivenChallenge, found: FoundRoute, isForAnother: boolean): Compared {
  const { offers, is_wrong } = judgeUnrecorded(challenge);
  const route = found.kind === 'route' ? found.route : null;
  const isAmbiguous = challenge.ambiguities.length > 0;
  const facts = {
    offers,
    safe_offers: [],
    warnings: CHECK_WARNINGS.filter(
      (code) => (code === 'reads_differently' && isAmbiguous) || (code === 'resource_differs' && isForAnother),
    ),
    evidence_at: null,
    route,
    listing: found.kind === 'unknown' ? found.listing : (route?.listing ?? null),
    nearest: found.kind === 'unknown' ? found.nearest : [],
    tombstone: null,
  };
  if (found.kind === 'delisted') {
    const { tombstone } = found;
    const evidence_at = tombstone.delisted_at;
    return { ...facts, verdict: 'delisted', severity: 'danger', reason: 'delisted', tombstone, evidence_at };
  }
  if (isAmbiguous) return { ...facts, verdict: 'mismatch', severity: 'danger', reason: 'reads_differently' };
  if (is_wrong) return { ...facts, verdict: 'mismatch', severity: 'danger', reason: getMismatch(offers) };
  const reason = found.kind === 'unknown' ? found.reason : 'no_terms';
  return { ...facts, verdict: 'unknown_route', severity: 'notice', reason };
}

/** Returns the reason why no offer matches: that of the first offer that could be paid, else that of the first offer. */
function getMismatch(offers: readonly JudgedOffer[]): CheckReason {
  if (offers.some(({ standing }) => standing === 'differs')) return 'terms_differ';
  if (offers.some(({ standing }) => standing === 'not_on_record')) return 'not_on_record';
  const broken = offers.flatMap(({ offer }) => ('reason' in offer ? offer.reason : []));
  return broken.find((reason) => reason !== 'unsupported_network') ?? 'unsupported_network';
}
