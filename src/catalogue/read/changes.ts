import type { Change, ChangeKind } from '../../model/change.ts';
import type { Catalogue } from '../database.ts';

/** Filter of listed changes. */
export interface ListedChanges {
  slug?: string;
  since?: number;
  limit?: number;
  kinds?: readonly ChangeKind[];
}

/**
 * Lists the reader-visible changes after revision `since`, oldest first: the latest `limit` of the listing with `slug`, or the
 * first `limit` of all listings. Only changes of `kinds` are listed.
 */
export async function listChanges(
  { query }: Catalogue,
  { slug, since = 0, limit = 1000, kinds }: ListedChanges,
): Promise<Change[]> {
  let changes = query
    .selectFrom('changes')
    .innerJoin('listings', 'listings.id', 'changes.listing_id')
    .select(['changes.revision', 'changes.at', 'listings.slug', 'changes.listing_id'])
    .select(['changes.kind', 'changes.reason', 'changes.detail'])
    .where('changes.revision', '>', since)
    .limit(limit);
  if (kinds !== undefined) changes = changes.where('changes.kind', 'in', kinds);
  const rows =
    slug === undefined
      ? await changes.orderBy('changes.revision').orderBy('changes.seq').execute()
      : (await changes.where('listings.slug', '=', slug).orderBy('changes.seq', 'desc').execute()).reverse();
  return rows.map((row) => ({ ...row, kind: row.kind as ChangeKind, detail: JSON.parse(row.detail) }));
}
