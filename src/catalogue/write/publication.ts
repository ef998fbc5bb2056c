import { type ChangeEvidence, listDifferences } from '../../evidence/changes.ts';
import { type MergedDeclaration, mergeDeclarations } from '../../evidence/declarations.ts';
import { canPublicationWait, isUpToDate } from '../../evidence/freshness.ts';
import { type DerivedListing, deriveListing, type ListingEvidence, RULES_VERSION } from '../../evidence/listing.ts';
import { getListingNames } from '../../evidence/names.ts';
import { getSampleSummary, type KeptSample } from '../../evidence/sample-summary.ts';
import { getRouteId } from '../../model/ids.ts';
import { isLive, type Listing } from '../../model/listing.ts';
import { isPayable } from '../../model/probe.ts';
import type { Catalogue } from '../database.ts';
import { EVIDENCE_AT_ONCE, type RecordedEvidence, readEvidence } from '../read/evidence.ts';
import type { ListingIdentity } from '../read/listings.ts';
import { type NewChange, type Writing, writeCatalogue } from '../transaction.ts';
import {
  findNamesake,
  listNamesakes,
  type NameIndex,
  readNames,
  replaceNames,
  saveNames,
  setStanding,
} from './names.ts';
import { declareTerms, type RouteTerms } from './terms.ts';

/** Reason code of changes made because another listing became better known for a name, or no longer is. */
const NAMESAKE = 'namesake';

/** A listing to publish, with the reason. */
export interface Publication {
  readonly identity: ListingIdentity;
  /** Reason code of the resulting changes. */
  readonly cause: string;
  /** The evidence of the changes. */
  readonly evidence?: ChangeEvidence | undefined;
  /** Its samples, if they were already read. */
  readonly samples?: readonly KeptSample[];
  /** True if the listing stays unchanged when only times and counts differ from what readers see. */
  readonly may_wait?: boolean;
}

/**
 * Publishes listings: derives each from its recorded evidence and compares it with what readers see. If they differ, stores the
 * document and a change for each difference, and raises the revision. A listing that thereby gets or loses a better known
 * namesake is published again, too. Returns the ids of those that differed by their own cause. Each listing may be in
 * `publications` once.
 */
export async function publishListings(writing: Writing, publications: readonly Publication[]): Promise<Set<string>> {
  const published = new Set<string>();
  for (let queue = [...publications]; queue.length > 0; ) {
    const batch = queue.splice(0, EVIDENCE_AT_ONCE);
    const done = await publishBatch(writing, batch);
    for (const id of done.published) published.add(id);
    for (const identity of done.namesakes) {
      // A listing that is still in the queue for its own cause is published once, for that.
      if (!queue.some((one) => one.identity.id === identity.id)) queue.push({ identity, cause: NAMESAKE });
    }
  }
  return published;
}

/** Publishes one listing. Returns true if readers see a change. */
export async function publishListing(
  writing: Writing,
  { id, slug, base_url }: ListingIdentity,
  cause: string,
  evidence?: ChangeEvidence,
): Promise<boolean> {
  const published = await publishListings(writing, [{ identity: { id, slug, base_url }, cause, evidence }]);
  return published.has(id);
}

/**
 * Derives all listings again if older rules derived them, and publishes those that differ; `at` is the time of the changes, ISO
 * 8601 UTC. A run that is stopped starts again at the next opening.
 */
export async function deriveAgain(catalogue: Catalogue, at: string): Promise<void> {
  const { rules } = await catalogue.query.selectFrom('catalogue').select('rules').executeTakeFirstOrThrow();
  if (rules >= RULES_VERSION) return;
  const all = await catalogue.query.selectFrom('listings').select(['id', 'slug', 'base_url']).orderBy('slug').execute();
  for (let start = 0; start < all.length; start += EVIDENCE_AT_ONCE) {
    const batch = all.slice(start, start + EVIDENCE_AT_ONCE);
    await writeCatalogue(catalogue, at, (writing) =>
      publishListings(
        writing,
        batch.map((identity) => ({ identity, cause: 'derived_again' })),
      ),
    );
  }
  await writeCatalogue(catalogue, at, ({ catalogue: { query } }) =>
    query.updateTable('catalogue').set({ rules: RULES_VERSION }).execute(),
  );
}

