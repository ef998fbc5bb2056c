import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPublicClient, http } from 'viem';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listPayments } from '../../src/catalogue/read/payments.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { countSpent, openLedger } from '../../src/catalogue/write/payments.ts';
import type { PaymentEntry, PreparedPayment } from '../../src/model/payment.ts';
import { openJournal, recoverPayments } from '../../src/paying/journal.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { findStop } from '../../src/paying/stop-file.ts';
import { makeCatalogue, makeDeclaration, makeFolder, makeRoute, makeTerms, NOW } from '../builders.ts';
import { getMarket } from '../worker-market.ts';
import { recordDeclaration } from '../written.ts';
import { CAPS, deliver, openPaying, PAY_TO, serveSeller } from './paying.ts';

const { base: chain } = await getMarket();

const now = () => new Date();
/** A seller that delivers once the payment is in a block: the chain's clock, which tests move next, must not let it expire before. */
const sell = () =>
  serveSeller(chain, async ({ response, settle }) => {
    const hash = await settle();
    await createPublicClient({ transport: http(chain.rpcUrl) }).waitForTransactionReceipt({
      hash,
      pollingInterval: 20,
    });
    return deliver(response, hash);
  });

/** A payment for tests without a chain. */
function makeAttempt(overrides: Partial<PreparedPayment> = {}): PreparedPayment {
  const { network, scheme, asset, amount } = makeTerms();
  return {
    ...{ network, scheme, asset, amount, id: crypto.randomUUID(), route_id: crypto.randomUUID(), x402_version: 2 },
    ...{ payer: `0x${'2'.repeat(40)}`, pay_to: PAY_TO, nonce: `0x${'7'.repeat(64)}`, from_block: 1 },
    ...{ head_at: NOW, expires_at: NOW, expires_block: null, prepared_at: NOW },
    request: { method: 'GET', url: 'https://api.example.com/v1/quote', headers: {}, body: null, hash: 'a' },
    ...overrides,
  };
}

const prepared = (attempt = makeAttempt()): PaymentEntry => ({
  id: attempt.id,
  at: NOW,
  event: { step: 'prepared', attempt },
});
const sent = (id: string): PaymentEntry => ({ id, at: NOW, event: { step: 'sent', signature: null } });
const dropped = (id: string): PaymentEntry => ({
  id,
  at: NOW,
  event: { step: 'resolved', resolution: { state: 'not_settled', reason: 'expired' } },
});

describe('a journal', () => {
  it.each(['{"id":"', '\0'.repeat(40), '{"id":1}\n'])('drops a last line that was cut short: %j', (torn) => {
    const file = join(makeFolder(), 'payer', 'wallet.jsonl');
    const first = openJournal(file);
    const one = prepared();
    first.append(one);
    first.close();
    appendFileSync(file, torn);
    const second = openJournal(file);
    expect([...second.payments.values()]).toMatchObject([{ id: one.id, state: 'prepared' }]);
    second.append(sent(one.id));
    second.close();
    const third = openJournal(file);
    expect([...third.payments.values()]).toMatchObject([{ id: one.id, state: 'sent' }]);
    third.close();
  });

  it('with a damaged line in the middle prevents payments', () => {
    const file = join(makeFolder(), 'wallet.jsonl');
    writeFileSync(file, `${JSON.stringify(prepared())}\nrubbish\n${JSON.stringify(prepared())}\n`);
    expect(() => openJournal(file)).toThrow(expect.objectContaining({ reason: 'journal_damaged' }));
  });

  it('takes no step that does not follow from the state', () => {
    const journal = openJournal(join(makeFolder(), 'wallet.jsonl'));
    const one = prepared();
    expect(() => journal.append(sent(one.id))).toThrow(expect.objectContaining({ reason: 'wrong_state' }));
    journal.append(one);
    journal.append(sent(one.id));
    for (const entry of [one, sent(one.id)]) {
      expect(() => journal.append(entry)).toThrow(expect.objectContaining({ reason: 'wrong_state' }));
    }
    journal.close();
  });

  it('is rotated once it is large and nothing in it is open, and both files are read', () => {
    const file = join(makeFolder(), 'wallet.jsonl');
    const open = (maxBytes?: number) => openJournal(file, maxBytes);
    const one = prepared();
    const first = open();
    first.append(one);
    first.close();
    open(10).close();
    expect(existsSync(`${file}.1`)).toBe(false);
    const second = open(10);
    second.append(dropped(one.id));
    second.close();
    const third = open(10);
    expect([existsSync(`${file}.1`), readFileSync(file, 'utf8'), third.payments.size]).toEqual([true, '', 1]);
    third.close();
  });

  it('that cannot be written prevents payments', () => {
    const file = join(makeFolder(), 'wallet.jsonl');
    mkdirSync(file);
    expect(() => openJournal(file)).toThrow(expect.objectContaining({ code: 'unavailable', reason: 'journal_failed' }));
  });
});

