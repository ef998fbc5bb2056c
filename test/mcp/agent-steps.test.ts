import { describe, expect, it } from 'vitest';
import { makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { recordProbed } from '../sampled.ts';
import { skipWithout } from '../skipped.ts';
import { connectModern } from './clients.ts';
import { testRequests } from './labelled-requests.ts';
import { serveMcp } from './serving.ts';

describe('a labelled request over real listings', () => {
  skipWithout('corpus');

  it('is answered in under 1,500 tokens by routes whose method and url are the arguments of the check', () =>
    // Of nine one; a long test asks all.
    testRequests(9));
});

const CALLED = 'https://api.prices.example-provider.com/v1/price/:symbol';

describe('a result with a route', () => {
  it('says how it is called, what it costs on each network, what goes in, what comes out and what speaks against it', async () => {
    const terms = [makeTerms(), makeTerms({ network: 'solana', amount: 2000 })];
    const route = makeRoute({
      method: 'POST',
      path: '/v1/translate',
      description: 'Translates a letter into another language.',
      input_schema: {
        type: 'object',
        properties: {
          tone: { enum: ['plain', 'polite'] },
          text: { type: 'string' },
          limit: { type: 'integer' },
          words: { type: 'array', items: { type: 'string' } },
        },
        required: ['text', 'words', 'tone'],
      },
      output_schema: { type: 'object', properties: { translation: { type: 'string' } } },
      terms,
    });
    const { url } = await serveMcp([makeDeclaration({ slug: 'letters', routes: [makeRoute(), route] })]);
    const { structured } = await (await connectModern(url)).call('search_listings', { q: 'translate a letter' });
    expect(structured.listings).toEqual([
      {
        caution: 'terms never seen, declared 2026-11-01',
        match: expect.any(Number),
        slug: 'letters',
        title: 'Example Prices',
        method: 'POST',
        url: 'https://api.prices.example-provider.com/v1/translate',
        description: 'Translates a letter into another language.',
        price_usdc: '0.001 base, 0.002 solana',
        verified: 'no',
        input: 'body {tone: "plain"|"polite", text: string, words: string[], limit?}',
        output: 'translation',
      },
    ]);
  });
});

describe('check_payment_terms without terms', () => {
  it('says what a 402 of the route should ask and whom it should pay, and calls nothing safe', async () => {
    const { url, catalogue } = await serveMcp([makeDeclaration()]);
    const client = await connectModern(url);
    const ask = async (args: object) => (await client.call('check_payment_terms', { url: CALLED, ...args })).structured;
    const payee = makeTerms().pay_to;
    expect(await ask({})).toMatchObject({ verdict: 'unseen', severity: 'notice', safe_offers: [] });
    await recordProbed(catalogue, 'example-prices', [{ at: '2026-11-19T00:00:00.000Z' }]);
    expect(await ask({})).toMatchObject({
      verdict: 'expected',
      severity: 'notice',
      safe_offers: [],
      summary: expect.stringContaining('Nothing was compared'),
      on_record: [expect.stringContaining(`0.001 USDC on base to ${payee}, observed`)],
      listing: 'example-prices',
    });
    expect(await ask({ method: 'DELETE' })).toMatchObject({ verdict: 'unknown_route', reason: 'other_method' });
    const part = await client.call('check_payment_terms', { url: CALLED, pay_to: payee });
    expect(part).toMatchObject({
      isError: true,
      text: expect.stringContaining('The terms lack network, asset, amount'),
    });
  });
});
