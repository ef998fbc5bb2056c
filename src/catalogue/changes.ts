import type { Change, ChangeKind } from '../model/change.ts';
import { type Catalogue, listRows } from './database.ts';

/** Which changes to list. */
export interface ListedChanges {
  slug?: string;
  since?: number;
  limit?: number;
  kinds?: readonly ChangeKind[];
}

/** A change with its place in the log. */
export type LoggedChange = Change & { seq: number };

/**
 * Lists the changes that became visible after the revision `since` and no later than `until`, in the order they happened:
 * the first `limit` behind the place `after` in the log (0: from the beginning).
 */
export function listChangesAfter(
  catalogue: Catalogue,
  { since, until, after, limit }: { since: number; until: number; after: number; limit: number },
): LoggedChange[] {
  // Whoever goes on with a list begins at the revision it had come to, not at its beginning.
  const place = catalogue.query.selectFrom('changes').select('revision').where('seq', '=', after);
  const query = selectChanges(catalogue)
    .select('changes.seq')
    .where(({ eb, fn, val }) =>
      eb('changes.revision', '>=', fn<number>('max', [val(since + 1), fn.coalesce(place, val(0))])),
    )
    .where('changes.revision', '<=', until)
    .where('changes.seq', '>', after)
    .orderBy('changes.revision')
    .orderBy('changes.seq')
    .limit(limit);
  return listRows(catalogue, query).map(parseChange);
}

/**
 * Lists reader-visible changes in the order they happened: of one listing the latest `limit`, or the first after a
 * revision; of some `kinds` alone, where these are given.
 */
export function listChanges(catalogue: Catalogue, { slug, since = 0, limit = 1000, kinds }: ListedChanges): Change[] {
  const listed = selectChanges(catalogue).where('changes.revision', '>', since).limit(limit);
  let query =
    slug === undefined
      ? listed.orderBy('changes.revision').orderBy('changes.seq')
      : listed.where('listings.slug', '=', slug).orderBy('changes.seq', 'desc');
  if (kinds !== undefined) query = query.where('changes.kind', 'in', kinds);
  const rows = listRows(catalogue, query);
  return (slug === undefined ? rows : rows.reverse()).map(parseChange);
}

/** Lists the newest revisions, no later than `until`, in which there are changes of these kinds, the newest first. */
export function listNewsRevisions(
  catalogue: Catalogue,
  { kinds, until, limit }: { kinds: readonly ChangeKind[]; until: number; limit: number },
): number[] {
  const query = catalogue.query
    .selectFrom('changes')
    .select('revision')
    .distinct()
    .where('kind', 'in', kinds)
    .where('revision', '<=', until)
    .orderBy('revision', 'desc')
    .limit(limit);
  return listRows(catalogue, query).map(({ revision }) => revision);
}

/** Lists the changes of some kinds that one revision brought, in the order they happened. */
export function listRevisionChanges(catalogue: Catalogue, revision: number, kinds: readonly ChangeKind[]): Change[] {
  const query = selectChanges(catalogue)
    .where('changes.revision', '=', revision)
    .where('changes.kind', 'in', kinds)
    .orderBy('changes.seq');
  return listRows(catalogue, query).map(parseChange);
}

/** The log in its order is in that of its revisions, so what asks by revision is read in the order of their index. */
function selectChanges(catalogue: Catalogue) {
  return catalogue.query
    .selectFrom('changes')
    .innerJoin('listings', 'listings.id', 'changes.listing_id')
    .select([
      'changes.revision',
      'changes.at',
      'listings.slug',
      'changes.listing_id',
      'changes.kind',
      'changes.reason',
      'changes.detail',
    ]);
}

function parseChange<Row extends { kind: string; detail: string }>(row: Row) {
  return { ...row, kind: row.kind as Change['kind'], detail: JSON.parse(row.detail) };
}