describe('a run that ends between journal and catalogue', () => {
  const crash = new Error('killed');

  it.each([
    ['prepared', { state: 'not_settled', reason: 'never_sent', delivered: null }, 0],
    ['sent', { state: 'not_settled', reason: 'expired', delivered: null }, 0],
    ['answered', { state: 'settled', delivered: null }, 1000],
    ['judged', { state: 'settled', delivered: true }, 1000],
    ['resolved', { state: 'settled', delivered: true }, 1000],
  ])('at the step %s is completed by the next run', async (at, expected, lost) => {
    const { catalogue, journal, rail, pay, getRoute } = await openPaying(chain, await sell());
    const crashing = openLedger(catalogue, (entry) => {
      journal.append(entry);
      if (entry.event.step === at) throw crash;
    });
    await expect(pay({ ledger: crashing })).rejects.toBe(crash);
    const ledger = openLedger(catalogue, journal.append);
    await recoverPayments(journal, ledger, rail.payer, now().toISOString());
    await chain.undoAfter(async () => {
      await chain.setTime((await chain.getTime()) + 200);
      await reconcilePayments({ rail, ledger, now });
    });
    const [payment, ...others] = await listPayments(catalogue, 9);
    expect([payment, others]).toMatchObject([expected, []]);
    expect(journal.payments.get(payment?.id ?? '')).toEqual(payment);
    expect(await rail.chain.getBalance(rail.payer)).toBe(1_000_000 - lost);
    expect((await getRoute()).verification).toBe(payment?.delivered ? 'settlement-verified' : 'unverified');
    expect(await pay({ ledger })).toMatchObject({ state: 'settled', delivered: true });
  });
});

describe('a catalogue that is lost, or restored from a backup', () => {
  it('gets its payments and receipts back, and continues with the state of the chain', async () => {
    const { catalogue, journal, ledger, rail, pay, getRoute } = await openPaying(chain, await sell());
    const paid = await pay();
    const open = await pay({ signal: AbortSignal.abort(), patienceMs: 0 });
    const forget = () => catalogue.engine.sqlite.exec('DELETE FROM receipts; DELETE FROM payments;');
    forget();
    await recoverPayments(journal, ledger, rail.payer, now().toISOString());
    await reconcilePayments({ rail, ledger, now });
    const found = await listPayments(catalogue, 9);
    expect(found.map(({ id }) => id)).toEqual([open.id, paid.id]);
    expect(found.map(({ state }) => state)).toEqual(['settled', 'settled']);
    expect(catalogue.engine.sqlite.prepare('SELECT count(*) FROM receipts').pluck().get()).toBe(2);
    expect((await getRoute()).verification).toBe('settlement-verified');
    expect(await countSpent(catalogue, paid.head_at)).toBe(2000);
    const before = catalogue.engine.sqlite.serialize();
    await recoverPayments(journal, ledger, rail.payer, now().toISOString());
    expect(catalogue.engine.sqlite.serialize().equals(before)).toBe(true);
  });

  it('without the route keeps the payment, and publishes the receipt when the route is back', async () => {
    const seller = await sell();
    const { journal, rail, pay } = await openPaying(chain, seller);
    const paid = await pay();
    const other = await makeCatalogue();
    const ledger = openLedger(other, journal.append);
    const recover = () => recoverPayments(journal, ledger, rail.payer, now().toISOString());
    await recover();
    expect(await listPayments(other, 9)).toEqual([paid]);
    await expect(pay({ ledger, caps: { per_call: 1000, per_day: 1999 } })).rejects.toMatchObject({
      reason: 'cap_per_day',
    });
    const receipts = other.engine.sqlite.prepare('SELECT id FROM receipts').pluck();
    expect(receipts.all()).toEqual([]);
    await writeCatalogue(other, now().toISOString(), async (writing) => {
      const routes = [makeRoute({ path: '/v1/quote', terms: [makeTerms({ pay_to: PAY_TO })] })];
      await recordDeclaration(writing, makeDeclaration({ base_url: seller, routes }));
    });
    await recover();
    expect(receipts.all()).toEqual([paid.id]);
  });

  it('restores open payments to a lost journal', async () => {
    const { catalogue, rail, pay } = await openPaying(chain, await sell());
    const open = await pay({ signal: AbortSignal.abort(), patienceMs: 0 });
    const journal = openJournal(join(makeFolder(), 'new.jsonl'));
    const ledger = openLedger(catalogue, journal.append);
    await recoverPayments(journal, ledger, rail.payer, now().toISOString());
    if (open.state !== 'settled') await reconcilePayments({ rail, ledger, now });
    expect(await listPayments(catalogue, 1)).toMatchObject([{ id: open.id, state: 'settled' }]);
    journal.close();
  });
});

