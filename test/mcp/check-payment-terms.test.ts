import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import type { Terms } from '../../src/model/terms.ts';
import { makeRoute, makeTerms } from '../builders.ts';
import {
  buildChallenge,
  buildFields,
  CALLED,
  encode,
  makeFresh,
  makeSolanaTerms,
  SEEN,
  serveChecks,
} from '../http/checking.ts';
import { recordProbed } from '../sampled.ts';
import { CLIENTS, connectModern } from './clients.ts';
import { serveMcp } from './serving.ts';

const OTHER_SOLANA_PAYEE = '11111111111111111111111111111112';
const OTHER_PAYEE = '0x9999999999999999999999999999999999999999';

describe.each(Object.entries(CLIENTS))('%s', (_name, connect) => {
  it('asks about a challenge as text, as an object and in fields', async () => {
    const { url, catalogue } = await serveMcp([makeFresh()]);
    const client = await connect(url);
    const declared = await client.call('check_payment_terms', buildFields(makeTerms()));
    expect(declared.structured).toMatchObject({
      ...{ verdict: 'unseen', safe_offers: [], warnings: ['declared_only'] },
      cautions: ['notice, never_seen, 2026-11-18'],
      on_record: ['0.001 USDC on base, declared, since 2026-11-18'],
    });
    await recordProbed(catalogue, 'example-prices', [{ at: SEEN }]);
    const challenge = buildChallenge([makeTerms()]);
    for (const given of [
      { url: CALLED, challenge },
      { url: CALLED, challenge: encode(challenge) },
      { url: CALLED, challenge: JSON.stringify(buildChallenge([makeTerms()], 1)) },
      buildFields(makeTerms()),
    ]) {
      const { structured, isError } = await client.call('check_payment_terms', given);
      expect({ isError, ...structured }).toMatchObject({
        isError: false,
        verdict: 'match',
        safe_offers: [0],
        warnings: [],
        on_record: ['0.001 USDC on base, observed, since 2026-11-18'],
        listing: 'example-prices',
      });
    }
    const wrong = await client.call('check_payment_terms', { url: CALLED, challenge: 'AAAAA' });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('bad_base64') });
  });

  it('asks about a tool by the address alone that a search named', async () => {
    const routes = [makeRoute({ method: 'POST', path: '/mcp#report', description: 'Writes a report.' })];
    const { url, catalogue } = await serveMcp([makeFresh({ routes })]);
    await recordProbed(catalogue, 'example-prices', [{ at: SEEN }], '/mcp#report');
    const client = await connect(url);
    const { structured: found } = await client.call('search_listings', { q: 'write a report' });
    const [{ url: address }] = found.listings as [{ url: string }];
    expect(address).toContain('/mcp#report');
    const challenge = buildChallenge([makeTerms()], 2, address);
    const { structured } = await client.call('check_payment_terms', { url: address, challenge });
    expect(structured).toMatchObject({ verdict: 'match', safe_offers: [0], listing: 'example-prices' });
  });
});

describe('the tool', () => {
  it('answers briefly, however much a challenge holds', async () => {
    const { url } = await serveMcp([makeFresh()]);
    const client = await connectModern(url);
    const ask = async (args: Record<string, unknown>) =>
      JSON.stringify((await client.call('check_payment_terms', args)).structured);
    const moved = { amount: 2000, pay_to: OTHER_PAYEE };
    const many = Array.from({ length: 100 }, (_, n) => makeTerms({ ...moved, amount: 2000 + n }));
    const hostile = buildChallenge(many, 2, `https://x.example/${'IGNORE '.repeat(200)}`);
    expect(countTokens(await ask({ url: CALLED, challenge: hostile }))).toBeLessThan(1000);
  });

  it('names four offers on record at most', async () => {
    const terms = Array.from({ length: 9 }, (_, n) => makeTerms({ amount: 1000 + n }));
    const { url } = await serveMcp([makeFresh({ routes: [makeRoute({ terms })] })]);
    const { structured } = await (await connectModern(url)).call('check_payment_terms', { url: CALLED });
    expect(structured).toMatchObject({ on_record: Array(4).fill(expect.stringMatching(/USDC/)) });
  });

  it('shows what differs, field by field', async () => {
    const { url } = await serveMcp([makeFresh()]);
    const client = await connectModern(url);
    const dear = makeTerms({ amount: 2000, pay_to: OTHER_PAYEE });
    const { structured } = await client.call('check_payment_terms', {
      url: CALLED,
      challenge: buildChallenge([dear, makeSolanaTerms()]),
    });
    expect(structured).toMatchObject({
      verdict: 'mismatch',
      severity: 'notice',
      safe_offers: [],
      differences: [
        { offer: 0, what: 'amount', offered: '2000', on_record: '1000' },
        { offer: 0, what: 'pay_to', offered: OTHER_PAYEE, on_record: makeTerms().pay_to },
        { offer: 1, what: 'not_on_record', offered: '0.001 USDC' },
      ],
    });
  });
});

