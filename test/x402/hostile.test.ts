import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { terms } from '../../src/model/terms.ts';
import { readChallenge } from '../../src/x402/read-challenge.ts';
import { startProcessorTime } from '../processor-time.ts';
import { encodeHeader, makeChallenge, makeChallengeV1, makeOffer, makeOfferV1 } from './challenges.ts';

const KINDS = ['challenge', 'other_scheme', 'malformed'];

function readParts(header: string | null, body: Uint8Array, authenticate = '') {
  const headers = new Headers({ 'www-authenticate': authenticate });
  if (header !== null) headers.set('payment-required', header);
  return readChallenge({ headers, body });
}

/** Values of wrong types for the protocol's fields. */
const anything = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('', '-5', '1e3', '0.1', '٣', 'base', '__proto__', 'eip155:8453', {}, [], null, 2 ** 60),
);

describe('no answer', () => {
  it('of any bytes crashes the reader', () => {
    const ascii = fc.string({ unit: 'grapheme-ascii' });
    fc.assert(
      fc.property(fc.option(ascii), fc.uint8Array({ maxLength: 400 }), ascii, (header, body, authenticate) => {
        expect(KINDS).toContain(readParts(header, body, authenticate).kind);
      }),
    );
  });

  it('of any JSON crashes the reader', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (header, body) => {
        expect(KINDS).toContain(readParts(encodeHeader(header ?? 0), Buffer.from(JSON.stringify(body))).kind);
      }),
    );
  });

  it('with any fields yields terms of another shape than terms have', () => {
    const fields = ['scheme', 'network', 'amount', 'maxAmountRequired', 'asset', 'payTo', 'maxTimeoutSeconds', 'extra'];
    const overrides = fc.dictionary(fc.constantFrom(...fields, '__proto__', 'outputSchema'), anything, { maxKeys: 3 });
    const outer = fc.dictionary(fc.constantFrom('resource', 'extensions', 'error', 'x402Version'), anything, {
      maxKeys: 2,
    });
    fc.assert(
      fc.property(overrides, outer, fc.boolean(), (offer, whole, isOld) => {
        const challenge = isOld
          ? makeChallengeV1({ ...whole, accepts: [makeOfferV1(offer), makeOfferV1()] })
          : makeChallenge({ ...whole, accepts: [makeOffer(offer), makeOffer()] });
        const reading = readParts(encodeHeader(challenge), Buffer.from(JSON.stringify(challenge)));
        if (reading.kind !== 'challenge') return;
        for (const one of reading.challenge.offers) expect(terms.safeParse(one).success).toBe(true);
      }),
    );
  });

  it('costs more than a moment', () => {
    const bombs = ['['.repeat(250_000), '{"a":'.repeat(40_000), `"${'\\u0000'.repeat(40_000)}"`, 'A'.repeat(96_000)];
    const getWork = startProcessorTime();
    for (const bomb of bombs) readParts(bomb.replaceAll(/[^A-Za-z0-9]/g, 'A'), Buffer.from(bomb), bomb);
    expect(getWork()).toBeLessThan(1_000);
  });
});
