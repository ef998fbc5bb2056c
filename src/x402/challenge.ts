import type { JsonObject } from '../model/json.ts';
import type { PaymentIdentifier } from '../model/payment-identifier.ts';
import type { Terms } from '../model/terms.ts';
import type { Ambiguity } from './ambiguities.ts';
import type { OfferProblem } from './offer-fields.ts';

/**
 * Reasons why no challenge could be read from a 402 answer. `no_challenge`: neither the header nor a body.
 * `header_too_large`: the header is longer than the HTTP clients of Node and others accept. `body_too_large`: beyond
 * the limit of `challenge-json.ts`. `bad_base64`: the header is not base 64. `not_utf8`, `html_page`, `not_json`,
 * `too_deep`, `not_an_object`: something else than a JSON object. `no_version`: the JSON is not a challenge.
 * `bad_version`: a version other than 1 and 2. `no_accepts`: no list of offers, or an empty one. `too_many_offers`: the
 * list is too long.
 */
export type ChallengeProblem =
  | 'no_challenge'
  | 'header_too_large'
  | 'body_too_large'
  | 'bad_base64'
  | 'not_utf8'
  | 'html_page'
  | 'not_json'
  | 'too_deep'
  | 'not_an_object'
  | 'no_version'
  | 'bad_version'
  | 'no_accepts'
  | 'too_many_offers';

/**
 * Flaws of a challenge that can still be read.
 * `not_conforming`: the protocol's own schema refuses a part of it. `header_unreadable`, `header_missing`:
 * the body was read, although version 2 belongs in the header. `version_1_in_header`: the header has a challenge of
 * version 1, which belongs in the body. `network_spelling`: a network is spelled as in the other version.
 */
export type ChallengeFlaw =
  | 'not_conforming'
  | 'header_unreadable'
  | 'header_missing'
  | 'version_1_in_header'
  | 'network_spelling';

/**
 * Reasons why one offer of a challenge was left out. `bad_timeout`: it has no payment time-out, so nobody can sign for
 * it. `not_conforming`: the protocol's own schema refuses the challenge, so clients that check it do not pay.
 */
export type SkipReason = OfferProblem | 'bad_timeout' | 'not_conforming';

/** An offer that was left out. The names are as the provider wrote them, cut short. */
export interface SkippedOffer {
  /** Index in `accepts`. */
  index: number;
  reason: SkipReason;
  network: string | null;
  asset: string | null;
}

/** The content of a 402 answer. Everything except `offers` is as the provider wrote it. */
export interface Challenge {
  x402_version: 1 | 2;
  found_in: 'header' | 'body';
  /** Offers that can be paid here: USDC on Base or Solana. If it is empty, `others` says why. */
  offers: Terms[];
  others: SkippedOffer[];
  /** The address that the challenge names as its own. */
  resource: string | null;
  /** Support for an id of the payment; null if the seller does not state it. */
  payment_identifier: PaymentIdentifier | null;
  /** Description of the route's request and answer in the challenge, uncleaned, at most 16 KB each. */
  input: JsonObject | null;
  output: JsonObject | null;
  flaws: ChallengeFlaw[];
  /** Places that the protocol's schema refuses (`accepts.0.description`), at most eight. */
  nonconforming: string[];
  /** Parts that other readers may read differently. A challenge with any must not be paid. */
  ambiguities: Ambiguity[];
}

/** The result of reading a 402 answer. `schemes` are other payment schemes that it names (`l402`), in lower case. */
export type ChallengeReading =
  | { kind: 'challenge'; challenge: Challenge }
  | { kind: 'other_scheme'; schemes: string[] }
  | { kind: 'malformed'; cause: ChallengeProblem; found_in: 'header' | 'body' };
