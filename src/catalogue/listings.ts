import { getCanonicalBaseUrl, type Listing } from '../model/listing.ts';
import { type Catalogue, findRowBy, listRows, listRowsBy } from './database.ts';

/** What never changes of a listing. */
export interface ListingIdentity {
  id: string;
  slug: string;
  base_url: string;
}

/** How many listings are read at a time: few enough that V8 frees them before it moves them to its old generation. */
const READ_AT_ONCE = 32;

/** Finds a listing in any state by slug, id or base address, as last published. Undefined if it was never published. */
export function findListing(
  catalogue: Catalogue,
  by: { slug: string } | { id: string } | { base_url: string },
): Listing | undefined {
  const [column, value] =
    'slug' in by ? ['slug', by.slug] : 'id' in by ? ['id', by.id] : ['base_url', getCanonicalBaseUrl(by.base_url)];
  const row = findRowBy<{ document: string }>(catalogue, `SELECT document FROM listings WHERE ${column} = ?`, value);
  return row && parseDocument(row.document);
}

/** Lists every listing in any state, by slug, as last published. */
export function listListings(catalogue: Catalogue): Listing[] {
  return listRows(catalogue, catalogue.query.selectFrom('listings').select('document').orderBy('slug')).flatMap(
    ({ document }) => parseDocument(document) ?? [],
  );
}

const NEXT = 'SELECT slug, document FROM listings WHERE slug > ? ORDER BY slug LIMIT ?';

/** Goes through every listing in any state, by slug, without holding them all in memory. */
export function* iterateListings(catalogue: Catalogue): Generator<Listing> {
  let last = '';
  for (;;) {
    const rows = listRowsBy<{ slug: string; document: string }>(catalogue, NEXT, last, READ_AT_ONCE);
    for (const { document } of rows) {
      const listing = parseDocument(document);
      if (listing) yield listing;
    }
    last = rows.at(-1)?.slug ?? '';
    if (rows.length < READ_AT_ONCE) return;
  }
}

/** Lists the base addresses of live listings of an origin that have a path, sorted. */
export function listBaseUrlsBelow(catalogue: Catalogue, origin: string): string[] {
  const query = catalogue.query
    .selectFrom('listings')
    .select('base_url')
    .where('base_url', '>', `${origin}/`)
    // In ASCII `0` comes right after `/`.
    .where('base_url', '<', `${origin}0`)
    .where('state', '=', 'live')
    .orderBy('base_url');
  return listRows(catalogue, query).map(({ base_url }) => base_url);
}

/** Lists the slugs of all listings in any state, sorted. */
export function listSlugs(catalogue: Catalogue): string[] {
  return listRows(catalogue, catalogue.query.selectFrom('listings').select('slug').orderBy('slug')).map(
    ({ slug }) => slug,
  );
}

/** Parses the document of a listing. Undefined before its first publication, when the document is empty. */
function parseDocument(document: string): Listing | undefined {
  return document === '{}' ? undefined : JSON.parse(document);
}
