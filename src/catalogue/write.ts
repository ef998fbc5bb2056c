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

/** An open write transaction: the catalogue, the time of the write, and the revision its changes will carry. */
export interface Writing {
  readonly catalogue: Catalogue;
  readonly at: string;
  /** What `changes` recorded in this transaction will be visible as. */
  readonly revision: number;
  recordChange(change: NewChange): void;
  /** Raises the revision for what readers see changed without a change of a listing. */
  raiseRevision(): void;
}

/**
 * Runs `work` in the one kind of write transaction there is. If it recorded a change or raised the revision, that
 * goes up by one and all its changes carry it; if not, nothing that readers see has moved. All or nothing: a throw leaves no trace.
 * `wantedAt` is ISO 8601 UTC; what is recorded is never earlier than the change before.
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
      // Whoever waited for the lock took its time before another's write did: times never go backwards.
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

/** Lets readers see the rounds as they were last judged. */
function showRounds({ sqlite, statements }: Catalogue, revision: number): void {
  const sql = `UPDATE rounds SET shown_hosts = hosts, shown_failing = failing, shown_ours = ours, revision = ?, pending = 0
    WHERE pending = 1`;
  const statement = statements.get(sql) ?? sqlite.prepare(sql);
  statements.set(sql, statement);
  statement.run(revision);
}

/** Gives the catalogue's revision: how often what readers see has changed. */
export function getRevision(catalogue: Catalogue): number {
  return findRowBy<{ revision: number }>(catalogue, 'SELECT revision FROM catalogue')?.revision ?? 0;
}

/** Which catalogue it is, and where in its history. */
export interface CatalogueState {
  readonly identity: string;
  readonly revision: number;
  /** Time of the latest reader-visible change, ISO 8601 UTC. */
  readonly revised_at: string;
}

/** Gives the catalogue's name, its revision and the time of the latest reader-visible change. */
export function getCatalogueState(catalogue: Catalogue): CatalogueState {
  const row = findRowBy<CatalogueState>(catalogue, 'SELECT identity, revision, revised_at FROM catalogue');
  return row ?? { identity: '', revision: 0, revised_at: '' };
}

/** Finds the time of a revision, ISO 8601 UTC; undefined where the catalogue never had one of that number. */
export function findRevisionTime(catalogue: Catalogue, revision: number): string | undefined {
  return findRowBy<{ at: string }>(catalogue, 'SELECT at FROM revisions WHERE revision = ?', revision)?.at;
}
