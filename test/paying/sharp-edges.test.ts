import { describe, expect, it } from 'vitest';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import type { Cheating, Raw } from '../market/cheats/cheating.ts';
import { CHEATS } from '../market/cheats.ts';
import { getMarket } from '../worker-market.ts';
import { FUNDS, HONEST, openMarketPaying } from './market-paying.ts';
import { CAPS } from './paying.ts';

const market = await getMarket();

const BASE = { network: 'base', version: 2 } as const;
const SOLANA = { network: 'solana', version: 2 } as const;
const now = () => new Date();

/** A seller that settles, and then answers the paid request in its own way. */
const answerWith = (answer: (deliver: () => Response) => Response): Cheating => ({
  lie: 'Answers in its own way',
  answerPaid: async (sale) => {
    const receipt = await sale.settle();
    return answer(() => sale.deliver(receipt));
  },
});

describe('our own address', () => {
  it.each([BASE, SOLANA])('as the payee on $network is not paid', async (options) => {
    let payer = '';
    const self: Cheating = {
      lie: 'Has the buyer pay itself',
      changeOffers: (offers: Raw[]) => offers.map((offer) => ({ ...offer, payTo: payer })),
    };
    const { rail, pay, quote, ledger, getLost } = await openMarketPaying(market, self, options);
    payer = rail.payer;
    expect(await quote()).toMatchObject({ refused: 'terms_differ' });
    const [offered] = (await quote()).offered;
    if (!offered) throw new Error('nothing is offered');
    const requirement = { terms: { ...offered, x402_version: 2 as const }, raw: {}, resource: null, extensions: null };
    payer = requirement.terms.pay_to ?? '';
    const paying = openMarketPaying(market, HONEST, options);
    await expect((await paying).pay({ rail, ledger, requirement })).rejects.toMatchObject({ reason: 'own_payee' });
    await expect(pay()).rejects.toThrow('terms_differ');
    expect([await ledger.listOpen(rail.payer), await getLost()]).toEqual([[], 0n]);
  });

  it('as the fee payer on Solana is refused, and nothing is recorded', async () => {
    let payer = '';
    const feeTaker: Cheating = {
      lie: 'Has the buyer pay the fee',
      changeOffers: (offers) => offers.map((offer) => ({ ...offer, extra: { feePayer: payer } })),
    };
    const { rail, pay, ledger, getLost } = await openMarketPaying(market, feeTaker, SOLANA);
    payer = rail.payer;
    await expect(pay()).rejects.toMatchObject({ reason: 'no_fee_payer' });
    expect([await ledger.listOpen(rail.payer), await getLost()]).toEqual([[], 0n]);
  });
});

describe('a memo of the seller’s', () => {
  const demand = (memo: unknown): Cheating => ({
    lie: 'Wants a memo of its own',
    changeOffers: (offers) => offers.map((offer) => ({ ...offer, extra: { ...(offer.extra as Raw), memo } })),
  });

  it('identifies the payment, and is on the receipt', async () => {
    const { pay } = await openMarketPaying(market, demand('order-17'), SOLANA);
    const payment = await pay({ signal: AbortSignal.timeout(2000) });
    expect(payment.nonce).toBe('order-17');
  });

  it.each([
    ['too long', 'x'.repeat(257)],
    ['too long in bytes', '☂'.repeat(86)],
    ['with a byte order mark before it', '\ufeffhi'],
    ['with a byte order mark in it', 'h\ufeffi'],
    ['with half a sign', 'hi\ud800'],
    ['with a control character', 'h\u0000i'],
    ['with a line break', 'h\ni'],
    ['that is a number', 17],
    ['that is an object', { text: 'hi' }],
  ])('that is none, %s, is refused before anything is written down', async (_name, memo) => {
    const { pay, rail, ledger, journal, getLost } = await openMarketPaying(market, demand(memo), SOLANA);
    await expect(pay()).rejects.toMatchObject({ code: 'refused', reason: 'bad_memo' });
    expect([await ledger.listOpen(rail.payer), journal.payments.size, await getLost()]).toEqual([[], 0, 0n]);
  });

  it.each(['x'.repeat(256), '‮☂ á à', '\u200bhi'])(
    'that is odd but well-formed is found by its bytes: %j',
    async (memo) => {
      const { pay, getLost } = await openMarketPaying(market, demand(memo), SOLANA);
      expect(await pay()).toMatchObject({ state: 'settled', nonce: memo });
      expect(await getLost()).toBe(1000n);
    },
  );
});

