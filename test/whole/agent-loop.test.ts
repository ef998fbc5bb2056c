import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Buyer, openBuyer } from '../../scripts/market/buyer.ts';
import { openServer } from '../../scripts/market/loopback.ts';
import { type Market, startMarket } from '../../scripts/market/market.ts';
import { CHECK_DIGITS } from '../../scripts/market/providers/check-digits.ts';
import { TEXT_TOOLS } from '../../scripts/market/providers/text-tools.ts';
import { createApp } from '../../src/http/app.ts';
import { makeCommands } from '../cli/running.ts';
import type { Raw } from '../market/cheats/cheating.ts';
import { openSeller } from '../market/cheats/seller.ts';
import { openSdkClient } from '../market/sdk-buyer.ts';
import { connectModern } from '../mcp/clients.ts';
import { openTestReading } from '../reading.ts';
import { type Door, doTask, openHttpDoor, openMcpDoor } from './paying-agent.ts';

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

/** Imports and probes what there is to buy, and serves the catalogue of it; gives its two doors. */
async function openCatalogue(source: ['--bazaar' | '--openapi', string]): Promise<[string, Door][]> {
  const commands = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' }, () => new Date());
  for (const args of [
    ['import', ...source],
    ['probe', '--all', '--pause', '0'],
  ]) {
    const { code, stdout, stderr } = await commands.run(args);
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  }
  const reading = openTestReading({ address: commands.file });
  const app = createApp({ reading });
  const { url, close } = await openServer((request) => app.fetch(request));
  onTestFinished(async () => {
    await close();
    reading.close();
  });
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
    let isChanged = false;
    const seller = await openSeller(
      market,
      {
        lie: 'Measures texts',
        changeOffers: (offers) => (isChanged ? offers.map((o) => ({ ...o, ...change })) : offers),
      },
      { honestFor: 0 },
    );
    onTestFinished(() => seller.close());
    const doors = await openCatalogue(['--openapi', seller.documentUrl]);
    isChanged = true;
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
    isChanged = false;
    const [, [, door] = ['', undefined]] = doors;
    const done = door && (await doTask(door, openSdkClient(buyer), MEASURE));
    expect(done).toMatchObject({ advice: { verdict: 'match' }, product: { characters: 8 } });
  });
});
