import { listSearchFaults, listStaleListings } from './integrity.ts';
import { findListing } from './listings.ts';
import { publishListing, storeListing } from './publish.ts';
import { indexListing } from './search-index.ts';
import type { Writing } from './write.ts';

/**
 * Publishes anew every listing of which readers see something else than its evidence gives (after an upgrade that derives
 * otherwise, say), and puts the search index right. Gives the slugs concerned.
 */
export function repairListings(writing: Writing): string[] {
  const { catalogue } = writing;
  const stale = listStaleListings(catalogue);
  for (const { id, slug, base_url } of stale) {
    const published = publishListing(writing, { id, slug, base_url }, 'derived_again');
    // The document may be right and only the columns beside it wrong.
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
