import type { Change } from '../model/change.ts';
import { type Catalogue, listRows } from './database.ts';

/** Lists reader-visible changes in the order they happened: of one listing the latest `limit`, or the first after a revision. */
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
    .orderBy('changes.seq', slug === undefined ? 'asc' : 'desc')
    .limit(limit);
  if (slug !== undefined) query = query.where('listings.slug', '=', slug);
  const rows = listRows(catalogue, query);
  return (slug === undefined ? rows : rows.reverse()).map((row) => ({
    ...row,
    kind: row.kind as Change['kind'],
    detail: JSON.parse(row.detail),
  }));
}
