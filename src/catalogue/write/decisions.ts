import { ServiceError } from '../../errors.ts';
import type { Delisting } from '../../evidence/listing.ts';
import { getListingId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { getCanonicalBaseUrl, type Listing } from '../../model/listing.ts';
import type { Catalogue } from '../database.ts';
import { findListing } from '../read/listings.ts';
import type { Writing } from '../transaction.ts';
import { publishListing } from './publication.ts';

/**
 * Removes a listing and leaves a tombstone with the reason. Operator, provider and rule each have a separate decision, and
 * readers see the first of these. Returns whether readers see a change. Throws `not_found` for an unknown slug.
 */
export async function delistListing(
  writing: Writing,
  slug: string,
  { by, reason }: Pick<Delisting, 'by' | 'reason'>,
): Promise<boolean> {
  const listing = await getListing(writing.catalogue, slug);
  await decideToDelist(writing, listing, { by, reason });
  return await publishListing(writing, listing, `delisted_by_${by}`);
}

/** Records the decision to remove a listing; the caller publishes it. */
export async function decideToDelist(
  { catalogue, at }: Writing,
  { id, base_url }: Pick<Listing, 'id' | 'base_url'>,
  { by, reason }: Pick<Delisting, 'by' | 'reason'>,
): Promise<void> {
  await catalogue.query
    .insertInto('delistings')
    .values({ listing_id: id, base_url, by, reason, source: null, at })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Puts a delisted listing back. The operator lifts every decision; the provider and a rule lift only their own, so that a listing
 * removed by another stays removed. Returns whether readers see a change. Throws `not_found` for an unknown slug.
 */
export async function relistListing(writing: Writing, slug: string, { by }: Pick<Delisting, 'by'>): Promise<boolean> {
  const listing = await getListing(writing.catalogue, slug);
  return (
    (await liftDelisting(writing.catalogue, listing.id, by)) &&
    (await publishListing(writing, listing, `relisted_by_${by}`))
  );
}

/**
 * Records that the provider of an address wants no listing there. If a source declares the address later, its listing starts as a
 * tombstone. `source` is the address of the provider's statement. Returns whether readers see a change.
 */
export async function keepAddressOut(
  writing: Writing,
  baseUrl: string,
  { reason, source, evidence }: { reason: string; source: string; evidence: JsonObject },
): Promise<boolean> {
  const { catalogue, at } = writing;
  const base_url = getCanonicalBaseUrl(baseUrl);
  await catalogue.query
    .insertInto('delistings')
    .values({ listing_id: getListingId(base_url), base_url, by: 'provider', reason, source, at })
    .onConflict((conflict) => conflict.columns(['listing_id', 'by']).doUpdateSet({ reason, source }))
    .execute();
  const listing = await findListing(catalogue, { base_url });
  return listing !== undefined && (await publishListing(writing, listing, 'delisted_by_provider', evidence));
}

/** Lifts the provider's decision about an address; decisions of others stay. Returns whether readers see a change. */
export async function letAddressIn(
  writing: Writing,
  baseUrl: string,
  { evidence }: { evidence: JsonObject },
): Promise<boolean> {
  const { catalogue } = writing;
  const listing = await findListing(catalogue, { base_url: baseUrl });
  const isLifted = await liftDelisting(catalogue, getListingId(baseUrl), 'provider');
  return (
    isLifted && listing !== undefined && (await publishListing(writing, listing, 'relisted_by_provider', evidence))
  );
}

/** Lifts decisions about an address: all of them for the operator, else those of `by`. Returns whether there was one. */
export async function liftDelisting({ query }: Catalogue, listingId: string, by: Delisting['by']): Promise<boolean> {
  const all = query.deleteFrom('delistings').where('listing_id', '=', listingId);
  const { numDeletedRows } = await (by === 'operator' ? all : all.where('by', '=', by)).executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

async function getListing(catalogue: Catalogue, slug: string): Promise<Listing> {
  const listing = await findListing(catalogue, { slug });
  if (listing) return listing;
  throw new ServiceError('not_found', `There is no listing "${slug}".`, { hint: 'The command list shows every slug.' });
}
