import { ServiceError } from '../errors.ts';
import type { ChangeKind } from '../model/change.ts';
import { DAY_MS, HOUR_MS } from '../model/duration.ts';
import type { JsonObject } from '../model/json.ts';
import { type Catalogue, insertRows, refuseWithin, runTransaction } from './database.ts';

/** A change before it has a revision and a time. */
export interface NewChange {
  listing_id: string;
  kind: ChangeKind;
  reason: string;
  detail: JsonObject;
}

/** An open write transaction. */
export interface Writing {
  /** The catalogue within the transaction. */
  readonly catalogue: Catalogue;
  /** Time of the write, ISO 8601 UTC. */
  readonly at: string;
  /** The revision of changes that are recorded in this transaction. */
  readonly revision: number;
  /** Records changes in the log, in their order. */
  recordChanges(changes: readonly NewChange[]): Promise<void>;
  /** Raises the revision without a recorded change, for visible changes that are not of a listing. */
  raiseRevision(): void;
}

/** Check of a write's time. `urgent`: never refused, because facts about a payment must not be lost. */
type WriteKind = 'checked' | 'urgent';

/** Largest deviation of a clock from the known time, in milliseconds: an hour behind or a year ahead. */
export const BEHIND_MS = HOUR_MS;
const AHEAD_MS = 366 * DAY_MS;

/**
 * Runs `work` in the only kind of write transaction, and returns its result. The first statement locks the row of the revision,
 * so that writes run one after the other, on whatever process or machine. If `work` recorded a change or raised the revision, the
 * revision goes up by one. If it throws, nothing is written. `wantedAt` is the time of the write, ISO 8601 UTC; if it is before
 * the last revision, the time of that revision is used. Throws `refused` (`wrong_clock`) for a time that cannot be right, unless
 * the catalogue was opened without this check.
 */
export async function writeCatalogue<Result>(
  outer: Catalogue,
  wantedAt: string,
  work: (writing: Writing) => Result | Promise<Result>,
  kind: WriteKind = 'checked',
): Promise<Result> {
  // Called here so that a write within a write throws at once, and does not wait for itself.
  const { engine } = refuseWithin(outer);
  return await engine.queue(() => runWrite(outer, wantedAt, work, kind));
}

async function runWrite<Result>(
  outer: Catalogue,
  wantedAt: string,
  work: (writing: Writing) => Result | Promise<Result>,
  kind: WriteKind,
): Promise<Result> {
  return await runTransaction(outer, async (catalogue) => {
    const { query } = catalogue;
    const state = await query
      .updateTable('catalogue')
      .set(({ ref }) => ({ revision: ref('revision') }))
      .returning(['revision', 'revised_at', catalogue.engine.clock.as('clock')])
      .executeTakeFirstOrThrow();
    const isWrong = catalogue.checksClock && isWrongTime(wantedAt, state);
    if (isWrong && kind === 'checked') throw buildWrongClock(wantedAt, state);
    // Writing a time far ahead would make all later writes be refused.
    const time = isWrong ? getKnownTime(state) : wantedAt;
    const revision = state.revision + 1;
    // A process that waited for the lock has an earlier time than the write before it. Times never go backwards, except in a
    // catalogue that was just created.
    const goesBack = kind === 'checked' && state.revision === 0;
    const at = time < state.revised_at && !goesBack ? state.revised_at : time;
    let changed = false;
    const result = await work({
      catalogue,
      at,
      revision,
      recordChanges: async (changes) => {
        changed ||= changes.length > 0;
        const rows = changes.map((change) => ({ ...change, detail: JSON.stringify(change.detail), revision, at }));
        await insertRows(catalogue, 'changes', rows);
      },
      raiseRevision: () => {
        changed = true;
      },
    });
    if (changed) {
      await query.updateTable('catalogue').set({ revision, revised_at: at }).execute();
      await query.insertInto('revisions').values({ revision, at }).execute();
      await showRounds(catalogue, revision);
    }
    return result;
  });
}

/** The times that a write is compared with: that of the last revision, and that of the database's clock (null for a file). */
type KnownTime = Omit<CatalogueState, 'identity'> & { readonly clock: number | null };

/** Returns the time that other times are compared with, ISO 8601 UTC. */
function getKnownTime({ revised_at, clock }: KnownTime): string {
  return clock === null ? revised_at : new Date(clock).toISOString();
}

/**
 * Returns true if a time cannot be right: more than an hour before the last revision of a file, or more than a year after it. In
 * PostgreSQL it is compared with the database's clock, from which no machine may differ by more than an hour. A file without a
 * revision accepts any time.
 */
function isWrongTime(wantedAt: string, known: KnownTime): boolean {
  if (known.clock === null && known.revision === 0) return false;
  const ahead = Date.parse(wantedAt) - Date.parse(getKnownTime(known));
  return ahead < -BEHIND_MS || ahead > (known.clock === null ? AHEAD_MS : BEHIND_MS);
}

function buildWrongClock(wantedAt: string, known: KnownTime): ServiceError {
  const isFile = known.clock === null;
  const other = `${isFile ? 'the catalogue was last written' : 'the clock of the database says'} ${getKnownTime(known)}`;
  return new ServiceError('refused', `The clock of this machine says ${wantedAt}, and ${other}.`, {
    hint: `Nothing was written. Set the clock that is wrong.${isFile ? OTHERWISE : ''}`,
    reason: 'wrong_clock',
  });
}

/** Advice for a file whose last write has a time far from now. */
const OTHERWISE =
  ' If that of this machine is right, restore a backup from before the other one wrote, or, where nobody wrote for over a year, import into a new catalogue.';

/** Returns true if a write was refused because its time cannot be right. */
export function isWrongClock(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.reason === 'wrong_clock';
}

/** Makes the latest judgement of rounds visible to readers. */
async function showRounds({ query }: Catalogue, revision: number): Promise<void> {
  await query
    .updateTable('rounds')
    .set(({ ref }) => ({
      shown_hosts: ref('hosts'),
      shown_failing: ref('failing'),
      shown_ours: ref('ours'),
      revision,
      pending: 0,
    }))
    .where('pending', '=', 1)
    .execute();
}

/** The identity of a catalogue, and its latest revision. */
export interface CatalogueState {
  readonly identity: string;
  readonly revision: number;
  /** Time of the latest revision, ISO 8601 UTC. */
  readonly revised_at: string;
}

/** Returns the identity of the catalogue, its revision and the time of the revision. */
export async function getCatalogueState({ query }: Catalogue): Promise<CatalogueState> {
  return await query.selectFrom('catalogue').select(['identity', 'revision', 'revised_at']).executeTakeFirstOrThrow();
}

/** Returns the catalogue's revision: the number of reader-visible changes so far. */
export async function getRevision(catalogue: Catalogue): Promise<number> {
  return (await getCatalogueState(catalogue)).revision;
}
