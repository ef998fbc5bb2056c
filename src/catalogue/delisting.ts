import { ServiceError } from '../errors.ts';
import type { Delisting } from '../evidence/listing.ts';
import type { JsonObject } from '../model/json.ts';
import { getCanonicalBaseUrl, type Listing } from '../model/listing.ts';
import { type Catalogue, runStatement } from './database.ts';
import { findListing } from './listings.ts';
import { publishListing } from './publish.ts';
import type { Writing } from './write.ts';

/** Who decides, and on what evidence. */
interface Decision {
  by: Delisting['by'];
  evidence?: JsonObject | undefined;
}

/**
 * Removes a listing and leaves a tombstone with the reason. Operator, provider and rule each have a decision of their own,
 * and readers are shown the first of these. Returns whether readers see a change. Throws `not_found` for an unknown slug.
 */
export function delistListing(writing: Writing, slug: string, decision: Decision & { reason: string }): boolean {
  const { catalogue, at } = writing;
  const { by, reason, evidence } = decision;
  const listing = getListing(catalogue, slug);
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('delistings')
      .values({ base_url: listing.base_url, by, reason, source: null, at })
      .onConflict((conflict) => conflict.doNothing()),
  );
  return publishListing(writing, listing, `delisted_by_${by}`, { evidence });
}

/**
 * Puts a delisted listing back. The operator lifts every decision; the provider and a rule lift only their own, so that
 * what another removed stays removed. Returns whether readers see a change. Throws `not_found` for an unknown slug.
 */
export function relistListing(writing: Writing, slug: string, { by, evidence }: Decision): boolean {
  const listing = getListing(writing.catalogue, slug);
  return (
    liftDelisting(writing.catalogue, listing.base_url, by) &&
    publishListing(writing, listing, `relisted_by_${by}`, { evidence })
  );
}

/**
 * Records that the provider of an address wants no listing there. If a source declares the address later, its listing begins
 * as a tombstone. `source` is the address of the provider's statement. Returns whether readers see a change.
 */
export function keepAddressOut(
  writing: Writing,
  baseUrl: string,
  { reason, source, evidence }: { reason: string; source: string; evidence: JsonObject },
): boolean {
  const { catalogue, at } = writing;
  const base_url = getCanonicalBaseUrl(baseUrl);
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('delistings')
      .values({ base_url, by: 'provider', reason, source, at })
      .onConflict((conflict) => conflict.columns(['base_url', 'by']).doUpdateSet({ reason, source })),
  );
  const listing = findListing(catalogue, { base_url });
  return listing !== undefined && publishListing(writing, listing, 'delisted_by_provider', { evidence });
}

/** Lifts the provider's decision about an address; those of others stay. Returns whether readers see a change. */
export function letAddressIn(writing: Writing, baseUrl: string, { evidence }: { evidence: JsonObject }): boolean {
  const { catalogue } = writing;
  const listing = findListing(catalogue, { base_url: baseUrl });
  const isLifted = liftDelisting(catalogue, getCanonicalBaseUrl(baseUrl), 'provider');
  return isLifted && listing !== undefined && publishListing(writing, listing, 'relisted_by_provider', { evidence });
}

/** Lifts decisions about an address: all for the operator, else those of `by`. Returns whether there was one. */
function liftDelisting(catalogue: Catalogue, baseUrl: string, by: Delisting['by']): boolean {
  const lifted = catalogue.query.deleteFrom('delistings').where('base_url', '=', baseUrl);
  return runStatement(catalogue, by === 'operator' ? lifted : lifted.where('by', '=', by)).changes > 0;
}

function getListing(catalogue: Catalogue, slug: string): Listing {
  const listing = findListing(catalogue, { slug });
  if (listing) return listing;
  throw new ServiceError('not_found', `There is no listing "${slug}".`, { hint: 'The command list shows every slug.' });
}
