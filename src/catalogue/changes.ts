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
  const query = selectChanges(catalogue)
    .select('changes.seq')
    .where('changes.revision', '>', since)
    .where('changes.revision', '<=', until)
    .where('changes.seq', '>', after)
    .orderBy('changes.seq')
    .limit(limit);
  return listRows(catalogue, query).map(parseChange);
}

/**
 * Lists reader-visible changes in the order they happened: of one listing the latest `limit`, or the first after a
 * revision; of some `kinds` alone, where these are given.
 */
export function listChanges(catalogue: Catalogue, { slug, since = 0, limit = 1000, kinds }: ListedChanges): Change[] {
  let query = selectChanges(catalogue)
    .where('changes.revision', '>', since)
    .orderBy('changes.seq', slug === undefined ? 'asc' : 'desc')
    .limit(limit);
  if (slug !== undefined) query = query.where('listings.slug', '=', slug);
  if (kinds !== undefined) query = query.where('changes.kind', 'in', kinds);
  const rows = listRows(catalogue, query);
  return (slug === undefined ? rows : rows.reverse()).map(parseChange);
}

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
