import { ServiceError } from '../errors.ts';
import type { Listing } from '../model/listing.ts';
import type { JsonObject } from '../model/route.ts';
import { type Catalogue, runStatement } from './database.ts';
import { findListing } from './listings.ts';
import { publishListing } from './publish.ts';
import type { Writing } from './write.ts';

/**
 * Takes a listing out and leaves a tombstone with the reason. A decision of the operator or the provider replaces a
 * rule's, never the other way round. Gives whether readers see a change. Throws `not_found` for an unknown slug.
 */
export function delistListing(
  writing: Writing,
  slug: string,
  { by, reason, evidence }: { by: 'operator' | 'provider' | 'rule'; reason: string; evidence?: JsonObject | undefined },
): boolean {
  const { catalogue, at } = writing;
  const listing = getListing(catalogue, slug);
  if (listing.state === 'delisted' && (listing.state_by === by || by === 'rule')) return false;
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('delistings')
      .values({ listing_id: listing.id, by, reason, at })
      .onConflict((conflict) => conflict.column('listing_id').doUpdateSet({ by, reason, at })),
  );
  return publishListing(writing, listing, `delisted_by_${by}`, { evidence });
}

/** Puts a delisted listing back; a rule only what a rule took out. Gives whether readers see a change. Throws `not_found` for an unknown slug. */
export function relistListing(
  writing: Writing,
  slug: string,
  { by, evidence }: { by: 'operator' | 'provider' | 'rule'; evidence?: JsonObject | undefined },
): boolean {
  const { catalogue } = writing;
  const listing = getListing(catalogue, slug);
  const lifted = catalogue.query.deleteFrom('delistings').where('listing_id', '=', listing.id);
  runStatement(catalogue, by === 'rule' ? lifted.where('by', '=', 'rule') : lifted);
  return publishListing(writing, listing, `relisted_by_${by}`, { evidence });
}

function getListing(catalogue: Catalogue, slug: string): Listing {
  const listing = findListing(catalogue, { slug });
  if (listing) return listing;
  throw new ServiceError('not_found', `There is no listing "${slug}".`, { hint: 'The command list shows every slug.' });
}
