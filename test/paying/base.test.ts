import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listChanges } from '../../src/catalogue/read/changes.ts';
import type { Ledger } from '../../src/catalogue/write/payments.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { openEvmChain, openEvmReader } from '../../src/paying/evm/chain.ts';
import type { Rail } from '../../src/paying/rail.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { describeDecision } from '../../src/views/words/decision.ts';
import { makeTerms } from '../records.ts';
import { getMarket } from '../worker-market.ts';
import { checkPayment, deliver, openPaying, PAY_TO, serveSeller } from './paying.ts';

const { base: chain } = await getMarket();

const now = () => new Date();
const honest = () => serveSeller(chain, async ({ response, settle }) => deliver(response, await settle()));
const crash = new Error('killed');

describe('a paid call on Base', () => {
  it.each([1, 2] as const)('settles, delivers and verifies its route, with x402 version %i', async (version) => {
    const seller = await serveSeller(chain, async ({ response, settle }) => deliver(response, await settle()), version);
    const { rail, pay, getRoute, events } = await openPaying(chain, seller);
    const payment = await pay();
    expect(payment).toMatchObject({
      state: 'settled',
      delivered: true,
      conforming: 'yes',
      amount: 1000,
      pay_to: PAY_TO,
    });
    expect(payment.seller_receipt?.transaction).toBe(payment.settlement?.transaction);
    expect(payment.answer).toMatchObject({ status: 200, content_type: 'application/json', size: 12 });
    expect(events.slice(0, 3)).toEqual(['prepared', 'sent', 'answered']);
    expect(await rail.chain.getBalance(rail.payer)).toBe(999_000);
    expect(await getRoute()).toMatchObject({
      verification: 'settlement-verified',
      proof: { receipt_id: payment.id, public_chain: false, transaction_url: null },
    });
    const checks = await checkPayment(openEvmReader(NETWORKS.base, chain.rpcUrl), payment);
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
  });

  it('that settles but is not delivered leaves its route unverified, with the loss on record', async () => {
    const failing = await serveSeller(chain, async ({ response, settle }) => {
      await settle();
      response.statusCode = 500;
      response.end('sorry');
    });
    const { catalogue, pay, getRoute, rail } = await openPaying(chain, failing);
    const payment = await pay();
    expect(payment).toMatchObject({ state: 'settled', delivered: false, answer: { status: 500 } });
    expect(await getRoute()).toMatchObject({
      verification: 'unverified',
      undelivered: { receipt_id: payment.id, amount: 1000, public_chain: false },
    });
    const told = (await listChanges(catalogue, 'example-prices')).find(({ reason }) => reason === 'undelivered');
    expect(told && describeDecision(told)).toMatchObject({
      why: 'we paid for a call, and nothing was delivered',
      evidence: [expect.stringMatching(/^GET \/v1\/quote: 0\.001 USDC paid on a local test chain .* receipt /)],
    });
    expect(await rail.chain.getBalance(rail.payer)).toBe(999_000);
  });

  it('is found by its nonce after a crash at any moment', async () => {
    const { pay, ledger, rail } = await openPaying(chain, await honest());
    const crashAt = (type: string) => ({
      onEvent: (event: { type: string }) => {
        if (event.type === type) throw crash;
      },
    });
    await expect(pay(crashAt('prepared'))).rejects.toBe(crash);
    expect(await reconcilePayments({ rail, ledger, now })).toMatchObject([
      { state: 'not_settled', reason: 'never_sent' },
    ]);
    await expect(pay(crashAt('answered'))).rejects.toBe(crash);
    expect(await reconcilePayments({ rail, ledger, now })).toMatchObject([{ state: 'settled', delivered: true }]);
    expect(await ledger.listOpen(rail.payer)).toEqual([]);
  });
});

describe('a run that ends before it has judged the answer', () => {
  /** Ends at the record of the answer: after it, or before. */
  const endAtAnswer = (ledger: Ledger, isRecorded = true): Ledger => ({
    ...ledger,
    async record(id, step, at) {
      if (step.step !== 'answered' || isRecorded) await ledger.record(id, step, at);
      if (step.step === 'answered') throw crash;
    },
  });

  it.each([
    [
      'with the answer on record',
      { answer: { status: 200, size: expect.any(Number), hash: expect.any(String) } },
      true,
    ],
    ['before the answer is on record', { answer: null }, false],
  ])('%s leaves the delivery undecided', async (_name, expected, isRecorded) => {
    const { pay, catalogue, rail, ledger, getRoute } = await openPaying(chain, await honest());
    await expect(pay({ ledger: endAtAnswer(ledger, isRecorded) })).rejects.toBe(crash);
    const found = await reconcilePayments({ rail, ledger, now });
    const nothingSaid = { state: 'settled', delivered: null, unrecognised: null, conforming: null };
    expect(found).toMatchObject([{ ...nothingSaid, ...expected }]);
    expect(await rail.chain.getBalance(rail.payer)).toBe(999_000);
    // It counts neither way: no receipt, no caution, nothing against the seller.
    expect(catalogue.engine.sqlite.prepare('SELECT count(*) FROM receipts').pluck().get()).toBe(0);
    expect(await getRoute()).toMatchObject({ verification: 'unverified', undelivered: null });
  });

  it('with a failing answer is decided: nothing was delivered', async () => {
    const seller = await serveSeller(chain, async ({ response, settle }) => {
      await settle();
      response.writeHead(500).end('{"error":"no"}');
    });
    const { pay, rail, ledger, getRoute } = await openPaying(chain, seller);
    await expect(pay({ ledger: endAtAnswer(ledger) })).rejects.toBe(crash);
    expect(await reconcilePayments({ rail, ledger, now })).toMatchObject([{ state: 'settled', delivered: false }]);
    expect((await getRoute()).undelivered).not.toBeNull();
  });
});

