import type { Change } from '../model/change.ts';
import { CHANGE_COLUMNS, type ChangeRow, parseChange, selectChanges } from './changes.ts';
import { type Catalogue, findRow, iterateRowsBy, listRows, listRowsBy } from './database.ts';

/** A change with its place in the log, which nothing moves. */
export type LoggedChange = Change & { seq: number };

/** A place in the log, and what stands there: enough to tell it from the same place in another log. */
export type LogPlace = Pick<LoggedChange, 'seq' | 'revision' | 'at' | 'listing_id' | 'kind'>;

/** Finds the last change that was visible at a revision, or the one at a place; undefined where there is none. */
export function findLogPlace(
  catalogue: Catalogue,
  where: { upToRevision: number } | { seq: number },
): LogPlace | undefined {
  const query = catalogue.query.selectFrom('changes').select(['seq', 'revision', 'at', 'listing_id', 'kind']);
  const found =
    'seq' in where
      ? query.where('seq', '=', where.seq)
      : query.where('revision', '<=', where.upToRevision).orderBy('revision', 'desc').orderBy('seq', 'desc').limit(1);
  return findRow(catalogue, found) as LogPlace | undefined;
}

/** Lists the first `limit` changes behind the place `after`, one by one. */
export function listLog(catalogue: Catalogue, { after, limit }: { after: number; limit: number }): LoggedChange[] {
  const query = selectChanges(catalogue)
    .select('changes.seq')
    .where('changes.seq', '>', after)
    .orderBy('changes.seq')
    .limit(limit);
  return listRows(catalogue, query).map(parseChange);
}

/** Lists, of the changes behind `after` and up to `upTo`, the first `limit` that no later one of their subject supersedes. */
export function listLatestChanges(
  catalogue: Catalogue,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): LoggedChange[] {
  const query = selectChanges(catalogue)
    .innerJoin('latest_changes', 'latest_changes.seq', 'changes.seq')
    .select('changes.seq')
    .where('latest_changes.seq', '>', after)
    .where('latest_changes.seq', '<=', upTo)
    .orderBy('latest_changes.seq')
    .limit(limit);
  return listRows(catalogue, query).map(parseChange);
}

/** Lists the first `limit` telling changes behind a place. */
export function listTellingChanges(
  catalogue: Catalogue,
  { after, limit }: { after: LogPlace | undefined; limit: number },
): LoggedChange[] {
  const query = selectTelling(catalogue)
    .where('changes.revision', '>=', after?.revision ?? 0)
    .where('changes.seq', '>', after?.seq ?? 0)
    .orderBy('changes.revision')
    .orderBy('changes.seq')
    .limit(limit);
  return listRows(catalogue, query).map(parseChange);
}

/** Lists the latest `limit` telling changes, in the order they happened. */
export function listLatestTellingChanges(catalogue: Catalogue, limit: number): LoggedChange[] {
  const query = selectTelling(catalogue)
    .orderBy('changes.revision', 'desc')
    .orderBy('changes.seq', 'desc')
    .limit(limit);
  return listRows(catalogue, query).map(parseChange).reverse();
}

const TELLING_OF = `SELECT ${CHANGE_COLUMNS}
  FROM changes c JOIN listings l ON l.id = c.listing_id
  WHERE c.telling = 1 AND c.revision = ? ORDER BY c.seq`;

/** Lists the telling changes that one revision brought, in the order they happened. */
export function listTellingChangesOf(catalogue: Catalogue, revision: number): Change[] {
  // One that brought in thousands of listings is read row by row: all rows at once take several times what is kept of them.
  return Array.from(iterateRowsBy<ChangeRow>(catalogue, TELLING_OF, revision), parseChange);
}

const TELLING_REVISIONS = `SELECT DISTINCT revision FROM changes
  WHERE telling = 1 AND revision <= ? ORDER BY revision DESC LIMIT ?`;

/** Lists the newest revisions, no later than `until`, that brought telling changes, the newest first. */
export function listTellingRevisions(
  catalogue: Catalogue,
  { until, limit }: { until: number; limit: number },
): number[] {
  const rows = listRowsBy<{ revision: number }>(catalogue, TELLING_REVISIONS, until, limit);
  return rows.map(({ revision }) => revision);
}

/** Only where the value is written out does SQLite know that the index of telling changes has all that is asked for. */
function selectTelling(catalogue: Catalogue) {
  return selectChanges(catalogue)
    .select('changes.seq')
    .where(({ eb }) => eb('changes.telling', '=', eb.lit(1)));
}
