import type { Catalogue } from '../src/catalogue/database.ts';
import type { Change, ChangeKind } from '../src/model/change.ts';

/** Lists the changes of all listings after revision `since`, oldest first. */
export async function listAllChanges({ query }: Catalogue, since = 0): Promise<Change[]> {
  const rows = await query
    .selectFrom('changes')
    .innerJoin('listings', 'listings.id', 'changes.listing_id')
    .select(['changes.revision', 'changes.at', 'listings.slug', 'changes.listing_id'])
    .select(['changes.kind', 'changes.reason', 'changes.detail'])
    .where('changes.revision', '>', since)
    .orderBy('changes.revision')
    .orderBy('changes.seq')
    .execute();
  return rows.map((row) => ({ ...row, kind: row.kind as ChangeKind, detail: JSON.parse(row.detail) }));
}
