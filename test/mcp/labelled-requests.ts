import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect } from 'vitest';
import { buildCaller } from '../../src/mcp/caller.ts';
import type { CompactItem } from '../../src/mcp/compact-listing.ts';
import { TOOLS } from '../../src/mcp/tools/index.ts';
import type { Reading } from '../../src/published/reading.ts';
import { openCorpus } from '../search/corpus.ts';
import { readRequests, readTasks } from '../search/labelled.ts';

/** Calls a tool in this process; gives the structured content, and the text beside it. */
function callTool(reading: Reading, name: string, args: object) {
  const tool = TOOLS[name];
  if (!tool) throw new Error(`no tool ${name}`);
  const { result } = buildCaller(reading).callTool(tool, args);
  expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
  const [first] = result.content;
  return { structured: Object(result.structuredContent), text: first?.type === 'text' ? first.text : '' };
}

/**
 * Tests that one of so many labelled requests is answered over real listings, briefly, by routes whose method and url are the
 * arguments of the check.
 */
export async function testRequests(oneOf: number): Promise<void> {
  const reading = await openCorpus();
  const requests = [...readRequests(), ...readTasks()].map(({ q }) => q);
  expect(requests.length).toBeGreaterThan(200);
  let [shown, withInput] = [0, 0];
  const tokens: Record<'search' | 'detail', number[]> = { search: [], detail: [] };
  const asked = requests.filter((_, at) => at % oneOf === 0);
  for (const q of asked) {
    const { structured, text } = callTool(reading, 'search_listings', { q });
    tokens.search.push(countTokens(text));
    expect(tokens.search.at(-1), q).toBeLessThanOrEqual(1500);
    const listings: CompactItem[] = structured.listings;
    if (listings[0])
      tokens.detail.push(countTokens(callTool(reading, 'get_listing', { slug: listings[0].slug, q }).text));
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
  for (const [what, counts] of Object.entries(tokens)) {
    const sorted = counts.toSorted((a, b) => a - b);
    console.info(
      `tokens of a ${what}: median ${sorted[sorted.length >> 1]}, most ${sorted.at(-1)} (${sorted.length} requests)`,
    );
  }
  expect(Math.max(...tokens.detail)).toBeLessThan(1200);
  console.info(`results of a search: ${(shown / asked.length).toFixed(1)} on average`);
  expect(shown).toBeGreaterThan(7 * asked.length);
  expect(withInput / shown, 'results that carry the shape of their input').toBeGreaterThan(0.5);
}
