import { listStaleListings } from './integrity.ts';
import { findListing } from './listings.ts';
import { publishListing, storeListing } from './publish.ts';
import type { Writing } from './write.ts';

/**
 * Publishes again all listings that differ from what their evidence gives, for example after an upgrade that changed the
 * rules. Returns their slugs.
 */
export function repairListings(writing: Writing): string[] {
  const { catalogue } = writing;
  const stale = listStaleListings(catalogue);
  for (const { id, slug, base_url } of stale) {
    const published = publishListing(writing, { id, slug, base_url }, 'derived_again');
    // If only the columns beside the document are wrong, nothing was published.
    const listing = published ? undefined : findListing(catalogue, { id });
    if (listing) storeListing(catalogue, listing);
  }
  if (stale.length > 0) writing.raiseRevision();
  return stale.map(({ slug }) => slug);
}
