import { isDeepStrictEqual } from 'node:util';
import Sqlite from 'better-sqlite3';
import { sql } from 'kysely';
import { canPublicationWait } from '../evidence/freshness.ts';
import { isLive, type Listing } from '../model/listing.ts';
import { type Catalogue, listRows } from './database.ts';
import { deriveFromRecord } from './derivation.ts';
import type { ListingIdentity } from './listings.ts';
import { getRevision } from './write.ts';

/**
 * Lists what SQLite itself finds wrong with the file: damaged pages and indexes, and broken references. Empty for a sound
 * file.
 */
export function listDatabaseFaults({ sqlite }: Catalogue): string[] {
  try {
    const damage = sqlite.pragma('integrity_check') as { integrity_check: string }[];
    const faults = damage.map(({ integrity_check }) => integrity_check).filter((line) => line !== 'ok');
    if (faults.length > 0) return faults;
    const references = sqlite.pragma('foreign_key_check') as { table: string; rowid: number; parent: string }[];
    return references.map(({ table, rowid, parent }) => `row ${rowid} of ${table} names no row of ${parent}`);
  } catch (error) {
    // Some damage makes the check itself fail.
    if (error instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)) return [error.message];
    throw error;
  }
}

/** A listing whose published document differs from what its evidence gives, and the fields that differ. */
export interface StaleListing extends ListingIdentity {
  fields: string[];
}

/**
 * Derives each listing again from its evidence, and lists those of which readers see something else. Listings with samples
 * that are not published yet are left out, and so are those of which only times and counts differ.
 */
export function listStaleListings(catalogue: Catalogue): StaleListing[] {
  const waiting = new Set(listUnpublished(catalogue));
  return listRows(catalogue, catalogue.query.selectFrom('listings').selectAll().orderBy('slug')).flatMap((row) => {
    const { id, slug, base_url } = row;
    const identity = { id, slug, base_url };
    if (row.document === '{}') return { ...identity, fields: ['document'] };
    const published: Listing = JSON.parse(row.document);
    const fields = waiting.has(id) ? [] : listStaleFields(catalogue, identity, published);
    const verified = isLive(published) && published.routes.some(({ proof }) => proof !== null) ? 1 : 0;
    const columns = { state: published.state, revision: published.revision, verified };
    const wrong = Object.entries(columns).filter(([name, value]) => row[name as keyof typeof columns] !== value);
    const names = [...fields, ...wrong.map(([name]) => name)];
    return names.length > 0 ? { ...identity, fields: [...new Set(names)] } : [];
  });
}

/** Lists the fields that differ when a listing is derived again; none if that may wait (`canPublicationWait`). */
function listStaleFields(catalogue: Catalogue, identity: ListingIdentity, published: Listing): string[] {
  const { listing: derived } = deriveFromRecord(catalogue, identity, published);
  const facts = new Map<string, unknown>(Object.entries(published));
  const fields = Object.entries(derived).filter(([field, value]) => !isDeepStrictEqual(facts.get(field), value));
  return fields.length === 0 || canPublicationWait(published, derived) ? [] : fields.map(([field]) => field);
}

/** Lists the ids of the listings with samples that are not published yet. */
function listUnpublished(catalogue: Catalogue): string[] {
  const query = catalogue.query.selectFrom('probe_targets').select('listing_id').where('unpublished', '=', sql.lit(1));
  return listRows(catalogue, query).map(({ listing_id }) => listing_id);
}

/** Returns whether the catalogue's revision is the latest one with a time on record. */
export function isRevisionConsistent(catalogue: Catalogue): boolean {
  const [row] = listRows(
    catalogue,
    catalogue.query.selectFrom('revisions').select(({ fn }) => fn.max('revision').as('latest')),
  );
  return (row?.latest ?? 0) === getRevision(catalogue);
}