async function publishBatch(
  writing: Writing,
  batch: readonly Publication[],
): Promise<{ published: string[]; namesakes: ListingIdentity[] }> {
  const { catalogue, revision, at } = writing;
  const evidence = await readEvidence(
    catalogue,
    batch.map(({ identity }) => identity),
    new Map(batch.flatMap(({ identity, samples }) => (samples ? [[identity.id, samples] as const] : []))),
  );
  const prepared = batch.map((publication) => {
    const record = evidence.get(publication.identity.id) as RecordedEvidence;
    const merged = merge(record);
    const { base_url } = record.identity;
    return { publication, record, merged, own: getListingNames({ ...merged.words, base_url }) };
  });
  const terms = await declareTerms(catalogue, prepared);
  const names = await readNames(
    catalogue,
    prepared.map(({ record, own }) => ({ id: record.identity.id, names: own })),
  );
  const stored: { listing: Listing; before: Listing | undefined }[] = [];
  const changes: NewChange[] = [];
  const namesakes = new Map<string, ListingIdentity>();
  const call = (caller: ListingIdentity, found: readonly string[]) => {
    for (const identity of listNamesakes(names, caller, found)) namesakes.set(identity.id, identity);
  };
  for (const { publication, record, merged, own } of prepared) {
    const { identity, cause, may_wait = false } = publication;
    call(identity, replaceNames(names, identity, own, at));
    const { before } = record;
    const derived = derive(record, terms.get(identity.id) as RouteTerms, names, merged);
    const isWaiting = may_wait && before && canPublicationWait(before, derived);
    const differences = isWaiting
      ? []
      : listDifferences(before, derived, { cause, evidence: publication.evidence, inferred: merged.inferred });
    if (before && differences.length === 0 && (isWaiting || isUpToDate(before, derived))) {
      // If a source gives the name that was made from the host, readers see the same, but the standing changes.
      call(identity, setStanding(names, before, own));
      continue;
    }
    const wasListed = before !== undefined && (before.state !== 'held' || record.was_live);
    const listing: Listing = { ...derived, listed_at: wasListed ? before.listed_at : at, updated_at: at, revision };
    stored.push({ listing, before });
    changes.push(...differences.map((difference) => ({ listing_id: listing.id, ...difference })));
    call(identity, setStanding(names, listing, own));
  }
  if (stored.length > 0) writing.raiseRevision();
  await saveNames(catalogue, names);
  for (const { listing, before } of stored) {
    await storeListing(catalogue, listing, before);
  }
  await countDays(catalogue, stored, at.slice(0, 10));
  await writing.recordChanges(changes);
  const own = new Set(batch.filter(({ cause }) => cause !== NAMESAKE).map(({ identity }) => identity.id));
  return {
    published: stored.map(({ listing }) => listing.id).filter((id) => own.has(id)),
    namesakes: [...namesakes.values()],
  };
}

/** Merges the declarations of a listing, using what was seen of its routes. */
export function merge({ identity, before, declarations, samples, receipts }: RecordedEvidence): MergedDeclaration {
  const seen = new Set([
    ...samples.filter(({ outcome }) => isPayable(outcome)).map(({ route_id }) => route_id),
    ...receipts.filter(({ settled }) => settled).map(({ route_id }) => route_id),
  ]);
  return mergeDeclarations(declarations, before, ({ method, path }) => seen.has(getRouteId(identity.id, method, path)));
}

/** Derives the listing that readers should see from its recorded evidence and merged declarations. */
export function derive(
  { identity, before, declarations, routes: seenRoutes, receipts, delisting, replies, samples }: RecordedEvidence,
  terms: RouteTerms,
  names: NameIndex,
  merged: MergedDeclaration,
): DerivedListing {
  const setAside = merged.routes.filter(({ set_aside }) => set_aside);
  const all: ListingEvidence = {
    ...identity,
    declarations,
    getTerms: (routeId) => terms.get(routeId) ?? [],
    getRouteId: (method, path) => getRouteId(identity.id, method, path),
    receipts,
    delisting: delisting ?? null,
    getPayee: (routeId) => seenRoutes.get(routeId)?.payee ?? null,
    getPaymentIdentifier: (routeId) => seenRoutes.get(routeId)?.payment_identifier ?? null,
    sampled: getSampleSummary(
      samples,
      new Set(setAside.map(({ route: { method, path } }) => getRouteId(identity.id, method, path))),
    ),
    known_networks: before?.networks.map(({ key }) => key) ?? [],
    findNamesake: (...asked) => findNamesake(names, identity.id, ...asked),
    replies,
  };
  return deriveListing(all, merged);
}

/** Returns the columns that depend on a listing's document. */
export function buildListingColumns(listing: Listing) {
  return {
    state: listing.state,
    verified: isVerified(listing) ? (1 as const) : (0 as const),
    routes: listing.routes.length,
    revision: listing.revision,
    document: JSON.stringify(listing),
  };
}

function isVerified(listing: Listing): boolean {
  return isLive(listing) && listing.routes.some(({ proof }) => proof !== null);
}

/** Stores a listing that readers see: its document, and the columns that depend on it. */
export async function storeListing({ query }: Catalogue, listing: Listing, before: Listing | undefined): Promise<void> {
  const wasLive = isLive(listing) && !(before && isLive(before)) ? { was_live: 1 as const } : {};
  await query
    .updateTable('listings')
    .set({ ...buildListingColumns(listing), ...wasLive })
    .where('id', '=', listing.id)
    .execute();
}

/** Adds the listings that went live, were removed, became verified or unverified to the counts of a UTC day. */
async function countDays(
  { query }: Catalogue,
  stored: readonly { listing: Listing; before: Listing | undefined }[],
  day: string,
): Promise<void> {
  const counts = { listed: 0, taken_out: 0, verified: 0, unverified: 0 };
  for (const { listing, before } of stored) {
    const [was, is] = [before !== undefined && isLive(before), isLive(listing)];
    const [wasVerified, nowVerified] = [before !== undefined && isVerified(before), isVerified(listing)];
    counts.listed += Number(is && !was);
    counts.taken_out += Number(was && !is);
    counts.verified += Number(nowVerified && !wasVerified);
    counts.unverified += Number(wasVerified && !nowVerified);
  }
  if (Object.values(counts).every((count) => count === 0)) return;
  await query
    .insertInto('listing_days')
    .values({ day, ...counts })
    .onConflict((conflict) =>
      conflict.column('day').doUpdateSet(({ eb, ref }) => ({
        listed: eb('listing_days.listed', '+', ref('excluded.listed')),
        taken_out: eb('listing_days.taken_out', '+', ref('excluded.taken_out')),
        verified: eb('listing_days.verified', '+', ref('excluded.verified')),
        unverified: eb('listing_days.unverified', '+', ref('excluded.unverified')),
      })),
    )
    .execute();
}