it('a payment is in the journal before it is signed', async () => {
  const { pay, rail, journal } = await openPaying(chain, await honest());
  const noted: unknown[] = [];
  const sign: Rail['sign'] = (payment, requirement) => {
    noted.push(journal.payments.get(payment.id));
    return rail.sign(payment, requirement);
  };
  const { id } = await pay({ rail: { ...rail, sign } });
  expect(noted).toMatchObject([{ id, state: 'prepared' }]);
});

it('a secret header is sent, but never recorded', async () => {
  let sent: IncomingHttpHeaders | undefined;
  const seller = await serveSeller(chain, async ({ request, response, settle }) => {
    sent = request.headers;
    deliver(response, await settle());
  });
  const { pay, call, catalogue } = await openPaying(chain, seller);
  const headers = { accept: 'application/json', 'x-api-key': 'sesame', 'x-session-token': 'sesame' };
  const payment = await pay({ call: { ...call, headers } });
  expect(payment).toMatchObject({ state: 'settled', request: { headers: { accept: 'application/json' } } });
  expect(sent).toMatchObject(headers);
  expect(catalogue.engine.sqlite.serialize().includes('sesame')).toBe(false);
});

describe('nothing is paid', () => {
  it.each([
    [{ per_call: 0, per_day: 10_000 }, 'cap_per_call'],
    [{ per_call: 999, per_day: 10_000 }, 'cap_per_call'],
    [{ per_call: 1000, per_day: 999 }, 'cap_per_day'],
  ])('of a price of 1000 with the caps %j', async (caps, reason) => {
    const { pay, rail } = await openPaying(chain, await honest());
    await expect(pay({ caps })).rejects.toMatchObject({ reason });
    expect(await rail.chain.getBalance(rail.payer)).toBe(1_000_000);
  });

  it('beyond the cap for a day', async () => {
    const { pay, rail } = await openPaying(chain, await honest());
    await pay();
    await expect(pay({ caps: { per_call: 1000, per_day: 1999 } })).rejects.toMatchObject({ reason: 'cap_per_day' });
    await pay({ caps: { per_call: 1000, per_day: 2000 } });
    expect(await rail.chain.getBalance(rail.payer)).toBe(998_000);
  });

  it('beyond the cap for a day of the chain, to its last second, whatever our clock says', async () => {
    const { pay } = await openPaying(chain, await honest());
    const caps = { per_call: 1000, per_day: 1000 };
    const midnight = (Math.floor((await chain.getTime()) / 86_400) + 1) * 86_400;
    await chain.undoAfter(async () => {
      await chain.setTime(midnight - 60);
      const near = { caps, now: () => new Date((midnight + 30) * 1000) };
      expect(await pay(near)).toMatchObject({ state: 'settled' });
      await expect(pay(near)).rejects.toMatchObject({ reason: 'cap_per_day' });
      await chain.setTime(midnight);
      expect(await pay(near)).toMatchObject({ state: 'settled' });
      await expect(pay(near)).rejects.toMatchObject({ reason: 'cap_per_day' });
    });
  });

  it('beyond the balance', async () => {
    const amount = 1_000_001;
    const seller = await serveSeller(chain, ({ response }) => deliver(response), 2, { amount: String(amount) });
    const { pay, rail } = await openPaying(chain, seller, makeTerms({ pay_to: PAY_TO, amount }));
    const paying = pay({ caps: { per_call: 2e6, per_day: 2e6 } });
    await expect(paying).rejects.toMatchObject({ code: 'refused', reason: 'balance' });
    expect(await rail.chain.getBalance(rail.payer)).toBe(1_000_000);
  });

  it('while the operator has stopped all payments', async () => {
    const { pay, rail, ledger } = await openPaying(chain, await honest());
    await expect(pay({ findStop: () => 'by a test' })).rejects.toMatchObject({ reason: 'stopped' });
    expect(await ledger.listOpen(rail.payer)).toEqual([]);
    expect(await rail.chain.getBalance(rail.payer)).toBe(1_000_000);
  });

  it('for an offer that is not on record', async () => {
    const { client, call } = await openPaying(chain, await honest());
    const { fetchQuote } = await import('../../src/paying/quote.ts');
    const signal = AbortSignal.timeout(5000);
    const options = { client, call, payeeRotates: false, networks: ['base'] as const, signal };
    expect(await fetchQuote({ ...options, known: [] })).toMatchObject({ refused: 'not_on_record' });
    expect(await fetchQuote({ ...options, known: [makeTerms({ pay_to: null })] })).toMatchObject({ refused: null });
    expect(
      await fetchQuote({ ...options, known: [makeTerms({ pay_to: PAY_TO })], networks: ['solana'] }),
    ).toMatchObject({
      refused: 'no_wallet',
    });
  });

  it('with a node of another chain, or without a working node', async () => {
    await expect(openEvmChain(NETWORKS.base, ['http://127.0.0.1:1']).getBalance(PAY_TO)).rejects.toMatchObject({
      reason: 'rpc_failed',
    });
  });
});
