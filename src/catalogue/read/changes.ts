import type { Change, ChangeKind } from '../../model/change.ts';
import type { Catalogue } from '../database.ts';

/**
 * Lists the latest `limit` reader-visible changes of a listing after revision `since`, oldest first; only those of the given
 * `kinds`, if any are given.
 */
export async function listChanges(
  { query }: Catalogue,
  slug: string,
  { since = 0, limit = 1000, kinds }: { since?: number; limit?: number; kinds?: readonly ChangeKind[] } = {},
): Promise<Change[]> {
  let changes = query
    .selectFrom('changes')
    .innerJoin('listings', 'listings.id', 'changes.listing_id')
    .select(['changes.revision', 'changes.at', 'listings.slug', 'changes.listing_id'])
    .select(['changes.kind', 'changes.reason', 'changes.detail'])
    .where('listings.slug', '=', slug)
    .where('changes.revision', '>', since)
    .orderBy('changes.seq', 'desc')
    .limit(limit);
  if (kinds !== undefined) changes = changes.where('changes.kind', 'in', kinds);
  const rows = (await changes.execute()).reverse();
  return rows.map((row) => ({ ...row, kind: row.kind as ChangeKind, detail: JSON.parse(row.detail) }));
}
