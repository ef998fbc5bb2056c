import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import { isAway } from '../../model/catalogue-address.ts';
import {
  applyStep,
  buildPayment,
  isOpen,
  isUnconfirmed,
  type Payment,
  type PaymentCaps,
  type PaymentEntry,
  type PaymentStep,
  type PreparedPayment,
  type Receipt,
} from '../../model/payment.ts';
import { formatUsdc } from '../../model/usdc.ts';
import type { Catalogue } from '../database.ts';
import { findPaidRoute, findPayment, listOpenPayments } from '../read/payments.ts';
import { type Writing, writeCatalogue } from '../transaction.ts';
import { recordReceipt } from './receipts.ts';

/** The record of payments. */
export type Ledger = ReturnType<typeof openLedger>;

/**
 * Opens the ledger of payments in a catalogue. Each function that writes is one transaction, which is on the disk when the
 * function returns, even if the power fails. `note` writes each step to the wallet's journal before the commit; if it throws,
 * nothing is changed. Times are ISO 8601 UTC.
 */
export function openLedger(catalogue: Catalogue, note: (entry: PaymentEntry) => void) {
  catalogue.engine.makeDurable();
  return {
    /**
     * Records a payment before anything is signed. Throws `refused` with the reason `cap_per_call`, `cap_per_day`, or
     * `payment_open` while another payment of the same payer may still move money, unless a node says that it did not.
     */
    prepare: (attempt: PreparedPayment, caps: PaymentCaps) =>
      writeCatalogue(catalogue, attempt.prepared_at, async (writing) => {
        await preparePayment(writing.catalogue, attempt, caps);
        note({ id: attempt.id, at: attempt.prepared_at, event: { step: 'prepared', attempt } });
      }),
    /**
     * Records a step of a payment, and publishes the receipt once it is settled. If nobody knows whether the product came
     * (`delivered` is null), there is no receipt: that is our own failure and counts for nobody and against nobody.
     * Throws `conflict`: `wrong_state` if the step does not follow from the payment's state, and `transaction_taken` if
     * its transaction is on record for another payment.
     */
    record: (id: string, step: PaymentStep, at: string) => recordStep(catalogue, note, { id, step, at }),
    /**
     * Restores steps that the catalogue lacks, as after a crash or a restored backup. Payments that it has as settled or
     * not settled stay so. Returns the payments of which it knows more.
     */
    restore: (payments: readonly Payment[]) => {
      const work = async (writing: Writing) => {
        const closed: Payment[] = [];
        for (const payment of payments) closed.push(...((await restorePayment(writing, payment)) ?? []));
        return closed;
      };
      return writeCatalogue(catalogue, new Date(0).toISOString(), work, 'urgent');
    },
    /** Lists the payments of a payer that may still move money, oldest first. */
    listOpen: (payer: string) => listOpenPayments(catalogue, payer),
    findPayment: (id: string) => findPayment(catalogue, id),
  };
}

/** Longest time for retrying a step while PostgreSQL is away, and the pause between tries, in milliseconds. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 1000;

/**
 * Records a step. Once a payment may have been sent, its facts are nowhere else. While PostgreSQL is away, the step is retried
 * for a minute, and then at least written to the journal, from which the next run restores it.
 */
async function recordStep(
  catalogue: Catalogue,
  note: (entry: PaymentEntry) => void,
  { id, step, at }: { id: string; step: PaymentStep; at: string },
): Promise<void> {
  let expected: string | undefined;
  let isNoted = false;
  const noteOnce = () => {
    if (!isNoted) note({ id, at, event: step });
    isNoted = true;
  };
  const store = async (writing: Writing) => {
    const current = await getPayment(writing.catalogue, id);
    // An earlier try was committed, and only its answer was lost.
    if (expected !== undefined && JSON.stringify(current) === expected) return;
    const payment = applyStep(current, step, at);
    expected = JSON.stringify(payment);
    await storePayment(writing, payment);
    noteOnce();
  };
  const record = () => writeCatalogue(catalogue, at, store, 'urgent');
  if (step.step === 'sent') return record();
  for (const end = performance.now() + PATIENCE_MS; ; ) {
    try {
      return await record();
    } catch (error) {
      if (!isAway(error)) throw error;
      if (performance.now() > end) {
        noteOnce();
        throw error;
      }
    }
    await sleep(RETRY_MS);
  }
}

/**
 * Records an attempt. The caps are checked in the same transaction, so that two simultaneous attempts cannot both pass. Throws
 * `refused` above a cap, and `conflict` while another payment of the wallet is open, unless that is unconfirmed.
 */
async function preparePayment(catalogue: Catalogue, attempt: PreparedPayment, caps: PaymentCaps): Promise<void> {
  const { amount, payer, head_at } = attempt;
  if (amount > caps.per_call) {
    throw refuse('cap_per_call', `${formatUsdc(amount)} USDC is more than one call may cost`, caps.per_call);
  }
  const spent = await countSpent(catalogue, head_at);
  if (spent + amount > caps.per_day) {
    const words = `${formatUsdc(amount)} USDC besides the ${formatUsdc(spent)} of ${getDay(head_at)} is more than a day may cost`;
    throw refuse('cap_per_day', words, caps.per_day);
  }
  const open = (await listOpenPayments(catalogue, payer)).find((one) => !isUnconfirmed(one));
  if (open) {
    throw new ServiceError('conflict', `The payment ${open.id} of the same wallet is still open.`, {
      hint: 'Wait until it is settled or expired: the next run asks the chain. If it stays unknown, close it with receipts settle.',
      reason: 'payment_open',
    });
  }
  await catalogue.query
    .insertInto('payments')
    .values(buildRow(buildPayment(attempt)))
    .execute();
}

