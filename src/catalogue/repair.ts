import { listSearchFaults, listStaleListings } from './integrity.ts';
import { findListing } from './listings.ts';
import { publishListing, storeListing } from './publish.ts';
import { indexListing } from './search-index.ts';
import type { Writing } from './write.ts';

/**
 * Publishes again all listings that differ from what their evidence gives, for example after an upgrade that changed the
 * rules, and corrects the search index. Returns the slugs of what it repaired.
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
  const misplaced = listSearchFaults(catalogue);
  for (const slug of misplaced) {
    const listing = findListing(catalogue, { slug });
    if (listing) indexListing(catalogue, listing);
  }
  if (stale.length + misplaced.length > 0) writing.raiseRevision();
  return [...new Set([...stale.map(({ slug }) => slug), ...misplaced])];
}
