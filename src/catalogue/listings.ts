import type { Listing } from '../model/listing.ts';
import { type Catalogue, findRow, listRows } from './database.ts';

/** Finds a listing in any state by slug or id, as it was last published. Undefined when there is none. */
export function findListing(catalogue: Catalogue, by: { slug: string } | { id: string }): Listing | undefined {
  const query = catalogue.query.selectFrom('listings').select('document');
  const row = findRow(catalogue, 'slug' in by ? query.where('slug', '=', by.slug) : query.where('id', '=', by.id));
  return row && parseDocument(row.document);
}

/** Lists every listing in any state, by slug, as last published. */
export function listListings(catalogue: Catalogue): Listing[] {
  return listRows(catalogue, catalogue.query.selectFrom('listings').select('document').orderBy('slug')).flatMap(
    ({ document }) => parseDocument(document) ?? [],
  );
}

/** Lists the listings in any state whose latest reader-visible change is newer than `revision`. */
export function listListingsSince(catalogue: Catalogue, revision: number): Listing[] {
  const query = catalogue.query.selectFrom('listings').select('document').where('revision', '>', revision);
  return listRows(catalogue, query).flatMap(({ document }) => parseDocument(document) ?? []);
}

/** Lists the slugs of all listings in any state, in their order. */
export function listSlugs(catalogue: Catalogue): string[] {
  return listRows(catalogue, catalogue.query.selectFrom('listings').select('slug').orderBy('slug')).map(
    ({ slug }) => slug,
  );
}

/** A listing whose first publication is still to come has an empty document. */
function parseDocument(document: string): Listing | undefined {
  return document === '{}' ? undefined : JSON.parse(document);
}
