import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Ledger } from '../catalogue/write/payments.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { applyStep, buildPayment, isOpen, type Payment, type PaymentEntry, paymentEntry } from '../model/payment.ts';

/**
 * A journal of this size is rotated once nothing in it is open, in bytes: some thousand payments. The previous one is
 * replaced.
 */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The steps of a wallet's payments, in a file of its own. It survives a crash, and a catalogue that is lost or
 * restored.
 */
export interface Journal {
  /** Every payment in the journal in its current state, by id. */
  readonly payments: ReadonlyMap<string, Payment>;
  /**
   * Appends an entry, which is on disk when this returns. Throws `conflict` if the step does not follow from the
   * payment's state, and `unavailable` if it cannot be written.
   */
  append(entry: PaymentEntry): void;
  close(): void;
}

/**
 * Opens the journal of a wallet. The caller holds the wallet's lock. An incomplete last line, left by a crash, was
 * never acted on and is dropped. Throws `unavailable` (`journal_damaged`) if any other line cannot be read, because no
 * guess would be safe.
 */
export function openJournal(file: string, maxBytes = MAX_BYTES): Journal {
  const payments = new Map<string, Payment>();
  const earlier = `${file}.1`;
  const report = (error: unknown) => reportFailure(file, error);
  let handle: number;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if (existsSync(earlier)) readLines(earlier, payments);
    handle = openSync(file, 'a+', 0o600);
    const sound = readLines(file, payments);
    if (sound < fstatSync(handle).size) ftruncateSync(handle, sound);
    if (sound > maxBytes && ![...payments.values()].some(isOpen)) {
      closeSync(handle);
      renameSync(file, earlier);
      handle = openSync(file, 'a+', 0o600);
    }
    syncFolder(dirname(file));
  } catch (error) {
    throw report(error);
  }
  return {
    payments,
    append(entry) {
      const payment = applyEntry(payments.get(entry.id), entry);
      const { size } = fstatSync(handle);
      try {
        const line = Buffer.from(`${JSON.stringify(entry)}\n`);
        if (writeSync(handle, line) < line.length) throw new Error('the disk is full');
        fsyncSync(handle);
      } catch (error) {
        // Half a line would damage the journal.
        ftruncateSync(handle, size);
        throw report(error);
      }
      payments.set(entry.id, payment);
    },
    close: () => closeSync(handle),
  };
}

/**
 * Synchronises the journal and the catalogue of a payer: steps that the catalogue lacks are restored to it, and
 * payments that only it knows as open or finished are copied to the journal.
 */
export async function recoverPayments(journal: Journal, ledger: Ledger, payer: string, at: string): Promise<void> {
  const ahead = await ledger.restore([...journal.payments.values()]);
  const unknown = (await ledger.listOpen(payer)).filter(({ id }) => !journal.payments.has(id));
  for (const payment of [...ahead, ...unknown]) {
    journal.append({ id: payment.id, at, event: { step: 'copied', payment } });
  }
}

/** Reads the lines of a journal into `payments`. Returns the size up to the end of the last valid line, in bytes. */
function readLines(file: string, payments: Map<string, Payment>): number {
  const bytes = readFileSync(file);
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0) break;
    const entry = parseLine(bytes.toString('utf8', start, end));
    if (!entry) {
      if (end + 1 === bytes.length) break;
      throw new ServiceError('unavailable', `The payer's journal ${file} is damaged: a line cannot be read.`, {
        hint: 'Nothing is paid until it is repaired: restore a copy of it, or remove the line once its payment is settled.',
        reason: 'journal_damaged',
      });
    }
    payments.set(entry.id, applyEntry(payments.get(entry.id), entry));
    start = end + 1;
  }
  return start;
}

function parseLine(line: string): PaymentEntry | undefined {
  try {
    return paymentEntry.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function applyEntry(before: Payment | undefined, { id, at, event }: PaymentEntry): Payment {
  if (event.step === 'copied') return event.payment;
  if (event.step === 'prepared' && !before) return buildPayment(event.attempt);
  if (event.step !== 'prepared' && before) return applyStep(before, event, at);
  throw new ServiceError(
    'conflict',
    `The step "${event.step}" of the payment ${id} does not follow from the payer's journal.`,
    {
      hint: 'Run the command again: it synchronises journal and catalogue first.',
      reason: 'wrong_state',
    },
  );
}

/** Writes a folder to disk: a new file is only safe when its directory entry is. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function reportFailure(file: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('unavailable', `The payer's journal ${file} cannot be written: ${getErrorMessage(error)}.`, {
    hint: 'Check the disk and the permissions of its folder; PAYER_FOLDER sets another folder.',
    reason: 'journal_failed',
    cause: error,
  });
}
