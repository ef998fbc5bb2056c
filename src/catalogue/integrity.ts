import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { canPublicationWait } from '../evidence/freshness.ts';
import { getListingNames } from '../evidence/names.ts';
import type { Listing } from '../model/listing.ts';
import type { Catalogue } from './database.ts';
import { EVIDENCE_AT_ONCE, type RecordedEvidence, readEvidence } from './read/evidence.ts';
import type { ListingIdentity } from './read/listings.ts';
import type { ListingsTable } from './tables.ts';
import { BEHIND_MS, getRevision } from './transaction.ts';
import { type NameIndex, readNames } from './write/names.ts';
import { buildListingColumns, derive, merge } from './write/publication.ts';
import { listRecordedTerms } from './write/terms.ts';

/** A listing whose published document differs from the one derived from its evidence, with the differing fields. */
export interface StaleListing extends ListingIdentity {
  fields: string[];
}

/**
 * Derives each listing again from its evidence, and lists by slug those that differ from what readers see. Listings with
 * unpublished samples are left out, and those in which only times and counts differ.
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
    const evidence = await readEvidence(catalogue, rows.map(getIdentity));
    const published = [...evidence.values()].flatMap(({ before }) => before ?? []);
    const names = await readNames(
      catalogue,
      published.map((listing) => ({ id: listing.id, names: getListingNames({ ...listing, is_named: true }) })),
    );
    for (const row of rows) {
      const record = evidence.get(row.id);
      const fields = record?.before ? listWrongFields(row, record, names, waiting.has(row.id)) : ['document'];
      if (fields.length > 0) stale.push({ ...getIdentity(row), fields });
    }
    last = rows.at(-1)?.slug ?? '';
    if (rows.length < EVIDENCE_AT_ONCE) return stale;
  }
}

function getIdentity({ id, slug, base_url }: ListingIdentity): ListingIdentity {
  return { id, slug, base_url };
}

/** Lists the fields of a published listing that differ from its evidence, and its columns that differ from its document. */
function listWrongFields(
  row: Omit<ListingsTable, 'number'>,
  record: RecordedEvidence,
  names: NameIndex,
  isWaiting: boolean,
): string[] {
  const published = record.before as Listing;
  const derived = derive(record, listRecordedTerms(record.terms), names, merge(record));
  const facts = new Map<string, unknown>(Object.entries(published));
  const fields = Object.entries(derived).filter(([field, value]) => !isDeepStrictEqual(facts.get(field), value));
  const { document: _document, ...columns } = buildListingColumns(published);
  const wrong = Object.entries(columns).filter(([name, value]) => row[name as keyof typeof columns] !== value);
  const stale = isWaiting || canPublicationWait(published, derived) ? [] : fields;
  return [...new Set([...stale, ...wrong].map(([name]) => name))];
}

/** Lists the ids of the listings with unpublished samples. */
async function listUnpublished({ query }: Catalogue): Promise<string[]> {
  const rows = await query
    .selectFrom('probe_targets')
    .select('listing_id')
    .where('unpublished', '=', sql.lit(1))
    .execute();
  return rows.map(({ listing_id }) => listing_id);
}

/** Returns true if the catalogue's revision is the latest one in the table of revisions. */
export async function isRevisionConsistent(catalogue: Catalogue): Promise<boolean> {
  const row = await catalogue.query
    .selectFrom('revisions')
    .select(({ fn }) => fn.max<number | null>('revision').as('latest'))
    .executeTakeFirst();
  return (row?.latest ?? 0) === (await getRevision(catalogue));
}

/**
 * Returns the number of revisions that are dated more than an hour after a time (ISO 8601 UTC), and the latest of their times.
 */
export async function countFuture({ query }: Catalogue, at: string): Promise<{ count: number; latest: string | null }> {
  return await query
    .selectFrom('revisions')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.max<string | null>('at').as('latest')])
    .where('at', '>', new Date(Date.parse(at) + BEHIND_MS).toISOString())
    .executeTakeFirstOrThrow();
}
