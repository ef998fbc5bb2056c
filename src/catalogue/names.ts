import type { Namesake } from '../evidence/cautions.ts';
import { isWellKnown } from '../evidence/listing.ts';
import { getListingNames, type ListingNames } from '../evidence/names.ts';
import { isLive, type Listing } from '../model/listing.ts';
import { type Catalogue, findRowBy, listRows, listRowsBy, runStatement } from './database.ts';
import type { ListingIdentity } from './derivation.ts';

/** A better known listing that has a name of another one, and since when both have it. */
const NAMESAKE = `SELECT l.slug, l.base_url, max(n.since, own.since) AS since
  FROM listing_names n JOIN listings l ON l.id = n.listing_id
    JOIN listing_names own ON own.listing_id = ? AND own.name = n.name
  WHERE n.name = ? AND n.known = 1 AND n.listing_id <> ? AND n.domain <> ?
    AND NOT EXISTS (
      SELECT pay_to FROM terms JOIN routes ON routes.id = route_id WHERE listing_id = n.listing_id AND pay_to IS NOT NULL
      INTERSECT SELECT pay_to FROM terms JOIN routes ON routes.id = route_id
        WHERE listing_id = ? AND evidence = 'observed' AND current = 1
    )
  ORDER BY l.slug LIMIT 1`;

/**
 * Finds a better known listing at another domain that goes by one of the names. One that a 402 was seen to pay to the same
 * account is the same seller's; who is paid is not taken from claims, which cost nothing.
 */
export function findNamesake(
  catalogue: Catalogue,
  listingId: string,
  { names, domain }: ListingNames,
): Namesake | null {
  for (const name of names) {
    const row = findRowBy<{ slug: string; base_url: string; since: string }>(
      catalogue,
      NAMESAKE,
      ...[listingId, name, listingId, domain, listingId],
    );
    if (row) return { slug: row.slug, host: new URL(row.base_url).host, since: row.since };
  }
  return null;
}

/**
 * Writes down the names that a listing goes by. Gives those that it gave up and was the better known by: whoever else goes
 * by one of these is to be derived again.
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

/** Writes down by which of its names a listing is the better known. Gives those for which that is now otherwise. */
export function recordFame(catalogue: Catalogue, listing: Listing): string[] {
  const { own } = getListingNames(listing);
  const isFamous = isLive(listing) && isWellKnown(listing);
  return listNames(catalogue, listing.id).flatMap(({ name, known: before }) => {
    const known = isFamous || (isLive(listing) && own.includes(name)) ? 1 : 0;
    if (known === before) return [];
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

/** Lists the other listings that go by one of the names and are not known by it. */
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
