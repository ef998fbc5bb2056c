import { describe, expect, it } from 'vitest';
import { decodeHeader } from '../../scripts/market/providers/facilitation.ts';
import { listPayments } from '../../src/catalogue/read/payments.ts';
import type { Payment } from '../../src/model/payment.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import type { CheatOptions } from '../market/cheats/cheating.ts';
import { CHEATS, type CheatName } from '../market/cheats.ts';
import { getMarket } from '../worker-market.ts';
import { openMarketPaying, payHonest, type RailOptions } from './market-paying.ts';

const PRICE = 1_000n;
const RAILS = [
  { network: 'base', version: 2 },
  { network: 'base', version: 1 },
  { network: 'solana', version: 2 },
  { network: 'solana', version: 1 },
] as const;

const market = await getMarket();

const SETTLED = { state: 'settled', reason: null, delivered: true, unrecognised: null, conforming: 'yes' };
const UNRECOGNISED = { ...SETTLED, delivered: false, conforming: 'no', answer: { status: 200 } };
const EXPIRED = { state: 'not_settled', reason: 'expired', settlement: null };

/** The result of a paid call with each seller that gets one. */
const PAID = {
  invented_transaction: { ...EXPIRED, delivered: true, seller_receipt: { success: true } },
  others_transaction: { ...EXPIRED, delivered: true, seller_receipt: { success: true } },
  no_settlement: { ...EXPIRED, delivered: true, seller_receipt: null },
  raises_price_when_paid: { ...EXPIRED, delivered: false, answer: { status: 402 } },
  redirects_payment: { ...EXPIRED, delivered: false, answer: { status: 307 } },
  no_receipt: { ...SETTLED, seller_receipt: null },
  settles_twice: { ...SETTLED, seller_receipt: { success: true } },
  settles_then_fails: { ...SETTLED, delivered: false, conforming: null, answer: { status: 500 } },
  settles_then_hangs: { ...SETTLED, delivered: false, conforming: null, answer: null },
  settles_then_asks_again: { ...SETTLED, delivered: false, conforming: null, answer: { status: 402 } },
  empty_answer: { ...SETTLED, delivered: false, conforming: null, answer: { status: 200, size: 0 } },
  other_answer: { ...UNRECOGNISED, unrecognised: 'schema_contradicted' },
  opposite_answer: { ...UNRECOGNISED, unrecognised: 'schema_contradicted' },
  error_answer: { ...UNRECOGNISED, unrecognised: 'error_in_body' },
  hollow_answer: { ...UNRECOGNISED, unrecognised: 'empty' },
  disguised_page: { ...UNRECOGNISED, unrecognised: 'html_page', answer: { content_type: 'application/json' } },
  page_answer: { ...UNRECOGNISED, unrecognised: 'html_page', answer: { content_type: 'text/html' } },
  settles_late: SETTLED,
  year_long: SETTLED,
  dear_offer_first: SETTLED,
} as const satisfies Partial<Record<CheatName, object>>;
type PaidCheat = keyof typeof PAID;

/**
 * Sellers after which an honest one is paid from the same wallet, on Base: one for each way in which a payment ends. It is
 * the only one on record and no longer open, so nothing else of it matters to the next.
 */
const THEN_HONEST: readonly PaidCheat[] = [
  'no_settlement',
  'redirects_payment',
  'settles_twice',
  'settles_then_hangs',
  'settles_then_asks_again',
  'other_answer',
  'settles_late',
];

/** What is handed over after the settlement is judged alike on every network, so these cheat on Base alone. */
const OF_ANSWER: readonly PaidCheat[] = [
  'empty_answer',
  'other_answer',
  'opposite_answer',
  'error_answer',
  'hollow_answer',
  'disguised_page',
  'page_answer',
];

/** The refusal of each seller that is not paid, on any network. */
const REFUSED = {
  raises_price: 'terms_differ',
  swaps_payee: 'terms_differ',
  other_chain: 'no_offer',
  other_asset: 'no_offer',
  bad_amount: 'no_offer',
  ten_thousand_offers: 'too large',
  huge_challenge: 'too large',
} as const satisfies Partial<Record<CheatName, string>>;

