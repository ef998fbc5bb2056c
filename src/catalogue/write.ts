import type { ChangeKind } from '../model/change.ts';
import type { JsonObject } from '../model/json.ts';
import { type Catalogue, findRowBy, runStatement } from './database.ts';

/** A change before it has a revision and a time. */
export interface NewChange {
  listing_id: string;
  kind: ChangeKind;
  reason: string;
  detail: JsonObject;
}

/** An open write transaction. */
export interface Writing {
  readonly catalogue: Catalogue;
  /** Time of the write, ISO 8601 UTC. */
  readonly at: string;
  /** The revision that changes recorded in this transaction carry. */
  readonly revision: number;
  recordChange(change: NewChange): void;
  /** Raises the revision although no change is recorded, for what readers see of other things than listings. */
  raiseRevision(): void;
}

/**
 * Runs `work` in the only kind of write transaction that there is, and returns its result. If `work` recorded a change or
 * raised the revision, the revision goes up by one. If it throws, nothing is written. `wantedAt` is the time of the
 * write, ISO 8601 UTC; if it is before the last revision, the time of that revision counts.
 */
export function writeCatalogue<Result>(
  catalogue: Catalogue,
  wantedAt: string,
  work: (writing: Writing) => Result,
): Result {
  return catalogue.sqlite
    .transaction(() => {
      const state = getCatalogueState(catalogue);
      const revision = state.revision + 1;
      // A process that waited for the lock has an older time than the write before it. Times never go backwards.
      const at = wantedAt < state.revised_at ? state.revised_at : wantedAt;
      let changed = false;
      const result = work({
        catalogue,
        at,
        revision,
        recordChange: (change) => {
          changed = true;
          const row = { ...change, detail: JSON.stringify(change.detail), revision, at };
          runStatement(catalogue, catalogue.query.insertInto('changes').values(row));
        },
        raiseRevision: () => {
          changed = true;
        },
      });
      if (changed) {
        runStatement(catalogue, catalogue.query.updateTable('catalogue').set({ revision, revised_at: at }));
        runStatement(catalogue, catalogue.query.insertInto('revisions').values({ revision, at }));
        showRounds(catalogue, revision);
      }
      return result;
    })
    .immediate();
}

/** Makes visible to readers how rounds were last judged. */
function showRounds({ sqlite, statements }: Catalogue, revision: number): void {
  const sql = `UPDATE rounds SET shown_hosts = hosts, shown_failing = failing, shown_ours = ours, revision = ?, pending = 0
    WHERE pending = 1`;
  const statement = statements.get(sql) ?? sqlite.prepare(sql);
  statements.set(sql, statement);
  statement.run(revision);
}

/** Returns the catalogue's revision: how often readers saw something change. */
export function getRevision(catalogue: Catalogue): number {
  return findRowBy<{ revision: number }>(catalogue, 'SELECT revision FROM catalogue')?.revision ?? 0;
}

/** The identity of a catalogue, and its place in its history. */
export interface CatalogueState {
  readonly identity: string;
  readonly revision: number;
  /** Time of the latest revision, ISO 8601 UTC. */
  readonly revised_at: string;
}

/** Returns the identity of the catalogue, its revision and the time of that. */
export function getCatalogueState(catalogue: Catalogue): CatalogueState {
  const row = findRowBy<CatalogueState>(catalogue, 'SELECT identity, revision, revised_at FROM catalogue');
  return row ?? { identity: '', revision: 0, revised_at: '' };
}

/** Finds the time of a revision, ISO 8601 UTC; undefined if the catalogue never had it. */
export function findRevisionTime(catalogue: Catalogue, revision: number): string | undefined {
  return findRowBy<{ at: string }>(catalogue, 'SELECT at FROM revisions WHERE revision = ?', revision)?.at;
}
