import { listStaleListings } from '../integrity.ts';
import { findListing } from '../read/listings.ts';
import type { Writing } from '../transaction.ts';
import { publishListings, storeListing } from './publication.ts';

/**
 * Publishes again all listings that differ from what their evidence gives, for example after an upgrade that changed
 * the rules. Listings of which only times and counts differ wait. Returns the slugs of the others.
 */
export async function repairListings(writing: Writing): Promise<string[]> {
  const { catalogue } = writing;
  const stale = await listStaleListings(catalogue);
  const all = await catalogue.query.selectFrom('listings').select(['id', 'slug', 'base_url']).orderBy('slug').execute();
  // All listings, because this records the names by which listings are compared, too.
  const published = await publishListings(
    writing,
    all.map((identity) => ({ identity, cause: 'derived_again', may_wait: true })),
  );
  for (const { id } of stale) {
    // Nothing was published if only the columns beside the document are wrong.
    const listing = published.has(id) ? undefined : await findListing(catalogue, { id });
    if (listing) await storeListing(catalogue, listing, listing);
  }
  if (stale.length > 0) writing.raiseRevision();
  return stale.map(({ slug }) => slug);
}
