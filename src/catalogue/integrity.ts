import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { canPublicationWait } from '../evidence/freshness.ts';
import type { Listing } from '../model/listing.ts';
import type { Catalogue } from './database.ts';
import { EVIDENCE_AT_ONCE, readEvidence } from './read/evidence.ts';
import type { ListingIdentity } from './read/listings.ts';
import { getRevision } from './transaction.ts';
import { openNameBook } from './write/names.ts';
import { buildListingColumns, derive } from './write/publication.ts';
import { listRecordedTerms } from './write/terms.ts';

/** A listing whose published document differs from what its evidence gives, and the fields that differ. */
export interface StaleListing extends ListingIdentity {
  fields: string[];
}

/**
 * Derives each listing again from its evidence, and lists those of which readers see something else, by slug. Listings with
 * samples that are not published yet are left out, and so are those of which only times and counts differ.
 */
export async function listStaleListings(catalogue: Catalogue): Promise<StaleListing[]> {
  const waiting = new Set(await listUnpublished(catalogue));
  const stale: StaleListing[] = [];
  for (let last = ''; ; ) {
    const rows = await catalogue.query
      .selectFrom('listings')
      .selectAll()
      .where('slug', '>', last)
      .orderBy('slug')
      .limit(EVIDENCE_AT_ONCE)
      .execute();
    const identities = rows.map(({ id, slug, base_url }) => ({ id, slug, base_url }));
    const evidence = await readEvidence(catalogue, identities);
    const names = await openNameBook(
      catalogue,
      rows.flatMap(({ document, ...row }) => (document === '{}' ? [] : { ...row, ...nameOf(JSON.parse(document)) })),
    );
    for (const [at, row] of rows.entries()) {
      const identity = identities[at] as ListingIdentity;
      const record = evidence.get(row.id);
      if (!record?.before) {
        stale.push({ ...identity, fields: ['document'] });
        continue;
      }
      const published = record.before;
      const { listing: derived } = derive(record, listRecordedTerms(record.terms), names);
      const facts = new Map<string, unknown>(Object.entries(published));
      const differing = Object.entries(derived).filter(([field, value]) => !isDeepStrictEqual(facts.get(field), value));
      const fields =
        waiting.has(row.id) || canPublicationWait(published, derived) ? [] : differing.map(([name]) => name);
      const { document: _document, ...columns } = buildListingColumns(published);
      const wrong = Object.entries(columns).filter(([name, value]) => row[name as keyof typeof columns] !== value);
      const different = [...new Set([...fields, ...wrong.map(([name]) => name)])];
      if (different.length > 0) stale.push({ ...identity, fields: different });
    }
    last = rows.at(-1)?.slug ?? '';
    if (rows.length < EVIDENCE_AT_ONCE) return stale;
  }
}

function nameOf({ title, provider_name }: Listing) {
  return { title, provider_name };
}

/** Lists the ids of the listings with samples that are not published yet. */
async function listUnpublished({ query }: Catalogue): Promise<string[]> {
  const rows = await query
    .selectFrom('probe_targets')
    .select('listing_id')
    .where('unpublished', '=', sql.lit(1))
    .execute();
  return rows.map(({ listing_id }) => listing_id);
}

/** Returns whether the catalogue's revision is the latest one with a time on record. */
export async function isRevisionConsistent(catalogue: Catalogue): Promise<boolean> {
  const row = await catalogue.query
    .selectFrom('revisions')
    .select(({ fn }) => fn.max<number | null>('revision').as('latest'))
    .executeTakeFirst();
  return (row?.latest ?? 0) === (await getRevision(catalogue));
}
