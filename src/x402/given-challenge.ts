import { isObject } from '../model/json-object.ts';
import type { ChallengeProblem, SkippedOffer, SkipReason } from './challenge.ts';
import { checkChallengeObject, parseChallengeBody, parseChallengeHeader } from './challenge-json.ts';
import { type ChallengeOffer, parseChallengeOffer } from './challenge-offer.ts';
import { readDiscovery } from './discovery.ts';
import { type Accepts, getNames, readAccepts } from './read-challenge.ts';

/** One offer of a challenge that somebody was given: terms that can be paid here, or why they cannot. */
export interface GivenOffer extends Pick<SkippedOffer, 'network' | 'asset'> {
  /** Its place in `accepts`. */
  index: number;
  offer: Pick<Extract<ChallengeOffer, { terms: unknown }>, 'terms'> | { reason: SkipReason };
}

/** A challenge as a buyer has it in hand, every offer in its place. Everything but terms is as the provider wrote it. */
export interface GivenChallenge {
  x402_version: 1 | 2;
  offers: GivenOffer[];
  /** The addresses that it says it is for: one in version 2, one an offer in version 1. */
  resources: string[];
}

/**
 * Reads a challenge that a buyer hands over: the value of `PAYMENT-REQUIRED` (base 64), or its JSON, as text or parsed, in
 * either version. Gives why it is none where it is none. Never throws, whatever it is given.
 */
export function readGivenChallenge(given: unknown): GivenChallenge | { problem: ChallengeProblem } {
  const read = readAccepts(typeof given === 'string' ? parseText(given) : checkChallengeObject(given));
  if ('problem' in read) return read;
  const { version, accepts } = read;
  return {
    x402_version: version,
    offers: accepts.map((entry, index) => ({ index, ...getNames(entry), offer: parseChallengeOffer(entry, version) })),
    resources: listResources(read),
  };
}

/** The header is often copied as a line, with its name. */
const HEADER_NAME = /^\s*payment-required\s*:/i;

function parseText(text: string) {
  const value = text.replace(HEADER_NAME, '');
  const isHeader = /^[A-Za-z0-9+/=]/.test(value.trimStart());
  return isHeader ? parseChallengeHeader(value) : parseChallengeBody(Buffer.from(value));
}

/** Terms as somebody copied them out of a challenge: each as the challenge spells it. */
export interface CopiedTerms {
  network: string;
  asset: string;
  /** Atomic USDC in decimal digits. */
  amount: string;
  pay_to: string;
  scheme: string;
}

/** Reads terms that were copied out of a challenge of either version, as a challenge of this one offer. */
export function readCopiedTerms({ network, asset, amount, pay_to, scheme }: CopiedTerms): GivenChallenge {
  const entry = { network, asset, amount, payTo: pay_to, scheme, maxTimeoutSeconds: 1 };
  const offer = parseChallengeOffer(entry, 2);
  return { x402_version: 2, offers: [{ index: 0, ...getNames(entry), offer }], resources: [] };
}

function listResources({ object, version, accepts }: Accepts): string[] {
  const holders = version === 2 ? [object] : accepts.filter(isObject).map((entry) => ({ accepts: [entry] }));
  return [...new Set(holders.flatMap((holder) => readDiscovery(holder, version).resource ?? []))];
}