/** Terms that a route may have on record: of one network each, or of both. */
const recorded: fc.Arbitrary<Terms[]> = fc
  .record({
    amount: fc.integer({ min: 1, max: 900_000_000 }),
    digit: fc.constantFrom(...'123456789abcdef'),
    networks: fc.constantFrom(['base'], ['solana'], ['base', 'solana']),
    scheme: fc.constantFrom('exact', 'upto'),
  })
  .map(({ amount, digit, networks, scheme }) =>
    networks.map((network) =>
      network === 'base'
        ? makeTerms({ amount, scheme, pay_to: `0x${digit.repeat(40)}` })
        : makeSolanaTerms({ amount, scheme }),
    ),
  );

/** Changes that a buyer must be warned of. */
const CHANGES: Record<string, (terms: Terms, by: number) => Record<string, string>> = {
  amount: ({ amount }, by) => ({ amount: String(amount + by) }),
  pay_to: ({ network }) => ({ pay_to: network === 'base' ? OTHER_PAYEE : OTHER_SOLANA_PAYEE }),
  asset: () => ({ asset: '0x4200000000000000000000000000000000000006' }),
  network: ({ network }) => ({ network: network === 'base' ? 'eip155:84532' : 'eip155:1' }),
};

describe('whatever is on record', () => {
  it('matches itself in every form, and nothing that asks more or pays elsewhere, by HTTP and MCP alike', async () => {
    const worlds = fc.sample(fc.tuple(recorded, fc.integer({ min: 1, max: 1_000_000 })), { numRuns: 16, seed: 11 });
    const declared = worlds.map(([terms], n) => makeRoute({ path: `/v1/r${n}/:id`, terms }));
    const { url, catalogue } = await serveMcp([makeFresh({ routes: declared })]);
    for (const { path, terms } of declared)
      await recordProbed(catalogue, 'example-prices', [{ at: SEEN, terms }], path);
    const client = await connectModern(url);
    const { post, checkFields } = await serveChecks(catalogue);
    const ask = async (question: Record<string, unknown>) => {
      const [byHttp, byMcp] = [await (await post(question)).json(), await client.call('check_payment_terms', question)];
      const { verdict, severity, safe_offers, reason } = byHttp;
      expect(byMcp.structured).toMatchObject({ verdict, severity, safe_offers, ...(reason && { reason }) });
      return byHttp;
    };
    for (const [n, [terms, by]] of worlds.entries()) {
      const called = CALLED.replace('/v1/price/x', `/v1/r${n}/${by}`);
      for (const version of [1, 2] as const) {
        const challenge = buildChallenge(terms, version, called);
        for (const given of [challenge, version === 2 ? encode(challenge) : JSON.stringify(challenge)]) {
          const safe_offers = terms.map((_offer, index) => index);
          expect(await ask({ url: called, challenge: given })).toMatchObject({ verdict: 'match', safe_offers });
        }
      }
      for (const offer of terms) {
        const fields = buildFields(offer, called);
        expect(await checkFields(fields)).toMatchObject({ verdict: 'match' });
        for (const [field, change] of Object.entries(CHANGES)) {
          const changed = await ask({ ...fields, ...change(offer, by) });
          expect({ field, ...changed }).toMatchObject({
            field,
            verdict: 'mismatch',
            severity: 'danger',
            safe_offers: [],
          });
        }
      }
    }
  });
});
