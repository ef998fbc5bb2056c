import { setImmediate } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { isWrongClock, writeCatalogue } from '../catalogue/transaction.ts';
import {
  type RecordedOutcome,
  type RecordingFacts,
  type RecordOutcome,
  recordDeclarations,
} from '../catalogue/write/declarations.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { isAway } from '../model/catalogue-address.ts';
import type { Declaration } from '../model/declaration.ts';
import { getListingId } from '../model/ids.ts';
import { cutText } from '../model/text.ts';

/** Number of declarations in one transaction: readers see them together, and a stop loses at most this many. */
const BATCH_SIZE = 100;

/** Longest error message that is passed on, in UTF-16 units. */
const MESSAGE_LENGTH = 200;

/** SQLite's errors about one row. All other errors are about the database and would affect every row. */
const ROW_CODES = /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)/;

/** PostgreSQL's codes, and those of them about one row: wrong data, a broken rule, a value too long for an index. */
const SQLSTATE = /^[0-9][0-9A-Z]{4}$/;
const ROW_STATES = /^(?:22|23|54)/;

/** The outcome of one declaration. */
export interface DeclarationOutcome {
  declaration: Declaration;
  id: string;
  slug: string;
  outcome: RecordOutcome;
}

/** A declaration that could not be recorded: the id that its listing has or would have, and the reason. */
export interface FailedDeclaration {
  declaration: Declaration;
  id: string;
  /** A stable code, such as `sqlite_constraint_check`. */
  reason: string;
  message: string;
}

export interface Recording {
  recorded: DeclarationOutcome[];
  failed: FailedDeclaration[];
  /** Number of declarations that a stop left unrecorded. */
  left: number;
}

interface RecordingOptions {
  now: () => Date;
  signal: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

/**
 * Records declarations in batches and returns the outcome of each. A declaration that cannot be recorded does not
 * affect the others. Once `signal` is aborted, the current batch is finished and the rest is left. Throws errors of the
 * database itself: disk full, no permission, damage.
 */
export async function recordInBatches(
  catalogue: Catalogue,
  declarations: readonly Declaration[],
  { now, signal, onProgress }: RecordingOptions,
): Promise<Recording> {
  const recorded: DeclarationOutcome[] = [];
  const failed: FailedDeclaration[] = [];
  // One time for all, so that their order does not matter.
  const facts = { heardAt: now().toISOString() };
  let done = 0;
  while (done < declarations.length && !signal.aborted) {
    const batch = declarations.slice(done, done + BATCH_SIZE);
    for (const entry of await recordBatch(catalogue, batch, now, facts)) {
      if ('reason' in entry) failed.push(entry);
      else recorded.push(entry);
    }
    done += batch.length;
    onProgress?.(done, declarations.length);
    // The event loop runs between transactions, so that Ctrl-C works.
    await setImmediate();
  }
  return { recorded, failed, left: declarations.length - done };
}

/** Records a batch in one transaction. If that fails, each declaration gets a transaction of its own. */
async function recordBatch(
  catalogue: Catalogue,
  batch: readonly Declaration[],
  now: () => Date,
  facts: RecordingFacts,
): Promise<(DeclarationOutcome | FailedDeclaration)[]> {
  const record = (declarations: readonly Declaration[]) =>
    writeCatalogue(catalogue, now().toISOString(), async (writing): Promise<DeclarationOutcome[]> => {
      const outcomes = await recordDeclarations(writing, declarations, facts);
      return declarations.map((declaration, at) => {
        const { identity, outcome } = outcomes[at] as RecordedOutcome;
        return { declaration, id: identity.id, slug: identity.slug, outcome };
      });
    });
  try {
    return await record(batch);
  } catch (error) {
    if (!isRowError(error)) throw error;
  }
  const entries: (DeclarationOutcome | FailedDeclaration)[] = [];
  for (const declaration of batch) {
    try {
      entries.push(...(await record([declaration])));
    } catch (error) {
      if (!isRowError(error)) throw error;
      entries.push(buildFailure(error, declaration));
    }
  }
  return entries;
}

/** Returns whether an error is about one declaration and not about the database. */
export function isRowError(error: unknown): boolean {
  if (isAway(error) || isWrongClock(error)) return false;
  const code = findCode(error) ?? '';
  if (code.startsWith('SQLITE_')) return ROW_CODES.test(code);
  return !SQLSTATE.test(code) || ROW_STATES.test(code);
}

/** Builds the failure of a declaration that could not be recorded. */
export function buildFailure(error: unknown, declaration: Declaration): FailedDeclaration {
  const reason = error instanceof ServiceError ? error.reason : (findCode(error)?.toLowerCase() ?? 'internal');
  const message = cutText(getErrorMessage(error), MESSAGE_LENGTH);
  return { declaration, id: getListingId(declaration.base_url), reason, message };
}

function findCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
