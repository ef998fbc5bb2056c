import type { Change, ChangeKind } from '../model/change.ts';
import { type Catalogue, listRows, listRowsBy } from './database.ts';

/** Which changes to list. */
export interface ListedChanges {
  slug?: string;
  since?: number;
  limit?: number;
  kinds?: readonly ChangeKind[];
}

/**
 * Lists the changes that readers see after revision `since`, oldest first. With `slug` these are the latest `limit` of one
 * listing, without it the first `limit` of all. `kinds` leaves out all others.
 */
export function listChanges(catalogue: Catalogue, { slug, since = 0, limit = 1000, kinds }: ListedChanges): Change[] {
  if (slug !== undefined && kinds === undefined) return listLatest(catalogue, { slug, since, limit });
  const listed = selectChanges(catalogue).where('changes.revision', '>', since).limit(limit);
  let query =
    slug === undefined
      ? listed.orderBy('changes.revision').orderBy('changes.seq')
      : listed.where('listings.slug', '=', slug).orderBy('changes.seq', 'desc');
  if (kinds !== undefined) query = query.where('changes.kind', 'in', kinds);
  const rows = listRows(catalogue, query);
  return (slug === undefined ? rows : rows.reverse()).map(parseChange);
}

/** The columns that a change is read from, in a join of changes `c` with listings `l`. */
export const CHANGE_COLUMNS = 'c.revision, c.at, l.slug, c.listing_id, c.kind, c.reason, c.detail';

/** A row of a change. The detail is JSON. */
export type ChangeRow = Omit<Change, 'kind' | 'detail'> & { kind: string; detail: string };

/** Plain SQL, because it runs for each listing whenever all pages are made: building the query takes longer than running it. */
const LATEST = `SELECT ${CHANGE_COLUMNS}
  FROM listings l JOIN changes c ON c.listing_id = l.id
  WHERE l.slug = ? AND c.revision > ? ORDER BY c.seq DESC LIMIT ?`;

function listLatest(
  catalogue: Catalogue,
  { slug, since, limit }: { slug: string; since: number; limit: number },
): Change[] {
  return listRowsBy<ChangeRow>(catalogue, LATEST, slug, since, limit).reverse().map(parseChange);
}

/** Builds a query of changes with the slugs of their listings. Their order by `seq` is also that by revision. */
export function selectChanges(catalogue: Catalogue) {
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

/** Parses the row of a change. */
export function parseChange<Row extends { kind: string; detail: string }>(row: Row) {
  return { ...row, kind: row.kind as Change['kind'], detail: JSON.parse(row.detail) };
}
