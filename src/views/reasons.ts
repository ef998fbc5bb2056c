import { DELISTING_METHOD } from '../evidence/delisting.ts';
import { RELIABILITY_METHOD } from '../evidence/reliability.ts';
import { CAUTION_CODES, CAUTIONS, type CautionCode } from '../model/caution.ts';

/**
 * What the stable reason codes mean, each true of whatever change carries it: two outcomes never share a code. A delisting
 * by the operator carries the operator's words instead.
 */
export const REASONS = {
  declared_by_provider: 'its provider says so',
  declared_by_manifest: 'a manifest says so',
  declared_by_openapi: "its provider's OpenAPI document says so",
  declared_by_bazaar: 'a Bazaar feed says so',
  absent_from_feed: 'a complete pull of the feed that brought it no longer held it',
  absent_from_document: 'the document of its provider that declared it no longer holds it',
  statement_withdrawn: 'the statement of its provider no longer says so',
  inferred_from_text: 'no source names one, so it was inferred from the description',
  declared: 'a source names it',
  derived_again: 'it was derived again from what is on record',
  namesake: 'another listing that goes by the same name, or did, has changed',
  no_price: 'no price is known',
  paid_and_delivered: 'we paid for a call, it settled on the chain, and it was delivered',
  paid_not_delivered: 'we paid for a call, it settled on the chain, and nothing was delivered',
  paid_not_recognised: 'we paid for a call, it settled on the chain, and the answer was not recognised as the product',
  route_removed: 'no source names the route any more',
  terms_changed: 'payee, asset or network are no longer those of the paid call',
  corrected_by_operator: 'the operator corrected the record of a paid call',
  replied: 'its provider replied to a caution',
  reply_withdrawn: 'its provider withdrew its reply to a caution',
  delisted_by_operator: 'the operator removed it',
  delisted_by_provider: 'the provider removed it',
  delisted_by_rule: 'a rule removed it',
  provider_asked: 'its provider asked for it',
  no_valid_402: `no valid 402 for ${DELISTING_METHOD.days_without_valid_402} days, and at least ${DELISTING_METHOD.conclusive_failures} conclusive failures`,
  probed: 'a probe saw it so',
  probe_failed: 'probes got no valid 402',
  sampled: `the samples of the last ${RELIABILITY_METHOD.window_days} days give that`,
  relisted_by_operator: 'the operator put it back',
  relisted_by_provider: 'the provider put it back',
  relisted_by_rule: 'it gives valid 402 answers again',
} as const;

/** Says in words what a reason code means. What is not a code of ours stays as it is: it is in the words of the one who decided. */
export function describeReason(reason: string): string {
  if (Object.hasOwn(REASONS, reason)) return REASONS[reason as keyof typeof REASONS];
  return isCautionCode(reason) ? getCautionPhrase(reason) : reason;
}

/** Gives what a caution says as a part of a sentence: without a capital and a full stop. */
export function getCautionPhrase(code: CautionCode): string {
  const { sentence } = CAUTIONS[code];
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1, -1)}`;
}

function isCautionCode(code: string): code is CautionCode {
  return CAUTION_CODES.some((known) => known === code);
}
