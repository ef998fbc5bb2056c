import { encodeHeader } from '../../../scripts/market/providers/facilitation.ts';
import type { Raw } from './cheating.ts';

/** Builds a 402 in either version. */
export function buildChallenge(version: 1 | 2, resource: string, accepts: unknown[], more: Raw = {}): Response {
  if (version === 1)
    return Response.json({ x402Version: 1, error: 'payment required', accepts, ...more }, { status: 402 });
  const challenge = { x402Version: 2, error: 'payment required', resource: { url: resource }, accepts, ...more };
  return Response.json({}, { status: 402, headers: { 'payment-required': encodeHeader(challenge) } });
}