describe('who pays the fee on Solana', () => {
  const name = (feePayer: unknown): Cheating => ({
    lie: 'Names somebody who cannot pay',
    changeOffers: (offers) => offers.map((offer) => ({ ...offer, extra: { feePayer } })),
  });

  it.each([
    ['the token program', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
    ['the memo program', 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'],
    ['the program of budgets', 'ComputeBudget111111111111111111111111111111'],
    ['the system program', '11111111111111111111111111111111'],
    ['no address', 'nobody'],
    ['a number', 7],
    ['nobody', undefined],
  ])('is refused if it is %s, and nothing is recorded', async (_name, feePayer) => {
    const { pay, rail, ledger, journal, getLost } = await openMarketPaying(market, name(feePayer), SOLANA);
    await expect(pay()).rejects.toMatchObject({ code: 'refused', reason: expect.stringMatching(/_fee_payer$/) });
    expect([await ledger.listOpen(rail.payer), journal.payments.size, await getLost()]).toEqual([[], 0, 0n]);
  });
});

describe('an oversized answer', () => {
  it.each([
    ['a receipt of 100 KB is not read', 100_000, { delivered: true, seller_receipt: null }],
    ['headers of 200 KB are no answer', 200_000, { delivered: false, answer: null }],
  ])('%s', async (_name, size, expected) => {
    const seller = answerWith((deliver) => {
      const response = deliver();
      response.headers.set('payment-response', Buffer.from(JSON.stringify('x'.repeat(size * 0.74))).toString('base64'));
      return response;
    });
    const { pay, getLost } = await openMarketPaying(market, seller, BASE);
    expect(await pay()).toMatchObject({ state: 'settled', ...expected });
    expect(await getLost()).toBe(1000n);
  });

  it('a product of six megabytes is none', async () => {
    const seller = answerWith(() => new Response('x'.repeat(6 * 1024 * 1024)));
    const { pay, getRoute } = await openMarketPaying(market, seller, BASE);
    const events: object[] = [];
    const payment = await pay({ onEvent: (event) => events.push(event) });
    expect(payment).toMatchObject({ state: 'settled', delivered: false, answer: null });
    expect(events).toContainEqual({ type: 'unanswered', reason: 'too_large' });
    expect((await getRoute()).verification).toBe('unverified');
  });
});

describe('a run that ends before it has judged the answer', () => {
  const crash = new Error('killed');

  it.each([
    [
      'with the answer on record',
      { answer: { status: 200, size: expect.any(Number), hash: expect.any(String) } },
      true,
    ],
    ['before the answer is on record', { answer: null }, false],
  ])('%s leaves the delivery undecided', async (_name, expected, isRecorded) => {
    const { pay, catalogue, rail, ledger, getRoute, getLost } = await openMarketPaying(market, HONEST, BASE);
    const crashing: typeof ledger = {
      ...ledger,
      async record(id, step, at) {
        if (step.step !== 'answered' || isRecorded) await ledger.record(id, step, at);
        if (step.step === 'answered') throw crash;
      },
    };
    await expect(pay({ ledger: crashing })).rejects.toBe(crash);
    const found = await reconcilePayments({ rail, ledger, now });
    const nothingSaid = { state: 'settled', delivered: null, unrecognised: null, conforming: null };
    expect(found).toMatchObject([{ ...nothingSaid, ...expected }]);
    expect(await getLost()).toBe(1000n);
    // It counts neither way: no receipt, no caution, nothing against the seller.
    expect(catalogue.engine.sqlite.prepare('SELECT count(*) FROM receipts').pluck().get()).toBe(0);
    expect(await getRoute()).toMatchObject({ verification: 'unverified', undelivered: null });
  });

  it('with a failing answer is decided: nothing was delivered', async () => {
    const seller = answerWith(() => Response.json({ error: 'no' }, { status: 500 }));
    const { pay, rail, ledger, getRoute } = await openMarketPaying(market, seller, BASE);
    const crashing: typeof ledger = {
      ...ledger,
      async record(id, step, at) {
        await ledger.record(id, step, at);
        if (step.step === 'answered') throw crash;
      },
    };
    await expect(pay({ ledger: crashing })).rejects.toBe(crash);
    expect(await reconcilePayments({ rail, ledger, now })).toMatchObject([{ state: 'settled', delivered: false }]);
    expect((await getRoute()).undelivered).not.toBeNull();
  });

  it.each([
    ['crashes', { type: 'object', enum: 5, required: 'x', properties: { characters: 5 } }, 'yes'],
    ['keeps who reads it busy', { type: 'array', uniqueItems: true }, 'undeclared'],
  ])('gives no result if a schema %s', async (_name, schema, conforming) => {
    const items = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `item ${n}` }));
    const seller = answerWith((deliver) => (schema.type === 'array' ? Response.json(items) : deliver()));
    const { pay, getRoute } = await openMarketPaying(market, seller, BASE);
    const declared = { mime_type: null, output_schema: schema };
    const payment = await pay({ declared, own: [declared] });
    expect(payment).toMatchObject({ state: 'settled', delivered: true, unrecognised: null, conforming });
    expect((await getRoute()).verification).toBe('settlement-verified');
  });
});

