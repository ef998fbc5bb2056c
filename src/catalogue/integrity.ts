import { isDeepStrictEqual } from 'node:util';
import { isLive, type Listing } from '../model/listing.ts';
import { type Catalogue, listRows } from './database.ts';
import { deriveFromRecord } from './derivation.ts';
import { getSearchFields } from './search-index.ts';
import { getRevision } from './write.ts';

/**
 * Lists what SQLite itself finds wrong with the file: damaged pages and indexes (the search index included), broken
 * references. Empty when all is well.
 */
export function listDatabaseFaults({ sqlite }: Catalogue): string[] {
  const damage = sqlite.pragma('integrity_check', { simple: false }) as { integrity_check: string }[];
  const references = sqlite.pragma('foreign_key_check') as { table: string; rowid: number; parent: string }[];
  return [
    ...damage.map(({ integrity_check }) => integrity_check).filter((line) => line !== 'ok'),
    ...references.map(({ table, rowid, parent }) => `row ${rowid} of ${table} names no row of ${parent}`),
  ];
}

/** A listing whose published form is not what its evidence gives, and in which fields. */
export interface StaleListing {
  slug: string;
  fields: string[];
}

/** Derives every listing again from what is on record, and lists those of which readers see something else. */
export function listStaleListings(catalogue: Catalogue): StaleListing[] {
  return listRows(catalogue, catalogue.query.selectFrom('listings').selectAll().orderBy('slug')).flatMap((row) => {
    if (row.document === '{}') return { slug: row.slug, fields: ['document'] };
    const published: Listing = JSON.parse(row.document);
    const { id, slug, base_url } = row;
    const { listing: derived } = deriveFromRecord(catalogue, { id, slug, base_url }, published);
    const facts = new Map<string, unknown>(Object.entries(published));
    const fields = Object.entries(derived).filter(([field, value]) => !isDeepStrictEqual(facts.get(field), value));
    const verified = isLive(published) && published.routes.some(({ proof }) => proof !== null) ? 1 : 0;
    const columns = { state: published.state, revision: published.revision, verified };
    const wrong = Object.entries(columns).filter(([name, value]) => row[name as keyof typeof columns] !== value);
    const names = [...fields, ...wrong].map(([name]) => name);
    return names.length > 0 ? { slug, fields: [...new Set(names)] } : [];
  });
}

/** Lists the slugs whose words in the search index are not those of the live listing, or which should not be in it. */
export function listSearchFaults(catalogue: Catalogue): string[] {
  const indexed = new Map<string, string>();
  const rows = catalogue.sqlite
    .prepare<[], Record<string, string>>(
      'SELECT listing_id, title, tagline, description, provider, category, routes FROM listing_search',
    )
    .iterate();
  for (const { listing_id = '', ...fields } of rows) indexed.set(listing_id, JSON.stringify(Object.values(fields)));
  const wrong = listRows(catalogue, catalogue.query.selectFrom('listings').selectAll().orderBy('slug')).filter(
    (row) => {
      const fields = indexed.get(row.id);
      indexed.delete(row.id);
      const expected = row.state === 'live' ? JSON.stringify(getSearchFields(JSON.parse(row.document))) : undefined;
      return fields !== expected;
    },
  );
  return [...wrong.map(({ slug }) => slug), ...indexed.keys()];
}

/** Says whether the revision is that of the latest change on record. */
export function isRevisionConsistent(catalogue: Catalogue): boolean {
  const [row] = listRows(
    catalogue,
    catalogue.query.selectFrom('changes').select(({ fn }) => fn.max('revision').as('latest')),
  );
  return (row?.latest ?? 0) === getRevision(catalogue);
}
