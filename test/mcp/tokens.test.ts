import { resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildCaller } from '../../src/mcp/caller.ts';
import { getTokenEstimate } from '../../src/mcp/compact.ts';
import { TOOLS } from '../../src/mcp/tools/index.ts';
import { iterateRefs } from '../../src/published/listings.ts';
import type { Reading } from '../../src/published/reading.ts';
import { makeCommands } from '../cli/running.ts';
import { openTestReading } from '../reading.ts';
import { skipWithout } from '../skipped.ts';
import { makeHostile } from './hostile.ts';
import { serveMcp } from './serving.ts';

const FEED = resolve(import.meta.dirname, '../../../shared/corpus/bazaar-2026-03/resources.json');
const SEED = resolve(import.meta.dirname, '../../data/listings');

/** Requests of several kinds: broad and narrow words, none, and such as match everything. */
const REQUESTS = [
  {},
  ...['api', 'data', 'ai', 'image', 'https api json', 'token price', 'search the web', 'convert a pdf to text'].map(
    (q) => ({ q }),
  ),
  ...['price', 'updated', 'reliability', 'latency', 'proof'].map((sort) => ({ sort })),
  { category: 'Tools' },
];

/** What the estimate may fall short of the truth by, and exceed it by, over answers of real listings. */
const SHORT = 0.95;
const LONG = 1.4;

describe.each([
  ['the seed', SEED, 60],
  ['a real feed', FEED, 140],
] as const)('over every listing of %s', (_name, source, count) => {
  if (source === FEED) skipWithout('corpus');

  it('a detail stays under 1,200 tokens and a default search under 1,500', async () => {
    const { reading, slugs } = await openImported(source);
    expect(slugs.length).toBeGreaterThan(count);
    const answers = slugs.flatMap((slug) =>
      [{ slug }, { slug, q: 'what does it cost to search' }].map((args) => getAnswer(reading, 'get_listing', args)),
    );
    expect(Math.max(...answers.map((text) => countTokens(text)))).toBeLessThan(1200);
    for (const request of REQUESTS) {
      const text = getAnswer(reading, 'search_listings', request);
      expect(countTokens(text), JSON.stringify(request)).toBeLessThan(1500);
      answers.push(text);
    }
    const ratios = answers.map((text) => getTokenEstimate(text) / countTokens(text));
    expect(Math.min(...ratios), 'what the estimate falls short by').toBeGreaterThan(SHORT);
    expect(Math.max(...ratios), 'what it exceeds by').toBeLessThan(LONG);
  });
});

describe('over listings made to be long', () => {
  it('answers are cut: at worst, by letters at random, to twice what honest ones may take', async () => {
    const { reading } = await serveMcp(makeHostile());
    expect(countTokens(getAnswer(reading, 'search_listings', {}))).toBeLessThan(2 * 1500);
    for (const { slug } of iterateRefs(reading.published)) {
      expect(countTokens(getAnswer(reading, 'get_listing', { slug })), slug).toBeLessThan(2 * 1200);
    }
  });
});

async function openImported(source: string): Promise<{ reading: Reading; slugs: string[] }> {
  const { file, runJson } = makeCommands();
  await runJson('import', ...(source.endsWith('.json') ? ['--bazaar', source] : [source]));
  const reading = await openTestReading({ address: file });
  onTestFinished(() => reading.close());
  return { reading, slugs: Array.from(iterateRefs(reading.published), ({ slug }) => slug) };
}

/** Calls a tool in this process and gives its text, which says the same as the structured content. */
function getAnswer(reading: Reading, name: string, args: Record<string, unknown>): string {
  const tool = TOOLS[name];
  if (!tool) throw new Error(`no tool ${name}`);
  const { content, structuredContent } = buildCaller(reading).callTool(tool, args).result;
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  expect(JSON.parse(text)).toEqual(structuredContent);
  return text;
}
