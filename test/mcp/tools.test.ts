import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { TOOLS } from '../../src/mcp/tools/index.ts';
import { buildSummary } from '../../src/published/snapshot.ts';
import { VERIFIED_MEANING } from '../../src/views/site.ts';
import { NOW } from '../builders.ts';
import { removeListing } from '../written.ts';
import { CLIENTS, connectModern } from './clients.ts';
import { makeMany, makeNumbered, recordAll, serveMcp } from './serving.ts';

describe.each(Object.entries(CLIENTS))('%s', (name, connect) => {
  it('learns who answers, in which protocol, and what the tools are', async () => {
    const { url } = await serveMcp(makeMany(3));
    const client = await connect(url);
    expect(client.protocol).toBe(name.includes('2026') ? '2026-07-28' : '2025-11-25');
    expect(client.server).toMatchObject({
      name: 'agent-payable-apis',
      title: 'Agent-Payable APIs',
      websiteUrl: 'http://localhost:4321',
    });
    expect(client.capabilities).toEqual({
      tools: { listChanged: false },
      resources: { listChanged: false },
      prompts: { listChanged: false },
      completions: {},
    });
    expect(client.instructions).toContain(VERIFIED_MEANING);
    const tools = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(Object.keys(TOOLS));
    for (const tool of tools) {
      expect(tool.annotations).toEqual({ readOnlyHint: true, openWorldHint: false });
      expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } });
    }
    expect(JSON.stringify(tools)).not.toMatch(/null|\$ref/);
  });

  it('gets from every tool one answer twice, as text and as structured content', async () => {
    const { url } = await serveMcp(makeMany(3));
    const client = await connect(url);
    const url_1 = 'https://api-001.numbered-provider.com/v1/answer';
    const calls: [string, object, object][] = [
      [
        'search_listings',
        { q: 'number 001' },
        { total: 3, listings: [{ slug: 'numbered-001', method: 'GET', url: url_1, verified: 'no' }, {}, {}] },
      ],
      [
        'get_listing',
        { slug: 'numbered-001' },
        { slug: 'numbered-001', state: 'live', routes: [{ method: 'GET', url: url_1 }] },
      ],
      ['check_payment_terms', { url: url_1 }, { verdict: 'unseen', severity: 'notice', safe_offers: [] }],
      ['list_changes', {}, { revision: 1, changes: [{ kind: 'listed' }, {}, {}] }],
      ['catalogue_summary', {}, { live_listings: 3, settlement_verified: 0 }],
    ];
    expect(calls.map(([tool]) => tool)).toEqual(Object.keys(TOOLS));
    for (const [tool, args, said] of calls) {
      const answer = await client.call(tool, { ...args });
      expect(answer).toMatchObject({ isError: false, structured: { revision: 1, ...said } });
      expect(JSON.parse(answer.text)).toEqual(answer.structured);
    }
  });

  it('may write numbers as text, text as numbers, prices as people do, and query for q', async () => {
    const { url } = await serveMcp(makeMany(12));
    const client = await connect(url);
    const search = async (args: object) => (await client.call('search_listings', { ...args })).structured;
    const cheap = await search({ q: 'number', max_price_usdc: '0.005', limit: 2 });
    expect(cheap).toMatchObject({ total: 5, listings: [{}, {}] });
    for (const price of [0.005, '$0.005', '0.5 cents', '.005']) {
      expect(await search({ query: 'number', max_price_usdc: price, limit: '2' })).toEqual(cheap);
    }
    expect(await search({ verified: 'false' })).toMatchObject({ total: 12 });
    const both = await client.call('search_listings', { q: 'number', query: 'answer' });
    expect(both).toMatchObject({ isError: true, text: expect.stringContaining('There is no argument "query"') });
  });

  it('is told in words what is wrong with its arguments', async () => {
    const { url, errors } = await serveMcp(makeMany(3));
    const client = await connect(url);
    const misspelled = await client.call('search_listings', { categroy: 'Data', verified: 'yes', limit: 51 });
    expect(misspelled.isError).toBe(true);
    expect(misspelled.text).toContain('There is no argument "categroy". Did you mean category?');
    expect(misspelled.text).toContain('The argument verified cannot take this value: expected boolean');
    expect(misspelled.text).toMatch(/The argument limit cannot take this value: .*<=50/);
    expect(misspelled.text).toContain(
      'Valid arguments: q, category, network, seen, verified, band, max_price_usdc, can, host, provider, updated_since, sort, limit, cursor, compare.',
    );
    for (const [args, told] of [
      [{ category: 'Weather' }, 'expected one of "Data"|"Finance"|"Intelligence"|"Tools"|"Verification"'],
      [{ updated_since: 'yesterday' }, 'Changed since (ISO 8601)'],
      [{ max_price_usdc: '-1' }, 'a decimal amount of USDC'],
      [{ cursor: 'bm9uc2Vuc2U' }, 'The cursor is not one of this query.'],
      [{ limit: 'five' }, 'limit cannot take this value: expected number, received string'],
      [{ max_price: '0.01' }, 'There is no argument "max_price". Did you mean max_price_usdc?'],
    ] as const) {
      const answer = await client.call('search_listings', args);
      expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(told) });
    }
    const many = await client.call(
      'search_listings',
      Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`k${at}`, 1])),
    );
    expect(countTokens(many.text)).toBeLessThan(150);
    expect(await client.call('get_listing')).toMatchObject({
      isError: true,
      text: expect.stringContaining('The argument slug is missing'),
    });
    expect(await client.call('catalogue_summary', { category: 'Data' })).toMatchObject({
      isError: true,
      text: 'There is no argument "category". This tool takes no arguments.',
    });
    await expect(client.call('find_everything')).rejects.toThrow(/not found/);
    expect(errors).toEqual([]);
  });

  it('sees a listing added, and one removed, at the next call', async () => {
    const { url, catalogue } = await serveMcp(makeMany(3));
    const client = await connect(url);
    await recordAll(catalogue, [makeNumbered(3)]);
    expect((await client.call('catalogue_summary')).structured).toMatchObject({ live_listings: 4, revision: 2 });
    await removeListing(catalogue, 'numbered-000', { by: 'provider', reason: 'asked_by_provider' });
    expect((await client.call('search_listings')).structured).toMatchObject({ total: 3, revision: 3 });
    const gone = await client.call('get_listing', { slug: 'numbered-000' });
    expect(gone).toMatchObject({
      isError: false,
      structured: {
        state: 'delisted',
        tombstone: {
          title: 'Numbered API 000',
          delisted_at: NOW,
          delisted_by: 'provider',
          reason: 'asked_by_provider',
        },
      },
    });
    expect(gone.structured).not.toHaveProperty('routes');
  });
});

