import { listStaleListings } from '../integrity.ts';
import { findListing } from '../read/listings.ts';
import type { Writing } from '../transaction.ts';
import { publishListing, storeListing } from './publication.ts';

/**
 * Publishes again all listings that differ from what their evidence gives, for example after an upgrade that changed the
 * rules. Returns their slugs.
 */
export async function repairListings(writing: Writing): Promise<string[]> {
  const { catalogue } = writing;
  const stale = await listStaleListings(catalogue);
  for (const { id, slug, base_url } of stale) {
    const published = await publishListing(writing, { id, slug, base_url }, 'derived_again');
    // If only the columns beside the document are wrong, nothing was published.
    const listing = published ? undefined : await findListing(catalogue, { id });
    if (listing) await storeListing(catalogue, listing, listing);
  }
  if (stale.length > 0) writing.raiseRevision();
  return stale.map(({ slug }) => slug);
}
