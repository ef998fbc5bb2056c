import type { Change } from '../model/change.ts';
import { type Catalogue, listRows } from './database.ts';

/** Lists reader-visible changes in the order they happened: of one listing, or after a revision, `limit` at most. */
export function listChanges(
  catalogue: Catalogue,
  { slug, since = 0, limit = 1000 }: { slug?: string; since?: number; limit?: number },
): Change[] {
  let query = catalogue.query
    .selectFrom('changes')
    .innerJoin('listings', 'listings.id', 'changes.listing_id')
    .where('changes.revision', '>', since)
    .select([
      'changes.revision',
      'changes.at',
      'listings.slug',
      'changes.listing_id',
      'changes.kind',
      'changes.reason',
      'changes.detail',
    ])
    .orderBy('changes.seq')
    .limit(limit);
  if (slug !== undefined) query = query.where('listings.slug', '=', slug);
  return listRows(catalogue, query).map((row) => ({
    ...row,
    kind: row.kind as Change['kind'],
    detail: JSON.parse(row.detail),
  }));
}