describe('catalogue_summary', () => {
  it('counts exactly as the documents do, and by category', async () => {
    const { url, reading } = await serveMcp(makeMany(12));
    const client = await CLIENTS['1.x client']?.(url);
    const answer = await client?.call('catalogue_summary');
    const summary = buildSummary(reading.getSnapshot(), reading.site, new Date(NOW));
    expect(answer?.structured).toMatchObject({
      ...summary,
      live_listings: 12,
      settlement_verified: 0,
      revised_at: NOW,
    });
    expect(answer?.structured.by_category).toEqual([
      { category: 'Data', live_listings: 3 },
      { category: 'Finance', live_listings: 3 },
      { category: 'Intelligence', live_listings: 2 },
      { category: 'Tools', live_listings: 2 },
      { category: 'Verification', live_listings: 2 },
    ]);
    expect(answer?.structured.settlement_verified_means).toBe(VERIFIED_MEANING);
    expect(countTokens(answer?.text ?? '')).toBeLessThan(400);
  });
});

describe('a failure of our own', () => {
  it('is reported, and told to the caller without its text', async () => {
    const { url, reading, errors } = await serveMcp(makeMany(1));
    const client = await connectModern(url);
    reading.published.close();
    expect(await client.call('catalogue_summary')).toMatchObject({
      isError: true,
      text: expect.stringMatching(
        /^Something went wrong on our side\. Try again in a moment\. .* the id [\da-f-]{36}\.$/,
      ),
    });
    expect(errors).toHaveLength(1);
  });
});
