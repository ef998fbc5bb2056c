import { DELISTING_METHOD } from '../evidence/delisting.ts';

/** What the stable reason codes mean. A delisting carries the words of whoever decided instead. */
const REASONS: Readonly<Record<string, string>> = {
  declared_by_provider: 'its provider says so',
  declared_by_manifest: 'a manifest says so',
  declared_by_openapi: "its provider's OpenAPI document says so",
  declared_by_bazaar: 'a Bazaar feed says so',
  absent_from_feed: 'a complete pull of the feed that brought it no longer held it',
  absent_from_document: 'the document of its provider that declared it no longer holds it',
  inferred_from_text: 'no source names one, so it was inferred from the words of its texts',
  declared: 'a source names it',
  derived_again: 'it was derived again from what is on record',
  no_price: 'no price is known',
  receipt: 'a call was paid for, settled on the chain and delivered',
  route_removed: 'no source names the route any more',
  terms_changed: 'payee, asset or network are others than those of the paid call',
  delisted_by_operator: 'the operator took it out',
  delisted_by_provider: 'the provider took it out',
  delisted_by_rule: 'a rule took it out',
  provider_asked: 'its provider asked for it',
  statement_withdrawn: 'the statement of its provider no longer says so',
  replied: 'its provider replied to a caution',
  no_valid_402: `no valid 402 for ${DELISTING_METHOD.days_without_valid_402} days, and at least ${DELISTING_METHOD.conclusive_failures} conclusive failures`,
  probed: 'a probe saw it so',
  relisted_by_operator: 'the operator put it back',
  relisted_by_provider: 'the provider put it back',
  relisted_by_rule: 'it answers as it should again',
};

/** Says in words what a reason code means. What is no code of ours stands as it is: the words of whoever decided. */
export function describeReason(reason: string): string {
  return REASONS[reason] ?? reason;
}
