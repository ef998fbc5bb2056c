import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getTermsKey } from '../../src/model/terms.ts';
import { parseOffer } from '../../src/sources/bazaar/offer.ts';
import { parseChallengeOffer } from '../../src/x402/challenge-offer.ts';
import { skipWithout } from '../skipped.ts';
import { read, readGood } from './challenges.ts';

const CORPUS = resolve(import.meta.dirname, '../../../shared/corpus');
const FOLDER = join(CORPUS, 'recorded-402');

function load(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
}

describe('recorded 402 answers', () => {
  skipWithout('corpus');

  it('of version 2 is read from its header', () => {
    const challenge = readGood({ rawHeader: String(load('x402-v2-ping.json').paymentRequiredHeader) });
    expect(challenge).toMatchObject({ x402_version: 2, found_in: 'header', flaws: [], others: [] });
    expect(challenge.offers.map(({ network, amount }) => [network, amount])).toEqual([
      ['base', 10_000],
      ['solana', 10_000],
    ]);
  });

  it('that asks for Lightning is not x402', () => {
    const { wwwAuthenticate, body } = load('l402-not-x402.json');
    expect(read({ authenticate: String(wwwAuthenticate), body })).toEqual({ kind: 'other_scheme', schemes: ['l402'] });
  });

  it('in yen on Polygon has no payable offer, and says why', () => {
    const { x402Version, accepts } = load('jpyc-polygon-v1.json');
    const challenge = readGood({ body: { x402Version, accepts } });
    expect(challenge.offers).toEqual([]);
    expect(challenge.others).toMatchObject([{ reason: 'unsupported_network', network: 'eip155:137' }]);
  });
});

describe('a thousand real offers', () => {
  skipWithout('corpus');

  it('give the same terms in a feed and in a 402', () => {
    const feed = JSON.parse(readFileSync(join(CORPUS, 'bazaar-2026-03/resources.json'), 'utf8'));
    const items: { x402Version: 1 | 2; accepts: Record<string, unknown>[] }[] = feed.items ?? feed.resources ?? feed;
    const compared = items.flatMap(({ x402Version, accepts }) =>
      accepts.map((raw) => {
        const declared = parseOffer(raw, x402Version, () => undefined);
        // Feeds carry the amount under either name; a challenge of version 2 has one.
        const asked = parseChallengeOffer(
          { ...raw, amount: raw.amount ?? raw.maxAmountRequired },
          x402Version,
          undefined,
        );
        return {
          declared: typeof declared === 'string' ? declared : getTermsKey(declared),
          asked: 'reason' in asked ? asked.reason : getTermsKey(asked.terms),
        };
      }),
    );
    expect(compared.length).toBeGreaterThan(1_000);
    expect(compared.filter(({ declared, asked }) => declared !== asked)).toEqual([]);
  });
});
