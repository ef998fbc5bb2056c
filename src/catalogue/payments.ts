import { ServiceError } from '../errors.ts';
import {
  applyStep,
  buildPayment,
  isOpen,
  OPEN_STATES,
  type Payment,
  type PaymentCaps,
  type PaymentEntry,
  type PaymentStep,
  type PreparedPayment,
  type Receipt,
} from '../model/payment.ts';
import { formatUsdc } from '../model/usdc.ts';
import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import { findPaidRoute, findPayment, parsePayment } from './payment-records.ts';
import { recordReceipt } from './record-receipt.ts';
import { type Writing, writeCatalogue } from './write.ts';

/**
 * Opens the ledger of payments in a catalogue. Each function that writes is one transaction, which is on the disk when the
 * function returns, even if the power fails. `note` writes each step to the wallet's journal before the commit; if it
 * throws, nothing is changed.
 */
export function openLedger(catalogue: Catalogue, note: (entry: PaymentEntry) => void) {
  catalogue.sqlite.pragma('synchronous = FULL');
  return {
    prepare: (attempt: PreparedPayment, caps: PaymentCaps) =>
      writeCatalogue(catalogue, attempt.prepared_at, () => {
        preparePayment(catalogue, attempt, caps);
        note({ id: attempt.id, at: attempt.prepared_at, event: { step: 'prepared', attempt } });
      }),
    record: (id: string, step: PaymentStep, at: string) =>
      writeCatalogue(catalogue, at, (writing) => {
        const payment = applyStep(getPayment(catalogue, id), step, at);
        storePayment(writing, payment);
        note({ id, at, event: step });
      }),
    restore: (payments: readonly Payment[]) =>
      writeCatalogue(catalogue, new Date(0).toISOString(), (writing) =>
        payments.flatMap((payment) => restorePayment(writing, payment) ?? []),
      ),
    listOpen: (payer: string) => listOpenPayments(catalogue, payer),
    findPayment: (id: string) => findPayment(catalogue, id),
  };
}

/**
 * Records an attempt. The caps are checked in the same transaction, so that two attempts at once cannot both pass. Throws
 * `refused` above a cap, and `conflict` while another payment of the wallet is open.
 */
function preparePayment(catalogue: Catalogue, attempt: PreparedPayment, caps: PaymentCaps): void {
  const { amount, payer, head_at } = attempt;
  if (amount > caps.per_call) {
    throw refuse('cap_per_call', `${formatUsdc(amount)} USDC is more than one call may cost`, caps.per_call);
  }
  const spent = countSpent(catalogue, head_at);
  if (spent + amount > caps.per_day) {
    const words = `${formatUsdc(amount)} USDC besides the ${formatUsdc(spent)} of ${getDay(head_at)} is more than a day may cost`;
    throw refuse('cap_per_day', words, caps.per_day);
  }
  const [open] = listOpenPayments(catalogue, payer);
  if (open) {
    throw new ServiceError('conflict', `The payment ${open.id} of the same wallet is still open.`, {
      hint: 'Wait until it is settled or expired: the next run asks the chain. If it stays unknown, close it with receipts settle.',
      reason: 'payment_open',
    });
  }
  runStatement(catalogue, catalogue.query.insertInto('payments').values(buildRow(buildPayment(attempt))));
}

function refuse(reason: string, words: string, cap: number): ServiceError {
  return new ServiceError('refused', `${words}: ${formatUsdc(cap)} USDC.`, {
    hint: 'MAX_USDC_PER_CALL and MAX_USDC_PER_DAY set the caps.',
    reason,
  });
}

/** Returns what all attempts of a UTC day may have cost, in atomic USDC: all but those known not to have settled. */
export function countSpent(catalogue: Catalogue, at: string): number {
  const query = catalogue.query
    .selectFrom('payments')
    .select(({ fn }) => fn.sum<number | null>('amount').as('spent'))
    .where('day', '=', getDay(at))
    .where('state', '!=', 'not_settled');
  return findRow(catalogue, query)?.spent ?? 0;
}

/** Restores a payment of the journal. Returns the one on record if that one is closed and the journal's is still open. */
function restorePayment(writing: Writing, payment: Payment): Payment | undefined {
  const { catalogue } = writing;
  const known = findPayment(catalogue, payment.id);
  if (known && !isOpen(known)) {
    // Its route may have been imported again since.
    publishReceipt(writing, known);
    return isOpen(payment) ? known : undefined;
  }
  if (known && JSON.stringify(known) === JSON.stringify(payment)) return undefined;
  if (!known) runStatement(catalogue, catalogue.query.insertInto('payments').values(buildRow(payment)));
  storePayment(writing, payment);
  return undefined;
}

/** Builds the receipt of a payment. Undefined if it did not settle, or if it is not known whether the product came. */
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

/** Stores a payment that changed, and publishes its receipt if it has one. */
function storePayment(writing: Writing, payment: Payment): void {
  const { catalogue, revision, raiseRevision } = writing;
  refuseTakenTransaction(catalogue, payment);
  const { id, ...columns } = buildRow(payment);
  const visible = payment.settlement === null ? {} : { revision };
  runStatement(
    catalogue,
    catalogue.query
      .updateTable('payments')
      .set({ ...columns, ...visible })
      .where('id', '=', id),
  );
  if (payment.settlement) raiseRevision();
  publishReceipt(writing, payment);
}

function publishReceipt(writing: Writing, payment: Payment): void {
  const { catalogue } = writing;
  const receipt = buildReceipt(payment);
  if (!receipt || !findPaidRoute(catalogue, receipt.route_id)) return;
  const recorded = catalogue.query.selectFrom('receipts').select('id').where('id', '=', receipt.id);
  if (!findRow(catalogue, recorded)) recordReceipt(writing, receipt);
}

function refuseTakenTransaction(catalogue: Catalogue, { id, network, settlement }: Payment): void {
  if (!settlement) return;
  const { transaction } = settlement;
  const taken = (table: 'payments' | 'receipts') =>
    findRow(
      catalogue,
      catalogue.query
        .selectFrom(table)
        .select('id')
        .where('network', '=', network)
        .where('transaction', '=', transaction)
        .where('id', '!=', id),
    );
  const other = taken('payments') ?? taken('receipts');
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
    ...{ id, route_id, network, payer, amount, state, prepared_at },
    day: getDay(head_at),
    transaction: settlement?.transaction ?? null,
    document: JSON.stringify(payment),
  };
}
