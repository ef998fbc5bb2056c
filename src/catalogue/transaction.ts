import type { ChangeKind } from '../model/change.ts';
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
  /** The revision that changes recorded in this transaction carry. */
  readonly revision: number;
  /** Records changes in the log, in their order. */
  recordChanges(changes: readonly NewChange[]): Promise<void>;
  /** Raises the revision although no change is recorded, for what readers see of other things than listings. */
  raiseRevision(): void;
}

/**
 * Runs `work` in the only kind of write transaction that there is, and returns its result. Its first statement locks the row
 * of the revision, so that one writes after the other, whatever process or machine they are on. If `work` recorded a
 * change or raised the revision, the revision goes up by one. If it throws, nothing is written. `wantedAt` is the time of the
 * write, ISO 8601 UTC; if it is before the last revision, the time of that revision counts.
 */
export async function writeCatalogue<Result>(
  outer: Catalogue,
  wantedAt: string,
  work: (writing: Writing) => Result | Promise<Result>,
): Promise<Result> {
  // Asked for here, so that a write within a write throws at once and does not wait for itself.
  const { engine } = refuseWithin(outer);
  return await engine.queue(() => runWrite(outer, wantedAt, work));
}

async function runWrite<Result>(
  outer: Catalogue,
  wantedAt: string,
  work: (writing: Writing) => Result | Promise<Result>,
): Promise<Result> {
  return await runTransaction(outer, async (catalogue) => {
    const { query } = catalogue;
    const state = await query
      .updateTable('catalogue')
      .set(({ ref }) => ({ revision: ref('revision') }))
      .returning(['revision', 'revised_at'])
      .executeTakeFirstOrThrow();
    const revision = state.revision + 1;
    // A process that waited for the lock has an older time than the write before it. Times never go backwards.
    const at = wantedAt < state.revised_at ? state.revised_at : wantedAt;
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
      await catalogue.engine.announce(query, revision);
    }
    return result;
  });
}

/** Makes visible to readers how rounds were last judged. */
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

/** The identity of a catalogue, and its place in its history. */
export interface CatalogueState {
  readonly identity: string;
  readonly revision: number;
  /** Time of the latest revision, ISO 8601 UTC. */
  readonly revised_at: string;
}

/** Returns the identity of the catalogue, its revision and the time of that. */
export async function getCatalogueState({ query }: Catalogue): Promise<CatalogueState> {
  return await query.selectFrom('catalogue').select(['identity', 'revision', 'revised_at']).executeTakeFirstOrThrow();
}

/** Returns the catalogue's revision: how often readers saw something change. */
export async function getRevision(catalogue: Catalogue): Promise<number> {
  return (await getCatalogueState(catalogue)).revision;
}
