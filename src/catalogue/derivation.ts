import type { MergedDeclaration, RecordedDeclaration } from '../evidence/declarations.ts';
import { type DerivedListing, deriveListing } from '../evidence/listing.ts';
import { getRouteId } from '../model/ids.ts';
import type { Listing } from '../model/listing.ts';
import { type Catalogue, listRows } from './database.ts';
import { findDelisting } from './delisting-record.ts';
import type { ListingIdentity } from './listings.ts';
import { findNamesake } from './names.ts';
import { listReceipts } from './receipts.ts';
import { listReplies } from './replies.ts';
import { getSampledListing, listPayees } from './samples.ts';
import { listTermsByRoute } from './terms.ts';

/**
 * Derives what readers should see of a listing from all evidence on record. `before` is what they see now: its networks keep
 * their entries. `sampled` is the summary of its samples, for callers that have it already.
 */
export function deriveFromRecord(
  catalogue: Catalogue,
  identity: ListingIdentity,
  before: Listing | undefined,
  sampled = getSampledListing(catalogue, identity.id),
): { listing: DerivedListing; merged: MergedDeclaration } {
  const terms = listTermsByRoute(catalogue, identity.id);
  const payees = listPayees(catalogue, identity.id);
  return deriveListing({
    ...identity,
    declarations: listDeclarations(catalogue, identity.id),
    getTerms: (routeId) => terms.get(routeId) ?? [],
    getRouteId: (method, path) => getRouteId(identity.id, method, path),
    receipts: listReceipts(catalogue, identity.id),
    delisting: findDelisting(catalogue, identity.base_url) ?? null,
    getPayee: (routeId) => payees.get(routeId) ?? null,
    sampled,
    known_networks: before?.networks.map(({ key }) => key) ?? [],
    findNamesake: (names, asked) => findNamesake(catalogue, identity.id, names, asked),
    replies: listReplies(catalogue, identity.base_url),
  });
}

/** Lists what each source declares of a listing, and when it withdrew that. */
export function listDeclarations(catalogue: Catalogue, listingId: string): RecordedDeclaration[] {
  const rows = listRows(
    catalogue,
    catalogue.query.selectFrom('declarations').select(['document', 'withdrawn_at']).where('listing_id', '=', listingId),
  );
  return rows.map(({ document, withdrawn_at }) => ({ declaration: JSON.parse(document), withdrawn_at }));
}