describe('the ledger', () => {
  const settlement = { transaction: `0x${'e'.repeat(64)}`, block: 1, block_hash: '0x', log_index: 0 };
  const settled = { ...settlement, settled_at: NOW, genesis: '0x', read_from: 1 };
  const resolve = { step: 'resolved', resolution: { state: 'settled', settlement: settled } } as const;
  const taken = expect.objectContaining({ code: 'conflict', reason: 'transaction_taken' });

  it('refuses a transaction that belongs to another payment', async () => {
    const catalogue = await makeCatalogue();
    const entries: PaymentEntry[] = [];
    const ledger = openLedger(catalogue, (entry) => entries.push(entry));
    const [one, two] = [makeAttempt(), makeAttempt()];
    await ledger.prepare(one, CAPS);
    await ledger.record(one.id, { step: 'sent', signature: null }, NOW);
    await ledger.record(one.id, resolve, NOW);
    await ledger.prepare(two, CAPS);
    await ledger.record(two.id, { step: 'sent', signature: null }, NOW);
    const written = entries.length;
    await expect(ledger.record(two.id, resolve, NOW)).rejects.toThrow(taken);
    expect([entries.length, (await ledger.findPayment(two.id))?.state]).toEqual([written, 'sent']);
    const sql = `UPDATE payments SET "transaction" = (SELECT "transaction" FROM payments WHERE id = '${one.id}')`;
    expect(() => catalogue.engine.sqlite.exec(sql)).toThrow(/UNIQUE/);
  });

  it('takes each step only in the right state', async () => {
    const ledger = openLedger(await makeCatalogue(), () => undefined);
    const { id, ...attempt } = makeAttempt();
    const wrong = expect.objectContaining({ code: 'conflict', reason: 'wrong_state' });
    await ledger.prepare({ id, ...attempt }, CAPS);
    const step = { step: 'sent', signature: null } as const;
    await expect(ledger.record(id, resolve, NOW)).rejects.toThrow(wrong);
    await ledger.record(id, step, NOW);
    await expect(ledger.record(id, step, NOW)).rejects.toThrow(wrong);
    await ledger.record(id, resolve, NOW);
    for (const late of [step, resolve, { step: 'closed', as: 'settled', because: 'x' } as const]) {
      await expect(ledger.record(id, late, NOW)).rejects.toThrow(wrong);
    }
  });

  it('takes the answer of a payment that somebody else found on the chain meanwhile', async () => {
    const { catalogue, rail, ledger, pay, getRoute } = await openPaying(chain, await sell());
    const other = openLedger(catalogue, () => undefined);
    const record: typeof ledger.record = async (id, step, at) => {
      // A node may know a transaction a moment before the block that holds it is its latest one.
      while (step.step === 'answered' && (await ledger.findPayment(id))?.state !== 'settled')
        await reconcilePayments({ rail, ledger: other, now });
      expect((await ledger.findPayment(id))?.state).toBe(step.step === 'sent' ? 'prepared' : 'settled');
      await ledger.record(id, step, at);
    };
    const payment = await pay({ ledger: { ...ledger, record } });
    expect(payment).toMatchObject({ state: 'settled', delivered: true, answer: { status: 200 } });
    expect((await getRoute()).proof).toMatchObject({ receipt_id: payment.id });
  });

  it('changes nothing if the journal cannot be written', async () => {
    const catalogue = await makeCatalogue();
    const full = new Error('no space');
    const ledger = openLedger(catalogue, () => {
      throw full;
    });
    await expect(ledger.prepare(makeAttempt(), CAPS)).rejects.toThrow(full);
    expect(await listPayments(catalogue, 9)).toEqual([]);
  });
});

describe('the stop file', () => {
  const folder = () => makeFolder();

  it('allows payments only if it certainly does not exist', () => {
    const place = folder();
    expect([findStop(null), findStop(join(place, 'stop'))]).toEqual([null, null]);
    writeFileSync(join(place, 'stop'), '');
    expect(findStop(join(place, 'stop'))).toBe('the stop file exists');
  });

  it('stops payments as a broken link, a folder, below a file, and in a missing folder', () => {
    const place = folder();
    symlinkSync(join(place, 'nowhere'), join(place, 'link'));
    mkdirSync(join(place, 'folder'));
    writeFileSync(join(place, 'file'), '');
    for (const name of ['link', 'folder', 'file/stop', 'missing/stop', 'link/stop']) {
      expect(findStop(join(place, name))).toMatch(/^the stop file/);
    }
  });

  it('stops in a folder that cannot be looked into', () => {
    const place = folder();
    chmodSync(place, 0o000);
    onTestFinished(() => chmodSync(place, 0o700));
    // Root may look into any folder.
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.('nobody');
    try {
      expect(findStop(join(place, 'stop'))).toMatch(/cannot be checked \(EACCES\)/);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });
});