/** Sellers that only cheat on Base, and have tests of their own. */
const ON_BASE_ALONE = ['foreign_domain', 'caip2_under_v1'] as const satisfies CheatName[];

it('there is an expectation for each cheating seller', () => {
  const expected = [...Object.keys(PAID), ...Object.keys(REFUSED), ...ON_BASE_ALONE];
  expect(expected.toSorted()).toEqual(Object.keys(CHEATS).toSorted());
});

const open = (name: CheatName, options: CheatOptions & RailOptions) => openMarketPaying(market, CHEATS[name], options);
type Opened = Awaited<ReturnType<typeof open>>;

/** Pays, lets time pass if that matters, and returns the final payment. */
async function payAndWait({ pay, seller, rail, ledger }: Opened, name: PaidCheat): Promise<Payment | undefined> {
  const isOpen = 'reason' in PAID[name] && PAID[name].reason === 'expired';
  const isLate = name === 'settles_late' || name === 'year_long';
  const paying = pay(isOpen ? { signal: AbortSignal.timeout(50) } : {});
  if (name === 'settles_then_hangs') {
    await expect.poll(() => seller.settlements.length).toBe(1);
    await seller.close();
  }
  if (isLate) {
    await expect.poll(() => seller.kept.length).toBe(1);
    await seller.settleKept();
  }
  const payment = await paying;
  if (!isOpen) return payment;
  expect(payment).toMatchObject({ state: 'sent', reason: null });
  const reconcile = () => reconcilePayments({ rail, ledger, now: () => new Date() });
  if (rail.network === 'solana') {
    market.solana?.skipSlots(400);
    return (await reconcile())[0];
  }
  return market.base.undoAfter(async () => {
    await market.base.setTime(Math.floor(Date.parse(payment.expires_at) / 1000) + 30);
    return (await reconcile())[0];
  });
}

/** Each pair of networks and versions: two rails that share neither cover both networks and both versions. */
function listEveryOther<Name extends string>(names: readonly Name[], first: number): Name[] {
  return names.filter((_, index) => index % 2 === first);
}

describe.each(RAILS)('on $network, version $version, a seller that', (options) => {
  const { network, version } = options;
  const first = (network === 'base') === (version === 2) ? 0 : 1;

  const names = listEveryOther(Object.keys(PAID) as PaidCheat[], first).filter(
    (name) => network === 'base' || !OF_ANSWER.includes(name),
  );

  it.each(names)('%s is paid once at most, and told for what it is', async (name) => {
    const opened = await open(name, options);
    const { seller, catalogue, getRoute, getLost } = opened;
    const payment = await payAndWait(opened, name);
    expect(payment).toMatchObject(PAID[name]);
    expect(payment).toMatchObject({ network, amount: Number(PRICE), x402_version: version });
    expect(await getLost()).toBe(payment?.state === 'settled' ? PRICE : 0n);
    expect(await listPayments(catalogue, 10)).toEqual([payment]);
    expect(seller.asked.filter(({ isPaid }) => isPaid)).toHaveLength(1);
    expect(seller.elsewhere?.asked).toEqual(name === 'redirects_payment' ? [] : undefined);
    if (name === 'others_transaction') {
      // Somebody else did pay the seller as much, so that its transaction is a real one.
      const chain = network === 'base' ? market.base : market.solana;
      expect(await chain?.getBalance(seller.payees[network])).toBe(PRICE);
    }
    const isVerified = payment?.state === 'settled' && payment.delivered;
    expect((await getRoute()).verification).toBe(isVerified ? 'settlement-verified' : 'unverified');
    const paid = seller.settlements.filter(({ success }) => success).map(({ transaction }) => transaction);
    expect(paid).toEqual(payment?.settlement ? [payment.settlement.transaction] : []);
    if (network === 'base' && THEN_HONEST.includes(name))
      expect(await payHonest(market, opened)).toMatchObject(SETTLED);
  });

  it.each(listEveryOther(Object.keys(REFUSED) as (keyof typeof REFUSED)[], first))(
    '%s is not paid at all',
    async (name) => {
      const { quote, pay, seller, catalogue, getRoute, getLost } = await open(name, options);
      const seen = await quote().catch(({ reason }: { reason: string }) => ({ refused: reason, chosen: null }));
      expect(seen.chosen).toBeNull();
      // Above the limit the fetch fails; below it the challenge cannot be read.
      if (REFUSED[name] === 'too large') expect(seen.refused).toMatch(/^(too_large|no_offer)$/);
      else expect(seen.refused).toBe(REFUSED[name]);
      await expect(pay()).rejects.toThrow();
      expect(await getLost()).toBe(0n);
      expect(await listPayments(catalogue, 10)).toEqual([]);
      expect(seller.asked.filter(({ isPaid }) => isPaid)).toEqual([]);
      expect((await getRoute()).verification).toBe('unverified');
    },
  );
});