function refuse(reason: string, words: string, cap: number): ServiceError {
  return new ServiceError('refused', `${words}: ${formatUsdc(cap)} USDC.`, {
    hint: 'MAX_USDC_PER_CALL and MAX_USDC_PER_DAY set the caps.',
    reason,
  });
}

/**
 * Returns the most that the attempts of a UTC day may have cost, in atomic USDC: all attempts except those known not to have
 * settled. A ceiling counts in full until the amount taken is known.
 */
export async function countSpent({ query }: Catalogue, at: string): Promise<number> {
  const row = await query
    .selectFrom('payments')
    .select(({ fn }) => fn.sum<number | null>('amount').as('spent'))
    .where('day', '=', getDay(at))
    .where('state', '!=', 'not_settled')
    .executeTakeFirst();
  return row?.spent ?? 0;
}

/** Restores a payment of the journal. Returns the recorded payment if that is closed and the journal's is still open. */
async function restorePayment(writing: Writing, payment: Payment): Promise<[Payment] | undefined> {
  const { catalogue } = writing;
  const known = await findPayment(catalogue, payment.id);
  if (known && !isOpen(known)) {
    // Its route may have been imported again since.
    await publishReceipt(writing, known);
    return isOpen(payment) ? [known] : undefined;
  }
  if (known && JSON.stringify(known) === JSON.stringify(payment)) return undefined;
  if (!known) await catalogue.query.insertInto('payments').values(buildRow(payment)).execute();
  await storePayment(writing, payment);
  return undefined;
}

/** Builds the receipt of a payment. Undefined if it did not settle, or if it is not known whether the product came. */
function buildReceipt(payment: Payment): Receipt | undefined {
  const { id, route_id, network, asset, amount, payer, pay_to, request, delivered, conforming, settlement } = payment;
  if (settlement === null || delivered === null) return undefined;
  const { ceiling } = payment;
  const { transaction, settled_at, genesis } = settlement;
  return {
    id,
    route_id,
    network,
    asset,
    amount,
    payer,
    pay_to,
    transaction,
    settled_at,
    genesis,
    request,
    ...(ceiling !== undefined && { ceiling }),
    settled: true,
    delivered,
    unrecognised: payment.unrecognised,
    conforming: conforming ?? 'undeclared',
    correction: null,
  };
}

async function getPayment(catalogue: Catalogue, id: string): Promise<Payment> {
  const payment = await findPayment(catalogue, id);
  if (!payment) throw new ServiceError('not_found', `There is no payment ${id}.`, { reason: 'no_payment' });
  return payment;
}

/** Stores a changed payment, and publishes its receipt if it has one. */
async function storePayment(writing: Writing, payment: Payment): Promise<void> {
  const { catalogue, revision, raiseRevision } = writing;
  await refuseTakenTransaction(catalogue, payment);
  const { id, ...columns } = buildRow(payment);
  const visible = payment.settlement === null ? {} : { revision };
  await catalogue.query
    .updateTable('payments')
    .set({ ...columns, ...visible })
    .where('id', '=', id)
    .execute();
  if (payment.settlement) raiseRevision();
  await publishReceipt(writing, payment);
}

async function publishReceipt(writing: Writing, payment: Payment): Promise<void> {
  const { catalogue } = writing;
  const receipt = buildReceipt(payment);
  if (!receipt || !(await findPaidRoute(catalogue, receipt.route_id))) return;
  const recorded = catalogue.query.selectFrom('receipts').select('id').where('id', '=', receipt.id);
  if (!(await recorded.executeTakeFirst())) await recordReceipt(writing, receipt);
}

async function refuseTakenTransaction({ query }: Catalogue, { id, network, settlement }: Payment): Promise<void> {
  if (!settlement) return;
  const { transaction } = settlement;
  const findTaken = (table: 'payments' | 'receipts') =>
    query
      .selectFrom(table)
      .select('id')
      .where('network', '=', network)
      .where('transaction', '=', transaction)
      .where('id', '!=', id)
      .executeTakeFirst();
  const other = (await findTaken('payments')) ?? (await findTaken('receipts'));
  if (!other) return;
  throw new ServiceError('conflict', `The transaction ${transaction} is on record as the payment ${other.id}.`, {
    hint: 'One transaction proves one payment: ask another node, or close the payment with receipts settle.',
    reason: 'transaction_taken',
  });
}

function getDay(at: string): string {
  return at.slice(0, 10);
}

function buildRow(payment: Payment) {
  const { id, route_id, network, payer, amount, state, prepared_at, head_at, settlement } = payment;
  return {
    id,
    route_id,
    network,
    payer,
    amount,
    state,
    prepared_at,
    day: getDay(head_at),
    transaction: settlement?.transaction ?? null,
    document: JSON.stringify(payment),
  };
}
