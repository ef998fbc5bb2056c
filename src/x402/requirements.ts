import { isObject } from '../model/json.ts';
import type { Terms } from '../model/terms.ts';
import { parseChallengeBody, parseChallengeHeader } from './challenge-json.ts';
import { parseChallengeOffer } from './challenge-offer.ts';
import { readChallenge } from './read-challenge.ts';

/**
 * One offer of a challenge, with everything that a payment repeats. Everything except `terms` is as the seller wrote
 * it.
 */
export interface Requirement {
  terms: Terms & { x402_version: 1 | 2 };
  /** The whole entry of `accepts`. */
  raw: Record<string, unknown>;
  /** The resource and the extensions of the challenge, which a payment of version 2 sends back. */
  resource: unknown;
  extensions: unknown;
}

/**
 * Lists the offers of a 402 answer that can be paid here, as a payment has to send them back. Empty if `readChallenge`
 * cannot read the answer. Never throws, whatever the bytes.
 */
export function listRequirements(answer: { headers: Headers; body: Uint8Array }): Requirement[] {
  const reading = readChallenge(answer);
  if (reading.kind !== 'challenge' || reading.challenge.offers.length === 0) return [];
  const { found_in, x402_version } = reading.challenge;
  const header = answer.headers.get('payment-required') ?? '';
  const parsed = found_in === 'header' ? parseChallengeHeader(header) : parseChallengeBody(answer.body);
  if ('problem' in parsed || !Array.isArray(parsed.object.accepts)) return [];
  const { accepts, resource, extensions } = parsed.object;
  return accepts.flatMap((raw: unknown) => {
    const offer = parseChallengeOffer(raw, x402_version, extensions);
    if ('reason' in offer || !isObject(raw)) return [];
    return { terms: { ...offer.terms, x402_version }, raw, resource, extensions };
  });
}
