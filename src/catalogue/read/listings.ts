import { getListingId } from '../../model/ids.ts';
import type { Listing } from '../../model/listing.ts';
import type { Catalogue } from '../database.ts';

/** Fields of a listing that never change. */
export interface ListingIdentity {
  id: string;
  slug: string;
  base_url: string;
}

/** Number of listings read at a time. It is small enough that V8 frees them before it moves them to its old generation. */
const READ_AT_ONCE = 32;

/** Finds a listing in any state by slug, id or base address, as last published. Undefined if it was never published. */
export async function findListing(
  { query }: Catalogue,
  by: { slug: string } | { id: string } | { base_url: string },
): Promise<Listing | undefined> {
  const listings = query.selectFrom('listings').select('document');
  const row = await ('slug' in by
    ? listings.where('slug', '=', by.slug)
    : listings.where('id', '=', 'id' in by ? by.id : getListingId(by.base_url))
  ).executeTakeFirst();
  return row && parseListing(row.document);
}

/** Lists every listing in any state, by slug, as last published. */
export async function listListings({ query }: Catalogue): Promise<Listing[]> {
  const rows = await query.selectFrom('listings').select('document').orderBy('slug').execute();
  return rows.flatMap(({ document }) => parseListing(document) ?? []);
}

/** Goes through every listing in any state, by slug, without keeping all in memory. */
export async function* iterateListings({ query }: Catalogue): AsyncGenerator<Listing> {
  let last = '';
  for (;;) {
    const rows = await query
      .selectFrom('listings')
      .select(['slug', 'document'])
      .where('slug', '>', last)
      .orderBy('slug')
      .limit(READ_AT_ONCE)
      .execute();
    for (const { document } of rows) {
      const listing = parseListing(document);
      if (listing) yield listing;
    }
    last = rows.at(-1)?.slug ?? '';
    if (rows.length < READ_AT_ONCE) return;
  }
}

/** Lists the base addresses of live listings of an origin that have a path, sorted. */
export async function listBaseUrlsBelow({ query }: Catalogue, origin: string): Promise<string[]> {
  const rows = await query
    .selectFrom('listings')
    .select('base_url')
    .where('origin', '=', origin)
    .where('base_url', '>', `${origin}/`)
    .where('state', '=', 'live')
    .orderBy('base_url')
    .execute();
  return rows.map(({ base_url }) => base_url);
}

/** Lists the slugs of all listings in any state, sorted. */
export async function listSlugs({ query }: Catalogue): Promise<string[]> {
  const rows = await query.selectFrom('listings').select('slug').orderBy('slug').execute();
  return rows.map(({ slug }) => slug);
}

/** Parses the document of a listing. Undefined before its first publication, when the document is empty. */
export function parseListing(document: string): Listing | undefined {
  return document === '{}' ? undefined : JSON.parse(document);
}
