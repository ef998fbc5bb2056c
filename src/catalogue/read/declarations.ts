import type { RecordedDeclaration } from '../../evidence/authority.ts';
import type { Declaration } from '../../model/declaration.ts';
import { getCanonicalBaseUrl } from '../../model/listing.ts';
import type { DeclarationSource } from '../../model/source.ts';
import type { Catalogue } from '../database.ts';
import type { ListingIdentity } from './listings.ts';

/** Lists the listings that a source declares, without those it has withdrawn, by slug. */
export async function listDeclared(
  { query }: Catalogue,
  { kind, name }: Pick<DeclarationSource, 'kind' | 'name'>,
): Promise<ListingIdentity[]> {
  return await query
    .selectFrom('declarations')
    .innerJoin('listings', 'listings.id', 'declarations.listing_id')
    .where('kind', '=', kind)
    .where('source', '=', name)
    .where('withdrawn_at', 'is', null)
    .select(['listings.id', 'listings.slug', 'listings.base_url'])
    .orderBy('listings.slug')
    .execute();
}

/** Lists the declarations of a listing by all sources, with the time of their withdrawal. */
export async function listDeclarations({ query }: Catalogue, listingId: string): Promise<RecordedDeclaration[]> {
  const rows = await query
    .selectFrom('declarations')
    .select(['document', 'withdrawn_at', 'heard_at'])
    .where('listing_id', '=', listingId)
    .orderBy('kind')
    .orderBy('source')
    .execute();
  return rows.map(({ document, ...row }) => ({ declaration: JSON.parse(document), ...row }));
}

/** Returns the number of listings that a source declares and has not withdrawn. */
export async function countStandingDeclarations(
  { query }: Catalogue,
  source: Pick<DeclarationSource, 'kind' | 'name'>,
): Promise<number> {
  const row = await query
    .selectFrom('declarations')
    .where('kind', '=', source.kind)
    .where('source', '=', source.name)
    .where('withdrawn_at', 'is', null)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Returns a declaration in its stored form. */
export function formatDeclaration(declaration: Declaration): string {
  return JSON.stringify({ ...declaration, base_url: getCanonicalBaseUrl(declaration.base_url) });
}
