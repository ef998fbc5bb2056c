import { isDeepStrictEqual } from 'node:util';
import type { Namesake } from '../evidence/cautions.ts';
import { isWellKnown, listPayees } from '../evidence/listing.ts';
import { getListingNames, type ListingNames } from '../evidence/names.ts';
import { isLive, type Listing } from '../model/listing.ts';
import { type Catalogue, listRows, listRowsBy, runStatement } from './database.ts';
import type { ListingIdentity } from './listings.ts';
import { findListing } from './listings.ts';

/** Selects the better known listings at other domains that share a name with a listing, and since when both have it. */
const NAMESAKES = `SELECT l.slug, max(n.since, own.since) AS since
  FROM listing_names n JOIN listings l ON l.id = n.listing_id
    JOIN listing_names own ON own.listing_id = ? AND own.name = n.name
  WHERE n.name = ? AND n.known = 1 AND n.listing_id <> ? AND n.domain <> ?
  ORDER BY l.slug`;

/**
 * Finds a better known listing at another domain that has one of the names. Null without one, or if it is paid at all of
 * `payees` too, and so has the same owner.
 */
export function findNamesake(
  catalogue: Catalogue,
  listingId: string,
  { names, domain }: ListingNames,
  payees: readonly string[],
): Namesake | null {
  for (const name of names) {
    const bound = [listingId, name, listingId, domain];
    for (const { slug, since } of listRowsBy<{ slug: string; since: string }>(catalogue, NAMESAKES, ...bound)) {
      const known = findListing(catalogue, { slug });
      const own = known ? listPayees(known) : [];
      const isSameAccount = payees.length > 0 && payees.every((payee) => own.includes(payee));
      if (known && !isSameAccount) return { slug, host: new URL(known.base_url).host, since };
    }
  }
  return null;
}

/**
 * Records the names of a listing. Returns those that it lost and was the best known for: the caller has to publish the other
 * listings with these names again.
 */
export function recordNames(
  catalogue: Catalogue,
  listing: { id: string; base_url: string; title: string; provider_name: string },
  at: string,
): string[] {
  const { names, domain } = getListingNames(listing);
  const before = listNames(catalogue, listing.id);
  const gone = before.filter(({ name }) => !names.includes(name));
  for (const { name } of gone) {
    runStatement(
      catalogue,
      catalogue.query.deleteFrom('listing_names').where('listing_id', '=', listing.id).where('name', '=', name),
    );
  }
  for (const name of names.filter((one) => !before.some((row) => row.name === one))) {
    const row = { name, listing_id: listing.id, domain, known: 0, since: at } as const;
    runStatement(catalogue, catalogue.query.insertInto('listing_names').values(row));
  }
  return gone.filter(({ known }) => known === 1).map(({ name }) => name);
}

/**
 * Records for which of its names a listing is the better known one. Returns the names for which this changed, and if its
 * payees changed, all names that it is known for: other listings with these names have to be published again.
 */
export function recordFame(catalogue: Catalogue, listing: Listing, before: Listing | undefined): string[] {
  const { own } = getListingNames(listing);
  const isFamous = isLive(listing) && isWellKnown(listing);
  const isPaidAsBefore = before !== undefined && isDeepStrictEqual(listPayees(before), listPayees(listing));
  return listNames(catalogue, listing.id).flatMap(({ name, known: was }) => {
    const known = isFamous || (isLive(listing) && own.includes(name)) ? 1 : 0;
    if (known === was) return known === 1 && !isPaidAsBefore ? name : [];
    runStatement(
      catalogue,
      catalogue.query
        .updateTable('listing_names')
        .set({ known })
        .where('listing_id', '=', listing.id)
        .where('name', '=', name),
    );
    return name;
  });
}

function listNames(catalogue: Catalogue, listingId: string): { name: string; known: 0 | 1 }[] {
  return listRowsBy(catalogue, 'SELECT name, known FROM listing_names WHERE listing_id = ?', listingId);
}

/** Lists the other listings that have one of the names, and are not the better known one. */
export function listNamesakes(catalogue: Catalogue, listingId: string, names: readonly string[]): ListingIdentity[] {
  if (names.length === 0) return [];
  const query = catalogue.query
    .selectFrom('listing_names')
    .innerJoin('listings', 'listings.id', 'listing_names.listing_id')
    .where('listing_names.name', 'in', names)
    .where('listing_names.listing_id', '!=', listingId)
    .where('listing_names.known', '=', 0)
    .select(['listings.id', 'listings.slug', 'listings.base_url'])
    .distinct()
    .orderBy('listings.slug');
  return listRows(catalogue, query);
}
