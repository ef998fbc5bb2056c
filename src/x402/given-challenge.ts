import { isObject } from '../model/json.ts';
import { type Ambiguity, listAmbiguities } from './ambiguities.ts';
import type { ChallengeProblem, SkippedOffer, SkipReason } from './challenge.ts';
import { checkChallengeObject, parseChallengeBody, parseChallengeHeader } from './challenge-json.ts';
import { type ChallengeOffer, parseChallengeOffer } from './challenge-offer.ts';
import { readDiscovery } from './discovery.ts';
import { getOfferNames, readAccepts, type UnreadChallenge } from './read-challenge.ts';

/** One offer of a challenge that a buyer received: terms that can be paid here, or the reason why they cannot. */
export interface GivenOffer extends Pick<SkippedOffer, 'network' | 'asset'> {
  /** Index in `accepts`. */
  index: number;
  offer: Pick<Extract<ChallengeOffer, { terms: unknown }>, 'terms'> | { reason: SkipReason };
}

/** A challenge that a buyer received, with every offer at its index. Everything except terms is as the provider wrote it. */
export interface GivenChallenge {
  x402_version: 1 | 2;
  offers: GivenOffer[];
  /** The addresses that it names as its own: one in version 2, one for each offer in version 1. */
  resources: string[];
  /** Parts that other readers may read differently. */
  ambiguities: Ambiguity[];
}

/**
 * Reads a challenge that a buyer submits: the value of `PAYMENT-REQUIRED` (base 64), or its JSON, as text or parsed, in
 * either version. Returns a problem if it is not a challenge. Never throws, whatever the input. `duplicateKeys` are
 * those in the text that a parsed challenge came from, as JSON pointers in the challenge.
 */
export function readGivenChallenge(
  given: unknown,
  duplicateKeys: readonly string[] = [],
): GivenChallenge | { problem: ChallengeProblem } {
  const read = readAccepts(typeof given === 'string' ? parseText(given) : checkChallengeObject(given));
  if ('problem' in read) return read;
  const { version, accepts, object } = read;
  return {
    x402_version: version,
    offers: accepts.map((entry, index) => ({
      index,
      ...getOfferNames(entry),
      offer: parseChallengeOffer(entry, version, object.extensions),
    })),
    resources: listResources(read),
    ambiguities: listAmbiguities(accepts, [...read.duplicateKeys, ...duplicateKeys]),
  };
}

/** The header is often copied together with its name. */
const HEADER_NAME = /^\s*payment-required\s*:/i;

function parseText(text: string) {
  const value = text.replace(HEADER_NAME, '');
  const isHeader = /^[A-Za-z0-9+/=]/.test(value.trimStart());
  return isHeader ? parseChallengeHeader(value) : parseChallengeBody(Buffer.from(value));
}

/** Terms copied from a challenge, spelled as in the challenge. */
export interface CopiedTerms {
  network: string;
  asset: string;
  /** Atomic USDC in decimal digits. */
  amount: string;
  pay_to: string;
  scheme: string;
}

/** Reads terms that were copied from a challenge of either version, as a challenge with this one offer. */
export function readCopiedTerms({ network, asset, amount, pay_to, scheme }: CopiedTerms): GivenChallenge {
  const entry = { network, asset, amount, payTo: pay_to, scheme, maxTimeoutSeconds: 1 };
  const offer = parseChallengeOffer(entry, 2, undefined);
  return {
    x402_version: 2,
    offers: [{ index: 0, ...getOfferNames(entry), offer: omitNeeds(offer) }],
    resources: [],
    ambiguities: listAmbiguities([entry], []),
  };
}

/** Removes the version and the offer's needs, which the copied fields do not show. */
function omitNeeds(offer: ChallengeOffer): GivenOffer['offer'] {
  if ('reason' in offer) return offer;
  const { extra_needs: _needs, ...terms } = offer.terms;
  return { terms: { ...terms, x402_version: null } };
}

function listResources({ object, version, accepts }: UnreadChallenge): string[] {
  const holders = version === 2 ? [object] : accepts.filter(isObject).map((entry) => ({ accepts: [entry] }));
  return [...new Set(holders.flatMap((holder) => readDiscovery(holder, version).resource ?? []))];
}