describe('the last moment', () => {
  it.each([
    ['before it expires settles, and is found', -5, { state: 'settled', delivered: true }],
    ['it expires does not settle any more', 0, { state: 'not_settled', reason: 'expired' }],
  ])('at which a payment is taken: %s', async (_name, seconds, expected) => {
    const { pay, seller, rail, ledger, getLost } = await openMarketPaying(market, CHEATS.settles_late, BASE);
    const payment = await pay({ signal: AbortSignal.timeout(50) });
    const expiry = Math.floor(Date.parse(payment.expires_at) / 1000);
    await market.base.undoAfter(async () => {
      await market.base.setTime(expiry + seconds);
      await seller.settleKept();
      // The chain's clock must be some seconds past the expiry before anything is final.
      const early = await reconcilePayments({ rail, ledger, now });
      expect(early).toMatchObject([seconds < 0 ? expected : { state: 'sent' }]);
      await market.base.setTime(expiry + 30);
      await reconcilePayments({ rail, ledger, now });
      expect(await ledger.findPayment(payment.id)).toMatchObject(expected);
      expect(await getLost()).toBe(seconds < 0 ? 1000n : 0n);
    });
  });
});

describe('the caps', () => {
  it('are for a day of the chain, to its last second, whatever our clock says', async () => {
    const { pay } = await openMarketPaying(market, HONEST, BASE);
    const caps = { per_call: 1000, per_day: 1000 };
    const midnight = (Math.floor((await market.base.getTime()) / 86_400) + 1) * 86_400;
    await market.base.undoAfter(async () => {
      await market.base.setTime(midnight - 60);
      const near = { caps, now: () => new Date((midnight + 30) * 1000) };
      expect(await pay(near)).toMatchObject({ state: 'settled' });
      await expect(pay(near)).rejects.toMatchObject({ reason: 'cap_per_day' });
      await market.base.setTime(midnight);
      expect(await pay(near)).toMatchObject({ state: 'settled' });
      await expect(pay(near)).rejects.toMatchObject({ reason: 'cap_per_day' });
    });
  });

  it.each([
    [{ ...CAPS, per_call: 0 }, 'cap_per_call'],
    [{ ...CAPS, per_call: 999 }, 'cap_per_call'],
    [{ ...CAPS, per_day: 999 }, 'cap_per_day'],
  ])('of %j refuse a price of 1000', async (caps, reason) => {
    const { pay, getLost } = await openMarketPaying(market, HONEST, BASE);
    await expect(pay({ caps })).rejects.toMatchObject({ reason });
    expect(await getLost()).toBe(0n);
  });

  it('do not allow paying more than the balance', async () => {
    const { pay, rail } = await openMarketPaying(market, HONEST, { ...BASE, price: Number(FUNDS) + 1 });
    await expect(pay({ caps: { per_call: 2e6, per_day: 2e6 } })).rejects.toThrow();
    expect(await rail.chain.getBalance(rail.payer)).toBe(Number(FUNDS));
  });
});

it('a secret header is sent, but never recorded', async () => {
  const { pay, call, seller, catalogue } = await openMarketPaying(market, HONEST, BASE);
  const headers = { accept: 'application/json', 'x-api-key': 'sesame', 'x-session-token': 'sesame' };
  const payment = await pay({ call: { ...call, headers } });
  expect(payment).toMatchObject({ state: 'settled', request: { headers: { accept: 'application/json' } } });
  expect(seller.asked.find(({ isPaid }) => isPaid)?.headers).toMatchObject(headers);
  expect(catalogue.engine.sqlite.serialize().includes('sesame')).toBe(false);
});