describe('if the provider itself declares nothing', () => {
  const base = { network: 'base', version: 2 } as const;

  it.each(['other_answer', 'opposite_answer'] as const)('%s verifies, whatever a feed declares', async (name) => {
    const { pay, getRoute } = await open(name, base);
    expect(await pay({ own: [] })).toMatchObject({ ...SETTLED, conforming: 'no' });
    expect((await getRoute()).verification).toBe('settlement-verified');
  });

  it.each([
    ['error_answer', 'error_in_body'],
    ['hollow_answer', 'empty'],
    ['disguised_page', 'html_page'],
    ['page_answer', 'html_page'],
  ] as const)('%s does not verify: %s', async (name, unrecognised) => {
    const { pay, getRoute } = await open(name, base);
    expect(await pay({ own: [] })).toMatchObject({ state: 'settled', delivered: false, unrecognised });
    expect((await getRoute()).verification).toBe('unverified');
  });
});

describe('an amount that is none', () => {
  it.each(['1000.5', '1e3', '0', '-0', '+1000', '0x3e8', ' 1000', '１０００', '9'.repeat(400), 1000, null])(
    'is not paid: %j',
    async (amount) => {
      for (const version of [1, 2] as const) {
        const { quote } = await open('bad_amount', { network: 'base', version, amount });
        expect(await quote()).toMatchObject({ refused: 'no_offer', chosen: null });
      }
    },
  );
});

describe('on Base a seller that', () => {
  it.each([1, 2] as const)('names another domain in version %i gets a signature over that of USDC', async (version) => {
    const { pay, seller } = await open('foreign_domain', { network: 'base', version });
    expect(await pay()).toMatchObject(SETTLED);
    expect(seller.settlements).toMatchObject([{ success: true }]);
  });

  it.each([1, 2] as const)('wants a year in version %i gets two minutes', async (version) => {
    const { pay, seller } = await open('year_long', { network: 'base', version });
    const payment = await pay({ signal: AbortSignal.timeout(50) });
    const header = seller.asked.find(({ isPaid }) => isPaid)?.headers[
      version === 1 ? 'x-payment' : 'payment-signature'
    ];
    const { payload } = decodeHeader(header ?? '') as { payload: { authorization: { validBefore: string } } };
    const validBefore = Number(payload.authorization.validBefore);
    expect(validBefore * 1000).toBe(Date.parse(payment.expires_at));
    expect(validBefore - Math.max(Date.now() / 1000, await market.base.getTime())).toBeLessThanOrEqual(120);
    await market.base.undoAfter(async () => {
      await market.base.setTime(validBefore);
      expect(await seller.settleKept()).toMatchObject([{ success: false, errorReason: 'authorization is expired' }]);
    });
  });

  it('spells the network as in version 2 in version 1 is paid what is on record, and no more', async () => {
    const { pay, getLost } = await open('caip2_under_v1', { network: 'base', version: 1 });
    expect(await pay()).toMatchObject(SETTLED);
    expect(await getLost()).toBe(PRICE);
  });
});
