import { NETWORKS } from '../../src/model/network.ts';
import type { ChallengeReading } from '../../src/x402/challenge.ts';
import { readChallenge } from '../../src/x402/read-challenge.ts';

/** A payee as sellers write it, in mixed case, and as terms hold it. */
export const PAYEE = '0xAbCdEf0123456789aBcDeF0123456789AbCdEf01';
export const SOLANA_PAYEE = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';

type Fields = Record<string, unknown>;

/** An offer of version 2: 0.01 USDC on Base. */
export function makeOffer(overrides: Fields = {}): Fields {
  return {
    scheme: 'exact',
    network: NETWORKS.base.id,
    amount: '10000',
    asset: NETWORKS.base.usdc,
    payTo: PAYEE,
    maxTimeoutSeconds: 60,
    extra: { name: 'USD Coin', version: '2' },
    ...overrides,
  };
}

/** The same offer as version 1 writes it. */
export function makeOfferV1(overrides: Fields = {}): Fields {
  const { amount, ...rest } = makeOffer({ network: 'base' });
  const described = {
    resource: 'https://seller.example/v1/quote',
    description: 'A quote.',
    mimeType: 'application/json',
  };
  return { ...rest, ...described, maxAmountRequired: amount, ...overrides };
}

export function makeSolanaOffer(overrides: Fields = {}): Fields {
  const { id: network, usdc: asset } = NETWORKS.solana;
  return makeOffer({ network, asset, payTo: SOLANA_PAYEE, extra: { feePayer: SOLANA_PAYEE }, ...overrides });
}

export function makeChallenge(overrides: Fields = {}): Fields {
  return {
    x402Version: 2,
    error: 'Payment required',
    resource: { url: 'https://seller.example/v1/quote', description: 'A quote.', mimeType: 'application/json' },
    accepts: [makeOffer()],
    ...overrides,
  };
}

export function makeChallengeV1(overrides: Fields = {}): Fields {
  return { x402Version: 1, error: 'X-PAYMENT header is required', accepts: [makeOfferV1()], ...overrides };
}

/** Encodes a challenge as version 2 sends it. */
export function encodeHeader(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');
}

/** Reads a 402 with these parts; values other than text and bytes are written as JSON. */
export function read(parts: { header?: unknown; rawHeader?: string; body?: unknown; authenticate?: string }) {
  const headers = new Headers();
  if (parts.header !== undefined) headers.set('payment-required', encodeHeader(parts.header));
  if (parts.rawHeader !== undefined) headers.set('payment-required', parts.rawHeader);
  if (parts.authenticate !== undefined) headers.set('www-authenticate', parts.authenticate);
  return readChallenge({ headers, body: toBytes(parts.body) });
}

/** Reads a 402 that must contain a challenge. */
export function readGood(parts: Parameters<typeof read>[0]) {
  const reading: ChallengeReading = read(parts);
  if (reading.kind !== 'challenge') throw new Error(`not a challenge: ${JSON.stringify(reading)}`);
  return reading.challenge;
}

function toBytes(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
