import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as evm from '@x402/evm/exact/client';
import * as paidFetch from '@x402/fetch';
import * as accounts from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Buyer, openBuyer } from '../../scripts/market/buyer.ts';
import { openServer } from '../../scripts/market/loopback.ts';
import { type Market, startMarket } from '../../scripts/market/market.ts';
import { CHECK_DIGITS } from '../../scripts/market/providers/check-digits.ts';
import { TEXT_TOOLS } from '../../scripts/market/providers/text-tools.ts';
import { createApp } from '../../src/http/app.ts';
import { getGuide } from '../../src/published/page-data.ts';
import { buildCheckHook } from '../../src/views/agent-clients.ts';
import { PATHS } from '../../src/views/links.ts';
import { makeCommands } from '../cli/running.ts';
import { SITE } from '../http/serving.ts';
import type { Raw } from '../market/cheats/cheating.ts';
import { openSeller } from '../market/cheats/seller.ts';
import { openSdkClient } from '../market/sdk-buyer.ts';
import { connectModern } from '../mcp/clients.ts';
import { openTestReading } from '../reading.ts';
import { openBazaar, openClients } from './client-doors.ts';
import { type Door, doTask, type Outcome, openHttpDoor, openMcpDoor } from './paying-agent.ts';
import { runPrinted } from './printed-code.ts';

const COUNT_WORDS = { request: 'count the words of a text', query: { text: 'Pay me. Count me.' } };
const MEASURE = { request: 'say how long a text is', query: { text: 'how long' } };

let market: Market;
let buyer: Buyer;

beforeAll(async () => {
  market = await startMarket({ solana: false, plans: [TEXT_TOOLS, CHECK_DIGITS] });
  buyer = await openBuyer({ base: market.base, solana: undefined });
});
afterAll(() => market.stop());

const getBalance = () => market.base.getBalance(buyer.evm.address);

/** Imports and probes what there is to buy, and serves the catalogue of it. */
async function serveCatalogue(source: ['--bazaar' | '--openapi', string]): Promise<string> {
  const commands = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' }, () => new Date());
  for (const args of [
    ['import', ...source],
    ['probe', '--all', '--pause', '0'],
  ]) {
    const { code, stdout, stderr } = await commands.run(args);
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  }
  const reading = await openTestReading({ address: commands.file });
  const app = createApp({ reading });
  // The guide is a page, which a rebuild writes; here it is made when it is asked for.
  const { url, close } = await openServer((request) =>
    new URL(request.url).pathname === PATHS.guide ? new Response(getGuide(reading)) : app.fetch(request),
  );
  onTestFinished(async () => {
    await close();
    reading.close();
  });
  return url;
}

/** Opens a seller whose terms change when it is told to. */
async function openChanging(change: Raw) {
  const terms = { isChanged: false };
  const seller = await openSeller(
    market,
    {
      lie: 'Measures texts',
      changeOffers: (offers) => (terms.isChanged ? offers.map((o) => ({ ...o, ...change })) : offers),
    },
    { honestFor: 0 },
  );
  onTestFinished(() => seller.close());
  return { ...seller, terms };
}

/** Opens the two doors of such a catalogue. */
async function openCatalogue(source: ['--bazaar' | '--openapi', string]): Promise<[string, Door][]> {
  const url = await serveCatalogue(source);
  const mcp = await connectModern(new URL(`${url}/mcp`));
  return [
    ['MCP', openMcpDoor(mcp)],
    ['HTTP', openHttpDoor(url)],
  ];
}

describe('an agent with a request and a wallet', () => {
  it('finds the API, checks what it is asked for, pays it, and has its answer, through either door', async () => {
    for (const [name, door] of await openCatalogue(['--bazaar', market.feedUrl])) {
      const before = await getBalance();
      const done = await doTask(door, openSdkClient(buyer), COUNT_WORDS);
      expect([name, done]).toMatchObject([
        name,
        {
          found: { slug: 'small-text-tools', price_usdc: '0.001' },
          advice: { verdict: 'match', severity: 'none', safe_offers: [0] },
          product: { words: 4, sentences: 2, characters: 17 },
          receipt: { success: true },
        },
      ]);
      expect(before - (await getBalance())).toBe(1000n);
    }
  });

  it.each<[string, Raw, string]>([
    ['raised its price', { amount: '1001' }, 'It asks 0.001001 USDC; on record is 0.001 '],
    ['named another payee', { payTo: '0x00000000000000000000000000000000000000aa' }, 'The payee differs'],
  ])('is warned of one that has %s, and keeps its money', async (_what, change, told) => {
    const seller = await openChanging(change);
    const doors = await openCatalogue(['--openapi', seller.documentUrl]);
    seller.terms.isChanged = true;
    for (const [name, door] of doors) {
      const before = await getBalance();
      const done = await doTask(door, openSdkClient(buyer), MEASURE);
      expect([name, done]).toMatchObject([
        name,
        { advice: { verdict: 'mismatch', severity: 'danger', safe_offers: [] }, product: null },
      ]);
      expect(done.advice.summary).toContain(told);
      expect(await getBalance()).toBe(before);
    }
    expect(seller.asked.some(({ isPaid }) => isPaid)).toBe(false);
    seller.terms.isChanged = false;
    const [, [, door] = ['', undefined]] = doors;
    const done = door && (await doTask(door, openSdkClient(buyer), MEASURE));
    expect(done).toMatchObject({ advice: { verdict: 'match' }, product: { characters: 8 } });
  });
});

