import { listStaleListings } from '../integrity.ts';
import { findListing } from '../read/listings.ts';
import type { Writing } from '../transaction.ts';
import { publishListings, storeListing } from './publication.ts';

/**
 * Publishes all listings again that differ from their evidence, for example after an upgrade that changed the rules. Listings in
 * which only times and counts differ wait. Returns the slugs of the others.
 */
export async function repairListings(writing: Writing): Promise<string[]> {
  const { catalogue } = writing;
  const stale = await listStaleListings(catalogue);
  const all = await catalogue.query.selectFrom('listings').select(['id', 'slug', 'base_url']).orderBy('slug').execute();
  // All listings, because this also records the names by which listings are compared.
  const published = await publishListings(
    writing,
    all.map((identity) => ({ identity, cause: 'derived_again', may_wait: true })),
  );
  for (const { id } of stale) {
    // If only the columns next to the document are wrong, nothing was published.
    const listing = published.has(id) ? undefined : await findListing(catalogue, { id });
    if (listing) await storeListing(catalogue, listing, listing);
  }
  if (stale.length > 0) writing.raiseRevision();
  return stale.map(({ slug }) => slug);
}
