import { describe, expect, it } from 'vitest';
import { listChanges } from '../../src/catalogue/read/changes.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { openEvmChain, openEvmReader } from '../../src/paying/evm/chain.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { describeDecision } from '../../src/views/words/decision.ts';
import { makeTerms } from '../records.ts';
import { getMarket } from '../worker-market.ts';
import { checkPayment, deliver, openPaying, PAY_TO, serveSeller } from './paying.ts';

const { base: chain } = await getMarket();

const now = () => new Date();

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

  it('is judged by the chain alone, whatever the seller says', async () => {
    const lies = `0x${'ab'.repeat(32)}`;
    const taking = await serveSeller(chain, async ({ response, settle }) => {
      await settle();
      deliver(response, lies);
    });
    const told = await (await openPaying(chain, taking)).pay();
    expect(told).toMatchObject({ state: 'settled', seller_receipt: { transaction: lies } });
    expect(told.settlement?.transaction).not.toBe(lies);
    const silent = await serveSeller(chain, async ({ response, settle }) => {
      await settle();
      deliver(response);
    });
    expect(await (await openPaying(chain, silent)).pay()).toMatchObject({ state: 'settled', seller_receipt: null });
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

  it('that never settles stays open until it can no longer settle, and loses nothing', async () => {
    const giving = await serveSeller(chain, ({ response }) => deliver(response, `0x${'cd'.repeat(32)}`));
    const { pay, ledger, rail, getRoute } = await openPaying(chain, giving);
    const payment = await pay({ signal: AbortSignal.timeout(300) });
    expect(payment).toMatchObject({ state: 'sent', delivered: true });
    await expect(pay()).rejects.toMatchObject({ reason: 'payment_open' });
    await chain.undoAfter(async () => {
      await chain.setTime(Math.floor(Date.parse(payment.expires_at) / 1000) + 30);
      const [resolved] = await reconcilePayments({ rail, ledger, now });
      expect(resolved).toMatchObject({ id: payment.id, state: 'not_settled', reason: 'expired' });
    });
    expect((await getRoute()).verification).toBe('unverified');
  });

  it('is found by its nonce after a crash at any moment', async () => {
    const seller = await serveSeller(chain, async ({ response, settle }) => deliver(response, await settle()));
    const { pay, ledger, rail } = await openPaying(chain, seller);
    const crash = new Error('killed');
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

describe('nothing is paid', () => {
  const honest = () => serveSeller(chain, async ({ response, settle }) => deliver(response, await settle()));

  it('beyond the cap for a call, the cap for a day, or the balance', async () => {
    const { pay, rail } = await openPaying(chain, await honest());
    await expect(pay({ caps: { per_call: 999, per_day: 10_000 } })).rejects.toMatchObject({ reason: 'cap_per_call' });
    await pay();
    await expect(pay({ caps: { per_call: 1000, per_day: 1999 } })).rejects.toMatchObject({ reason: 'cap_per_day' });
    await pay({ caps: { per_call: 1000, per_day: 2000 } });
    expect(await rail.chain.getBalance(rail.payer)).toBe(998_000);
  });

  it('while the operator has stopped all payments', async () => {
    const { pay, rail, ledger } = await openPaying(chain, await honest());
    await expect(pay({ findStop: () => 'by a test' })).rejects.toMatchObject({ reason: 'stopped' });
    expect(await ledger.listOpen(rail.payer)).toEqual([]);
    expect(await rail.chain.getBalance(rail.payer)).toBe(1_000_000);
  });

  it.each([
    ['amount', { amount: '2000' }],
    ['payTo', { payTo: '0x00000000000000000000000000000000000000aa' }],
    ['scheme', { scheme: 'upto' }],
    ['asset', { asset: '0x00000000000000000000000000000000000000aa' }],
    ['network', { network: 'eip155:1' }],
    ['amount, written as an exponent', { amount: '1e3' }],
    ['amount, negative', { amount: '-1000' }],
  ])('when the live 402 differs from the record in %s', async (_name, offer) => {
    const seller = await serveSeller(chain, ({ response }) => deliver(response), 2, offer);
    const { quote } = await openPaying(chain, seller);
    expect(await quote()).toMatchObject({ chosen: null, refused: expect.stringMatching(/^(terms_differ|no_offer)$/) });
  });

  it.each([
    ['names another payee as well', { recipient: '0x00000000000000000000000000000000000000aa' }],
    ['names another amount as well', { maxAmountRequired: '7' }],
    ['has zeros before the amount', { amount: '01000' }],
  ])('when two readers would read the live 402 differently, because it %s', async (_name, offer) => {
    const { quote } = await openPaying(chain, await serveSeller(chain, ({ response }) => deliver(response), 2, offer));
    expect(await quote()).toMatchObject({ chosen: null, refused: 'reads_differently' });
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

it('signs over the domain of USDC and for two minutes at most, whatever the seller names', async () => {
  let seen: { validBefore: string } | undefined;
  const seller = await serveSeller(
    chain,
    async ({ request, response, settle }) => {
      const header = String(request.headers['payment-signature']);
      seen = JSON.parse(Buffer.from(header, 'base64').toString()).payload.authorization;
      deliver(response, await settle());
    },
    2,
    { maxTimeoutSeconds: 31_536_000, extra: { name: 'Other Coin', version: '9' } },
  );
  const { pay } = await openPaying(chain, seller);
  expect(await pay()).toMatchObject({ state: 'settled' });
  expect(Number(seen?.validBefore) - Math.max(Date.now() / 1000, await chain.getTime())).toBeLessThanOrEqual(120);
});
