import { ServiceError } from '../errors.ts';
import {
  OPEN_STATES,
  type Payment,
  type PaymentAnswer,
  type PaymentCaps,
  type PaymentResolution,
  type PreparedPayment,
} from '../model/payment.ts';
import type { Receipt } from '../model/receipt.ts';
import { formatUsdc } from '../model/usdc.ts';
import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import { recordReceipt } from './ledger.ts';
import { findPayment, parsePayment } from './payment-records.ts';
import { type Writing, writeCatalogue } from './write.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Opens the ledger of payments on a catalogue: each of its functions is one transaction that is on the disk when it
 * returns, even if the power goes.
 */
export function openLedger(catalogue: Catalogue) {
  catalogue.sqlite.pragma('synchronous = FULL');
  const write = (at: string, work: (writing: Writing) => void) => writeCatalogue(catalogue, at, work);
  const change = (id: string, at: string, fields: Partial<Payment>) =>
    write(at, () => storePayment(catalogue, { ...getPayment(catalogue, id), ...fields }));
  return {
    prepare: (attempt: PreparedPayment, caps: PaymentCaps) =>
      write(attempt.prepared_at, () => preparePayment(catalogue, attempt, caps)),
    markSent: (id: string, at: string, signature: string | null) =>
      change(id, at, { state: 'sent', sent_at: at, signature }),
    recordAnswer: (id: string, answer: PaymentAnswer) =>
      change(id, answer.answer?.at ?? getPayment(catalogue, id).prepared_at, answer),
    resolve: (id: string, resolution: PaymentResolution, at: string) =>
      write(at, (writing) => resolvePayment(writing, id, resolution)),
    listOpen: (payer: string) => listOpenPayments(catalogue, payer),
    findPayment: (id: string) => findPayment(catalogue, id),
  };
}

/** Caps are checked in the transaction that writes the attempt, so that two at once cannot both pass. */
function preparePayment(catalogue: Catalogue, attempt: PreparedPayment, caps: PaymentCaps): void {
  const { amount, payer, prepared_at } = attempt;
  if (amount > caps.per_call) {
    throw refuse('cap_per_call', `${formatUsdc(amount)} USDC is more than one call may cost`, caps.per_call);
  }
  const spent = countSpent(catalogue, prepared_at);
  if (spent + amount > caps.per_day) {
    const words = `${formatUsdc(amount)} USDC besides the ${formatUsdc(spent)} of the last 24 hours is more than a day may cost`;
    throw refuse('cap_per_day', words, caps.per_day);
  }
  const [open] = listOpenPayments(catalogue, payer);
  if (open) {
    throw new ServiceError('conflict', `The payment ${open.id} of the same wallet is still open.`, {
      hint: 'Wait until it is settled or expired; the next run finds out from the chain.',
      reason: 'payment_open',
    });
  }
  const payment: Payment = {
    ...attempt,
    signature: null,
    state: 'prepared',
    reason: null,
    delivered: null,
    unrecognised: null,
    conforming: null,
    answer: null,
    seller_receipt: null,
    settlement: null,
    sent_at: null,
    resolved_at: null,
  };
  runStatement(catalogue, catalogue.query.insertInto('payments').values(buildRow(payment)));
}

function refuse(reason: string, words: string, cap: number): ServiceError {
  return new ServiceError('refused', `${words}: ${formatUsdc(cap)} USDC.`, {
    hint: 'MAX_USDC_PER_CALL and MAX_USDC_PER_DAY set the caps.',
    reason,
  });
}

/** Sums what the attempts of the 24 hours before a time may have cost, those left out that surely did not settle. */
export function countSpent(catalogue: Catalogue, at: string): number {
  const since = new Date(Date.parse(at) - DAY_MS).toISOString();
  const query = catalogue.query
    .selectFrom('payments')
    .select(({ fn }) => fn.sum<number | null>('amount').as('spent'))
    .where('prepared_at', '>', since)
    .where('state', '!=', 'not_settled');
  return findRow(catalogue, query)?.spent ?? 0;
}

function resolvePayment(writing: Writing, id: string, resolution: PaymentResolution): void {
  const { catalogue, at } = writing;
  const before = getPayment(catalogue, id);
  const isOpen = OPEN_STATES.some((state) => state === before.state);
  if (!isOpen) return;
  const fields =
    resolution.state === 'settled'
      ? { state: resolution.state, settlement: resolution.settlement, reason: null, resolved_at: at }
      : { ...resolution, resolved_at: resolution.state === 'unknown' ? null : at };
  const payment: Payment = { ...before, ...fields };
  storePayment(catalogue, payment);
  const receipt = buildReceipt(payment);
  if (receipt) recordReceipt(writing, receipt);
}

/** Undefined where it did not settle, or nobody knows whether the product came. */
function buildReceipt(payment: Payment): Receipt | undefined {
  const { id, route_id, network, asset, amount, payer, pay_to, request, delivered, conforming, settlement } = payment;
  if (settlement === null || delivered === null) return undefined;
  const { transaction, settled_at, genesis } = settlement;
  return {
    ...{ id, route_id, network, asset, amount, payer, pay_to, transaction, settled_at, genesis, request },
    settled: true,
    delivered,
    unrecognised: payment.unrecognised,
    conforming: conforming ?? 'undeclared',
    correction: null,
  };
}

function listOpenPayments(catalogue: Catalogue, payer: string): Payment[] {
  const query = catalogue.query
    .selectFrom('payments')
    .select('document')
    .where('payer', '=', payer)
    .where('state', 'in', [...OPEN_STATES])
    .orderBy('prepared_at');
  return listRows(catalogue, query).map(({ document }) => parsePayment(document));
}

function getPayment(catalogue: Catalogue, id: string): Payment {
  const payment = findPayment(catalogue, id);
  if (!payment) throw new ServiceError('not_found', `There is no payment ${id}.`, { reason: 'no_payment' });
  return payment;
}

function storePayment(catalogue: Catalogue, payment: Payment): void {
  const { id, ...columns } = buildRow(payment);
  runStatement(catalogue, catalogue.query.updateTable('payments').set(columns).where('id', '=', id));
}

function buildRow(payment: Payment) {
  const { id, route_id, payer, amount, state, prepared_at } = payment;
  return { id, route_id, payer, amount, state, prepared_at, document: JSON.stringify(payment) };
}