/** Runs the hook that the pages print, for another call and the catalogue at hand; gives what it prints. */
async function runHook(catalogue: string, call: string) {
  const code = buildCheckHook({ ...SITE, baseUrl: catalogue }).replace(/const url = '.*';/, `const url = '${call}';`);
  expect(code.split('\n').length).toBeLessThanOrEqual(31);
  const modules = { '@x402/evm/exact/client': evm, '@x402/fetch': paidFetch, 'viem/accounts': accounts };
  return await runPrinted(code, modules, { EVM_PRIVATE_KEY: buyer.evmPrivateKey });
}

describe('the hook before payment that the pages print', () => {
  it.each<[string, Raw]>([
    ['has raised its price', { amount: '1001' }],
    ['names another payee', { payTo: '0x00000000000000000000000000000000000000aa' }],
  ])('pays what is on record, and nothing to a seller that %s', async (_what, change) => {
    const seller = await openChanging(change);
    const catalogue = await serveCatalogue(['--openapi', seller.documentUrl]);
    const { url } = await openHttpDoor(catalogue).find(MEASURE.request);
    const call = `${url}?${new URLSearchParams(MEASURE.query)}`;
    const before = await getBalance();
    expect(await runHook(catalogue, call)).toEqual([200, expect.stringContaining('8')]);
    const paid = await getBalance();
    expect(before - paid).toBe(1000n);
    seller.terms.isChanged = true;
    await expect(runHook(catalogue, call)).rejects.toThrow(/differs|on record/);
    expect(await getBalance()).toBe(paid);
  });
});

const TABLE = resolve(import.meta.dirname, '../golden/clients.md');
const NOT_ON_NPM = '`@x402/mcp` and the Python SDK are not run: npm does not have them.';

it('is one catalogue to every client of the field: each finds the same route, and those that pay have its product', async () => {
  const url = await serveCatalogue(['--bazaar', market.feedUrl]);
  const rows: string[][] = [];
  const { request, query } = COUNT_WORDS;
  for (const client of await openClients(url)) {
    const { name, packageName, check } = client;
    const found = await client.find(request);
    expect([name, found]).toMatchObject([
      name,
      { slug: 'small-text-tools', method: 'GET', url: expect.stringContaining('/v1/word-count'), price_usdc: '0.001' },
    ]);
    expect([name, found.needed]).toEqual([name, expect.stringMatching(/\btext\b.*\bwords\b/s)]);
    // Who knows no check of ours pays what the seller asks, as the SDK does.
    const door = { find: async () => found, check: check ?? (async () => UNCHECKED) };
    const before = await getBalance();
    const done = await doTask(door, openSdkClient(buyer), { request, query });
    expect([name, done.product, before - (await getBalance())]).toEqual([
      name,
      { words: 4, sentences: 2, characters: 17 },
      1000n,
    ]);
    if (check) expect([name, done.advice.verdict]).toEqual([name, 'match']);
    rows.push([
      name,
      packageName ? `${packageName} ${readVersion(packageName)}` : '',
      'yes',
      'yes',
      check ? 'yes' : 'no',
      'yes',
    ]);
  }
  const { find } = openBazaar(url);
  const before = await getBalance();
  const printed = await runHook(url, `${(await find(request)).url}?${new URLSearchParams(query)}`);
  expect([printed, before - (await getBalance())]).toEqual([[200, expect.stringContaining('"words":4')], 1000n]);
  const name = 'x402 SDK, withBazaar, and its fetch with the hook before payment';
  rows.push([name, `@x402/fetch ${readVersion('@x402/fetch')}`, 'yes', 'yes', 'yes', 'yes']);
  const table = formatTable(['Client', 'Package', 'Finds', 'Gets all that the call needs', 'Checks', 'Pays'], rows);
  await expect(`${table}\n\n${NOT_ON_NPM}\n`).toMatchFileSnapshot(TABLE);
});

const UNCHECKED: Outcome['advice'] = { verdict: 'unseen', severity: 'notice', safe_offers: [0], summary: '' };

function readVersion(name: string): string {
  const file = resolve(import.meta.dirname, '../../node_modules', name, 'package.json');
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
