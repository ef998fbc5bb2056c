import { parsePaymentRequired } from '@x402/core/schemas';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Buyer, openBuyer } from '../../scripts/market/buyer.ts';
import { buildExample, fetchExample } from '../../scripts/market/feed.ts';
import { type Market, startMarket } from '../../scripts/market/market.ts';
import { decodeHeader } from '../../scripts/market/providers/facilitation.ts';
import type { CheatingSeller, CheatOptions, Raw } from './cheats/cheating.ts';
import { type CheatName, openCheat } from './cheats.ts';
import { buy, openSdkClient } from './sdk-buyer.ts';

let market: Market;
let buyer: Buyer;

beforeAll(async () => {
  market = await startMarket({ plans: [], solana: false });
  buyer = await openBuyer(market);
});
afterAll(() => market.stop());

async function open(name: CheatName, options: CheatOptions = {}): Promise<CheatingSeller> {
  const seller = await openCheat(market, name, options);
  onTestFinished(seller.close);
  return seller;
}

const purchase = (seller: CheatingSeller) => buy(openSdkClient(buyer), buildExample(seller.url, seller.route));

async function ask({ url, route }: CheatingSeller): Promise<Raw & { accepts: Raw[] }> {
  const response = await fetchExample(url, route);
  const header = response.headers.get('payment-required');
  const challenge = header === null ? await response.json() : decodeHeader(header);
  return challenge as Raw & { accepts: Raw[] };
}

const getLost = async (run: () => Promise<unknown>) => {
  const before = await market.base.getBalance(buyer.evm.address);
  await run();
  return before - (await market.base.getBalance(buyer.evm.address));
};

describe.each([1, 2] as const)('in version %i, a seller that', (version) => {
  const amountOf = (offer: Raw | undefined) => offer?.[version === 1 ? 'maxAmountRequired' : 'amount'];
  const honest = { network: version === 1 ? 'base' : 'eip155:8453' };

  it.each([
    ['raises_price', { [version === 1 ? 'maxAmountRequired' : 'amount']: '5000' }],
    ['swaps_payee', { payTo: expect.stringMatching(/^0x2{40}$/) }],
    ['other_asset', { asset: expect.stringMatching(/^0x60a3/) }],
    ['other_chain', { network: version === 1 ? 'base-sepolia' : 'eip155:84532' }],
  ] as const)('%s is honest at first, and not for long', async (name, changed) => {
    const seller = await open(name, { version, honestFor: 2 });
    const [first, second, third] = [await ask(seller), await ask(seller), await ask(seller)];
    expect(first.accepts[0]).toMatchObject({ ...honest, payTo: seller.payees.base });
    expect(amountOf(first.accepts[0])).toBe('1000');
    expect(second.accepts).toEqual(first.accepts);
    expect(third.accepts[0]).toMatchObject(changed);
  });

  it('raises_price_when_paid takes nothing and asks for more', async () => {
    const seller = await open('raises_price_when_paid', { version });
    const lost = await getLost(async () => {
      const { response } = await purchase(seller);
      expect(response.status).toBe(402);
      const header = response.headers.get('payment-required');
      const again = header === null ? await response.json() : decodeHeader(header);
      expect(amountOf((again as { accepts: Raw[] }).accepts[0])).toBe('5000');
    });
    expect(lost).toBe(0n);
  });

  it('redirects_payment has the SDK’s way of paying hand the payment to another origin', async () => {
    const seller = await open('redirects_payment', { version });
    const lost = await getLost(async () => {
      const { response, sentHeaders } = await purchase(seller);
      expect(response.redirected).toBe(true);
      const [name = '', value] = Object.entries(sentHeaders)[0] ?? [];
      expect(seller.elsewhere?.asked.map((headers) => headers[name.toLowerCase()])).toEqual([value]);
      expect(new URL(response.url).origin).toBe(seller.elsewhere?.url);
    });
    expect(lost).toBe(1000n);
  });

  it('dear_offer_first is paid 900 times its price by who takes the first offer', async () => {
    const seller = await open('dear_offer_first', { version });
    expect((await ask(seller)).accepts.map(amountOf)).toEqual(['900000', '50000', '1000']);
    expect(await getLost(() => purchase(seller))).toBe(900_000n);
  });

  it('ten_thousand_offers names the cheapest last', async () => {
    const seller = await open('ten_thousand_offers', { version: 1 });
    const { accepts } = await ask(seller);
    expect(accepts).toHaveLength(10_000);
    expect([accepts[0]?.maxAmountRequired, accepts.at(-1)?.maxAmountRequired]).toEqual(['10999', '1000']);
  });

  it('year_long gets a payment that is good for a year, and takes it later', async () => {
    const seller = await open('year_long', { version });
    const { payment } = await purchase(seller);
    const { authorization } = payment.payload as { authorization: { validBefore: string } };
    expect(Number(authorization.validBefore) - Date.now() / 1000).toBeGreaterThan(31_000_000);
    await market.base.undoAfter(async () => {
      await market.base.setTime((await market.base.getTime()) + 30_000_000);
      expect(await Promise.all(seller.kept.map((settle) => settle()))).toMatchObject([{ success: true }]);
    });
  });

  it('foreign_domain gets a signature that USDC does not take', async () => {
    const seller = await open('foreign_domain', { version });
    expect(await getLost(() => purchase(seller))).toBe(0n);
    expect(seller.settlements).toMatchObject([{ success: false, errorReason: expect.stringContaining('signature') }]);
  });

  it.each(['-1000', '1000.5', '1e3', '0x3e8', '', '0', '99999999999999999999999', 1000, null])(
    'bad_amount asks for %j',
    async (amount) => {
      const seller = await open('bad_amount', { version, amount });
      expect(amountOf((await ask(seller)).accepts[0])).toBe(amount);
    },
  );
});

describe('a seller that', () => {
  it('caip2_under_v1 is one the SDK’s client finds nothing to pay with, although its schema lets it pass', async () => {
    const seller = await open('caip2_under_v1', { version: 1 });
    const challenge = await ask(seller);
    expect(challenge).toMatchObject({ x402Version: 1, accepts: [{ network: 'eip155:8453' }] });
    expect(parsePaymentRequired(challenge).success).toBe(true);
    await expect(purchase(seller)).rejects.toThrow();
  });

  it('huge_challenge sends a megabyte, as a body or as a header', async () => {
    const asBody = await open('huge_challenge', { version: 1 });
    const response = await fetchExample(asBody.url, asBody.route);
    expect((await response.text()).length).toBeGreaterThan(2 ** 20);
    const asHeader = await open('huge_challenge', { version: 2 });
    await expect(fetchExample(asHeader.url, asHeader.route)).rejects.toHaveProperty(
      'cause.code',
      'UND_ERR_HEADERS_OVERFLOW',
    );
  });
});
