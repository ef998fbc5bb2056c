import { isDeepStrictEqual } from 'node:util';
import { keepWords } from '../../evidence/declarations.ts';
import type { Declaration } from '../../model/declaration.ts';
import { getListingId } from '../../model/ids.ts';
import type { DeclarationSource } from '../../model/source.ts';
import type { Catalogue } from '../database.ts';

/** Number of declarations read at a time. */
const READ_AT_ONCE = 100;

/** Finds the latest time at which a source saw any listing that it ever declared; null if none has a date. */
export async function findLatestSighting(
  { query }: Catalogue,
  { kind, name }: Pick<DeclarationSource, 'kind' | 'name'>,
): Promise<string | null> {
  let latest: string | null = null;
  for (let after = ''; ; ) {
    const rows = await query
      .selectFrom('declarations')
      .select(['listing_id', 'document'])
      .where('kind', '=', kind)
      .where('source', '=', name)
      .where('listing_id', '>', after)
      .orderBy('listing_id')
      .limit(READ_AT_ONCE)
      .execute();
    for (const { document } of rows)
      latest = getLater(latest, (JSON.parse(document) as Declaration).source.observed_at);
    const last = rows.at(-1);
    if (!last) return latest;
    after = last.listing_id;
  }
}

/** Returns the later of two times; null if neither is known. */
export function getLater(some: string | null, other: string | null): string | null {
  return (some ?? '') > (other ?? '') ? some : other;
}

/** The part of a snapshot that is recorded even if newer declarations of the same feed exist. */
export interface Reconciled {
  declarations: Declaration[];
  /** Number of listings for which the newer declaration stays. */
  kept: number;
  /** Number of listings left out, because the feed no longer had them at a later time. */
  left_out: number;
}

/**
 * Merges a snapshot of a feed with newer declarations of that feed: the newer ones stay, and get only words that they lack. With
 * `isOlder` the whole snapshot is older than the record, and listings that the feed has not declared are left out, too.
 */
export async function keepNewerDeclarations(
  { query }: Catalogue,
  { kind, name }: Pick<DeclarationSource, 'kind' | 'name'>,
  declarations: readonly Declaration[],
  isOlder: boolean,
): Promise<Reconciled> {
  const reconciled: Reconciled = { declarations: [], kept: 0, left_out: 0 };
  for (let start = 0; start < declarations.length; start += READ_AT_ONCE) {
    const batch = declarations.slice(start, start + READ_AT_ONCE);
    const ids = batch.map(({ base_url }) => getListingId(base_url));
    const rows = await query
      .selectFrom('declarations')
      .select(['listing_id', 'document', 'withdrawn_at'])
      .where('kind', '=', kind)
      .where('source', '=', name)
      .where('listing_id', 'in', ids)
      .execute();
    for (const [at, declaration] of batch.entries()) {
      const row = rows.find(({ listing_id }) => listing_id === ids[at]);
      const recorded: Declaration | undefined = row && JSON.parse(row.document);
      const isLater = recorded && (recorded.source.observed_at ?? '') > (declaration.source.observed_at ?? '');
      // A newer snapshot without the route with the latest date is not older: the route was removed.
      const isNewer = isLater && (isOlder || !isPartOf(declaration, recorded));
      if (recorded ? isNewer && row?.withdrawn_at !== null : isOlder) reconciled.left_out += 1;
      else if (recorded && isNewer) {
        reconciled.declarations.push(keepWords(recorded, declaration));
        reconciled.kept += 1;
      } else reconciled.declarations.push(declaration);
    }
  }
  return reconciled;
}

/** Returns true if a declaration has only routes that another one has with the same terms. */
function isPartOf({ routes }: Declaration, whole: Declaration): boolean {
  return routes.every(({ method, path, terms }) =>
    whole.routes.some((one) => one.method === method && one.path === path && isDeepStrictEqual(one.terms, terms)),
  );
}
