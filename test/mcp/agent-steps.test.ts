import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { buildCaller } from '../../src/mcp/caller.ts';
import type { CompactItem } from '../../src/mcp/compact-item.ts';
import { TOOLS } from '../../src/mcp/tools/index.ts';
import type { Reading } from '../../src/published/reading.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { recordProbed } from '../sampled.ts';
import { HAS_CORPUS, openCorpus } from '../search/corpus.ts';
import { readRequests, readTasks } from '../search/labelled.ts';
import { connectModern } from './clients.ts';
import { serveMcp } from './serving.ts';

/** Calls a tool in this process; gives the structured content, and the whole result as it is sent. */
function callTool(reading: Reading, name: string, args: object) {
  const tool = TOOLS[name];
  if (!tool) throw new Error(`no tool ${name}`);
  const result = buildCaller(reading).callTool(tool, args);
  expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
  return { structured: Object(result.structuredContent), sent: JSON.stringify(result) };
}

if (!HAS_CORPUS)
  console.info('Not run: steps of an agent over real listings, because the corpus is not beside the project.');

describe.skipIf(!HAS_CORPUS)('every labelled request over real listings', () => {
  it('is answered in under 1,500 tokens by routes whose method and url are the arguments of the check', async () => {
    const reading = await openCorpus();
    const requests = [...readRequests(), ...readTasks()].map(({ q }) => q);
    expect(requests.length).toBeGreaterThan(200);
    let [shown, withInput] = [0, 0];
    for (const q of requests) {
      const { structured, sent } = callTool(reading, 'search_listings', { q });
      expect(countTokens(sent), q).toBeLessThanOrEqual(1500);
      const listings: CompactItem[] = structured.listings;
      expect(listings.length, q).toBeGreaterThanOrEqual(Math.min(7, structured.total));
      const routes = listings.filter(({ method }) => method !== undefined);
      shown += routes.length;
      withInput += routes.filter(({ input }) => input !== undefined).length;
      for (const { slug, url, method } of routes) {
        const check = callTool(reading, 'check_payment_terms', { url, method }).structured;
        expect([q, url, check]).toMatchObject([q, url, { listing: slug }]);
        expect(['unseen', 'expected'], `${q} ${url}`).toContain(check.verdict);
        expect(check.on_record.length).toBeGreaterThan(0);
      }
    }
    expect(shown).toBeGreaterThan(7 * requests.length);
    expect(withInput / shown, 'results that carry the shape of their input').toBeGreaterThan(0.5);
  });
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
        caution: expect.stringMatching(/^never_seen declared /),
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
    recordProbed(catalogue, 'example-prices', [{ at: '2026-11-19T00:00:00.000Z' }]);
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
