import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Buyer, openBuyer } from '../../scripts/market/buyer.ts';
import { buildExample } from '../../scripts/market/feed.ts';
import { type Market, startMarket } from '../../scripts/market/market.ts';
import type { NetworkKey } from '../../src/model/network.ts';
import type { CheatingSeller, CheatOptions } from './cheats/cheating.ts';
import { DELIVERY_CHEATS } from './cheats/delivery.ts';
import { type CheatName, openCheat } from './cheats.ts';
import { buy, openSdkClient } from './sdk-buyer.ts';

const PRICE = 1_000n;
const PRODUCT = '{"characters":16}';

let market: Market;
let buyer: Buyer;

beforeAll(async () => {
  market = await startMarket({ plans: [] });
  buyer = await openBuyer(market);
});
afterAll(() => market.stop());

async function open(name: CheatName, options: CheatOptions = {}): Promise<CheatingSeller> {
  const seller = await openCheat(market, name, options);
  onTestFinished(seller.close);
  return seller;
}

const purchase = (seller: CheatingSeller, network: NetworkKey = 'base') =>
  buy(openSdkClient(buyer, { network, solanaRpcUrl: market.solana?.rpcUrl }), buildExample(seller.url, seller.route));

const getPaid = (network: NetworkKey) =>
  network === 'base' ? market.base.getBalance(buyer.evm.address) : market.solana?.getBalance(buyer.solana.address);

/** What a buyer sees of each cheat, and what it loses by it. */
const SEEN = {
  invented_transaction: { lost: 0n, status: 200, body: PRODUCT, receipt: 'false' },
  others_transaction: { lost: 0n, status: 200, body: PRODUCT, receipt: 'false' },
  no_receipt: { lost: PRICE, status: 200, body: PRODUCT, receipt: 'none' },
  settles_then_fails: { lost: PRICE, status: 500, body: '{"error":"internal error"}', receipt: 'none' },
  settles_then_asks_again: { lost: PRICE, status: 402, body: expect.any(String), receipt: 'none' },
  no_settlement: { lost: 0n, status: 200, body: PRODUCT, receipt: 'none' },
  settles_twice: { lost: PRICE, status: 200, body: PRODUCT, receipt: 'true' },
  settles_late: { lost: 0n, status: 200, body: PRODUCT, receipt: 'none' },
  empty_answer: { lost: PRICE, status: 200, body: '', receipt: 'true' },
  other_answer: { lost: PRICE, status: 200, body: '{"characters":"many"}', receipt: 'true' },
  error_answer: { lost: PRICE, status: 200, body: '{"error":"try again later"}', receipt: 'true' },
  hollow_answer: { lost: PRICE, status: 200, body: '{}', receipt: 'true' },
  opposite_answer: { lost: PRICE, status: 200, body: '[["characters"]]', receipt: 'true' },
  disguised_page: { lost: PRICE, status: 200, body: expect.stringContaining('<title>'), receipt: 'true' },
  page_answer: { lost: PRICE, status: 200, body: expect.stringContaining('<title>'), receipt: 'true' },
} as const;
const RAILS = [
  { network: 'base', version: 2 },
  { network: 'base', version: 1 },
  { network: 'solana', version: 2 },
  { network: 'solana', version: 1 },
] as const;

it('has something to expect of each', () => {
  expect(Object.keys(SEEN).sort()).toEqual(
    Object.keys(DELIVERY_CHEATS)
      .filter((name) => name !== 'settles_then_hangs')
      .sort(),
  );
});

describe.each(RAILS)('on $network, version $version, a seller that', ({ network, version }) => {
  it.each(Object.keys(SEEN) as (keyof typeof SEEN)[])('%s does so', async (name) => {
    const { lost, status, body, receipt } = SEEN[name];
    const seller = await open(name, { network, version });
    const before = (await getPaid(network)) ?? 0n;
    const { response, receipt: given, required } = await purchase(seller, network);
    expect(required.x402Version).toBe(version);
    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(before - ((await getPaid(network)) ?? 0n)).toBe(lost);
    const settled = seller.settlements.filter(({ success }) => success).map(({ transaction }) => transaction);
    expect(settled).toHaveLength(lost === 0n ? 0 : 1);
    if (receipt === 'none') expect(given).toBeUndefined();
    else expect(given).toMatchObject({ success: true });
    if (receipt !== 'none') expect(settled.includes(given?.transaction ?? '')).toBe(receipt === 'true');
  });
});

describe('a seller that', () => {
  it('settles_then_hangs keeps the money and never answers', async () => {
    const seller = await open('settles_then_hangs');
    const before = await market.base.getBalance(buyer.evm.address);
    const hanging = purchase(seller).catch((error: unknown) => error);
    await expect.poll(() => seller.settlements.length).toBe(1);
    expect(await market.base.getBalance(buyer.evm.address)).toBe(before - PRICE);
    expect(await Promise.race([hanging, new Promise((resolve) => setTimeout(resolve, 100, 'nothing'))])).toBe(
      'nothing',
    );
    await seller.close();
    expect(await hanging).toBeInstanceOf(Error);
  });

  it('shows what others paid shows a real transaction of the same amount to the same payee', async () => {
    const seller = await open('others_transaction');
    const { receipt } = await purchase(seller);
    expect(await market.base.getBalance(seller.payees.base)).toBe(PRICE);
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getTransactionReceipt', params: [receipt?.transaction] };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(market.base.rpcUrl, { method: 'POST', headers, body: JSON.stringify(body) });
    const { result }: { result: { status: string; logs: { topics: string[] }[] } } = await answer.json();
    expect(result.status).toBe('0x1');
    expect(JSON.stringify(result.logs)).not.toContain(buyer.evm.address.slice(2).toLowerCase());
  });

  it('settles_twice gets it once', async () => {
    const seller = await open('settles_twice');
    await purchase(seller);
    expect(seller.settlements).toMatchObject([
      { success: true },
      { success: false },
      { success: false, errorReason: expect.stringContaining('used or canceled') },
    ]);
  });

  it('settles_late gets its money while the payment is good, and nothing after', async () => {
    const seller = await open('settles_late');
    await purchase(seller);
    const before = await market.base.getBalance(buyer.evm.address);
    await market.base.undoAfter(async () => {
      await market.base.setTime((await market.base.getTime()) + 3_600);
      expect(await Promise.all(seller.kept.map((settle) => settle()))).toMatchObject([
        { success: false, errorReason: 'authorization is expired' },
      ]);
    });
    expect(await seller.settleKept()).toMatchObject([{ success: true }]);
    expect(await market.base.getBalance(buyer.evm.address)).toBe(before - PRICE);
  });

  it('settles_late on Solana gets nothing once the block it names is too long ago', async () => {
    const seller = await open('settles_late', { network: 'solana' });
    await purchase(seller, 'solana');
    market.solana?.skipSlots(160);
    expect(await seller.settleKept()).toMatchObject([{ success: false }]);
    expect(await market.solana?.getBalance(seller.payees.solana)).toBe(0n);
  });
});
