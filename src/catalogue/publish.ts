import { listDifferences } from '../evidence/changes.ts';
import type { StandingDeclaration } from '../evidence/declarations.ts';
import { mergeDeclarations } from '../evidence/declarations.ts';
import { type Delisting, deriveListing } from '../evidence/listing.ts';
import { UNSCORED } from '../evidence/reliability.ts';
import { getRouteId } from '../model/ids.ts';
import { isLive, type Listing } from '../model/listing.ts';
import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import { findListing } from './listings.ts';
import { listReceipts } from './receipts.ts';
import { indexListing } from './search-index.ts';
import { listTermsByRoute, recordDeclaredTerms } from './terms.ts';
import type { Writing } from './write.ts';

/** The identity of a listing: what never changes once it has one. */
export interface ListingIdentity {
  id: string;
  slug: string;
  base_url: string;
}

/**
 * Publishes what follows from the evidence on record of one listing: derives it again, compares it with what readers see,
 * and where they differ writes the document, its search entry and a change row each. Gives whether anything differed.
 * `cause` is the reason code that those rows carry.
 */
export function publishListing(writing: Writing, identity: ListingIdentity, cause: string): boolean {
  const { catalogue, revision, at } = writing;
  const declarations = listDeclarations(catalogue, identity.id);
  recordRoutes(catalogue, identity.id, declarations);
  const terms = listTermsByRoute(catalogue, identity.id);
  const before = findListing(catalogue, { id: identity.id });
  const { listing: derived, merged } = deriveListing({
    ...identity,
    declarations,
    getTerms: (routeId) => terms.get(routeId) ?? [],
    getRouteId: (method, path) => getRouteId(identity.id, method, path),
    receipts: listReceipts(catalogue, identity.id),
    delisting: findDelisting(catalogue, identity.id),
    reliability: before?.reliability ?? UNSCORED,
  });
  const differences = listDifferences(before, derived, { cause, inferred: merged.inferred });
  if (differences.length === 0) return false;
  const listing: Listing = { ...derived, listed_at: before?.listed_at ?? at, updated_at: at, revision };
  storeListing(catalogue, listing);
  for (const difference of differences) writing.recordChange({ listing_id: listing.id, ...difference });
  return true;
}

/** Lists what every source says of a listing. */
function listDeclarations(catalogue: Catalogue, listingId: string): StandingDeclaration[] {
  const rows = listRows(
    catalogue,
    catalogue.query.selectFrom('declarations').select(['document', 'withdrawn_at']).where('listing_id', '=', listingId),
  );
  return rows.map(({ document, withdrawn_at }) => ({ declaration: JSON.parse(document), withdrawn_at }));
}

/** Gives every declared route a row, and its declared terms theirs, so that evidence can be recorded against it. */
function recordRoutes(catalogue: Catalogue, listingId: string, declarations: StandingDeclaration[]): void {
  for (const merged of mergeDeclarations(declarations).routes) {
    const { method, path } = merged.route;
    const id = getRouteId(listingId, method, path);
    runStatement(
      catalogue,
      catalogue.query
        .insertInto('routes')
        .values({ id, listing_id: listingId, method, path })
        .onConflict((conflict) => conflict.doNothing()),
    );
    recordDeclaredTerms(catalogue, id, merged);
  }
}

function findDelisting(catalogue: Catalogue, listingId: string): Delisting | null {
  const row = findRow(
    catalogue,
    catalogue.query.selectFrom('delistings').select(['by', 'reason', 'at']).where('listing_id', '=', listingId),
  );
  return row ?? null;
}

function storeListing(catalogue: Catalogue, listing: Listing): void {
  const facts = {
    state: listing.state,
    verified: isLive(listing) && listing.routes.some(({ proof }) => proof !== null) ? (1 as const) : (0 as const),
    revision: listing.revision,
    document: JSON.stringify(listing),
  };
  runStatement(catalogue, catalogue.query.updateTable('listings').set(facts).where('id', '=', listing.id));
  indexListing(catalogue, listing);
}
