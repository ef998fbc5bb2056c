import { type ChangeEvidence, listDifferences } from '../evidence/changes.ts';
import { type MergedRoute, mergeDeclarations } from '../evidence/declarations.ts';
import { canPublicationWait } from '../evidence/freshness.ts';
import type { SampleSummary } from '../evidence/sample-summary.ts';
import { getRouteId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { isLive, type Listing } from '../model/listing.ts';
import { type Catalogue, findRow, runStatement } from './database.ts';
import { deriveFromRecord, listDeclarations } from './derivation.ts';
import type { ListingIdentity } from './listings.ts';
import { findListing } from './listings.ts';
import { listNamesakes, recordFame, recordNames } from './names.ts';
import { recordDeclaredTerms } from './terms.ts';
import type { Writing } from './write.ts';

/** Why a listing is published: the reason code of the changes, and their evidence. */
interface Cause {
  cause: string;
  evidence?: ChangeEvidence | undefined;
}

/**
 * Publishes a listing: derives it from its evidence on record and compares it with what readers see. If they differ, it
 * stores the document, and a change for each difference. Returns whether they differed. The changes
 * carry `cause` as their reason code, and `evidence`.
 */
export function publishListing(
  writing: Writing,
  identity: ListingIdentity,
  cause: string,
  { evidence }: { evidence?: JsonObject | undefined } = {},
): boolean {
  const { catalogue } = writing;
  const { words, routes } = mergeDeclarations(listDeclarations(catalogue, identity.id));
  recordRoutes(catalogue, identity.id, routes);
  const left = recordNames(catalogue, { ...words, ...identity }, writing.at);
  const before = findListing(catalogue, { id: identity.id });
  const published = publishDerived(writing, before, deriveFromRecord(catalogue, identity, before), { cause, evidence });
  publishNamesakes(writing, identity.id, left);
  return published;
}

/**
 * Publishes a listing of which only samples changed. If only times and counts differ from what readers see (`before`), it
 * waits unless `fresh`. Returns whether anything was published.
 */
export function publishProbed(
  writing: Writing,
  before: Listing,
  { sampled, evidence, fresh }: { sampled: SampleSummary; evidence: ChangeEvidence; fresh: boolean },
): boolean {
  const derived = deriveFromRecord(writing.catalogue, before, before, sampled);
  if (!fresh && canPublicationWait(before, derived.listing)) return false;
  return publishDerived(writing, before, derived, { cause: 'probed', evidence });
}

function publishDerived(
  writing: Writing,
  before: Listing | undefined,
  { listing: derived, merged }: ReturnType<typeof deriveFromRecord>,
  { cause, evidence }: Cause,
): boolean {
  const { catalogue, revision, at, recordChange } = writing;
  const differences = listDifferences(before, derived, { cause, evidence, inferred: merged.inferred });
  if (differences.length === 0) return false;
  const wasListed = before !== undefined && (before.state !== 'held' || wasEverLive(catalogue, derived.id));
  const listing: Listing = { ...derived, listed_at: wasListed ? before.listed_at : at, updated_at: at, revision };
  storeListing(catalogue, listing);
  for (const difference of differences) recordChange({ listing_id: listing.id, ...difference });
  publishNamesakes(writing, listing.id, recordFame(catalogue, listing, before));
  return true;
}

/** Publishes the other listings with names for which this one became the better known listing, or no longer is. */
function publishNamesakes(writing: Writing, listingId: string, names: readonly string[]): void {
  for (const other of listNamesakes(writing.catalogue, listingId, names)) publishListing(writing, other, 'namesake');
}

/** Returns whether a listing was ever live. One that was held without a price counts as listed from its first live day on. */
function wasEverLive(catalogue: Catalogue, listingId: string): boolean {
  const listed = catalogue.query
    .selectFrom('changes')
    .select('seq')
    .where('listing_id', '=', listingId)
    .where('kind', '=', 'listed')
    .limit(1);
  return findRow(catalogue, listed) !== undefined;
}

/** Adds rows for all declared routes and their declared terms, so that evidence can refer to them. */
function recordRoutes(catalogue: Catalogue, listingId: string, routes: readonly MergedRoute[]): void {
  for (const merged of routes) {
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

/** Stores a listing as readers see it: its document, and the columns that follow from it. */
export function storeListing(catalogue: Catalogue, listing: Listing): void {
  const facts = {
    state: listing.state,
    verified: isLive(listing) && listing.routes.some(({ proof }) => proof !== null) ? (1 as const) : (0 as const),
    revision: listing.revision,
    document: JSON.stringify(listing),
  };
  runStatement(catalogue, catalogue.query.updateTable('listings').set(facts).where('id', '=', listing.id));
}
