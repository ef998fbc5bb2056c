import { getCanonicalBaseUrl, type Listing } from '../model/listing.ts';
import type { AgentItem } from '../views/listing/item.ts';
import { findTombstone as buildTombstone, type Tombstone } from '../views/listing/record.ts';
import type { RoutesPart } from './cursor.ts';
import type { Published } from './file.ts';
import { getHash } from './hash.ts';
import { putBaseUrl } from './listing-rows.ts';

/** A live listing as who goes through many of them knows it: enough to read the rest. */
export interface ListingRef {
  /** Row number in this file. Other files of the same catalogue may number otherwise. */
  readonly number: number;
  readonly slug: string;
}

/** Finds a live or delisted listing by slug or base address; of a delisted one there is no more than its tombstone says. */
export function findListing(published: Published, by: { slug: string } | { base_url: string }): Listing | undefined {
  const [column, value] = 'slug' in by ? ['slug', by.slug] : ['base_url', getCanonicalBaseUrl(by.base_url)];
  const sql = `SELECT document FROM listings JOIN documents ON listing = number WHERE ${column} = ?`;
  const row = published.prepare<{ document: string }>(sql).get(value);
  return row && JSON.parse(row.document);
}

/** What readers know of a listing in any state by its slug; title and host are empty where it was never live. */
export function findKnownName(published: Published, slug: string): { title: string; base_url: string } | undefined {
  const sql = `SELECT coalesce(title, '') AS title, coalesce(base_url, '') AS base_url FROM listings WHERE slug = ?`;
  return published.prepare<{ title: string; base_url: string }>(sql).get(slug);
}

/** Finds what remains of a delisted listing; undefined for all others. */
export function findTombstone(published: Published, slug: string): Tombstone | undefined {
  const sql = `SELECT document FROM listings JOIN documents ON listing = number WHERE slug = ? AND state = 'delisted'`;
  const row = published.prepare<{ document: string }>(sql).get(slug);
  return row && buildTombstone(JSON.parse(row.document));
}

/** Says whether a listing is delisted. */
export function isDelisted(published: Published, slug: string): boolean {
  return published.prepare("SELECT 1 FROM listings WHERE slug = ? AND state = 'delisted'").get(slug) !== undefined;
}

/** Lists the slugs of the delisted listings, in their order. */
export function listDelisted(published: Published): string[] {
  return published
    .prepare<{ slug: string }>("SELECT slug FROM listings WHERE state = 'delisted' ORDER BY slug")
    .all()
    .map(({ slug }) => slug);
}

/** Counts the listings of any state. */
export function countListings(published: Published): number {
  return published.prepare<{ count: number }>('SELECT count(*) AS count FROM listings').get()?.count ?? 0;
}

/** Reads the short form of a live listing as JSON. Throws where the file has none, which is a fault of ours. */
export function readItem(published: Published, { number, slug }: ListingRef): string {
  const row = published.prepare<{ item: string }>('SELECT item FROM rendered WHERE listing = ?').get(number);
  if (!row) throw new Error(`the published catalogue has no item of ${slug}`);
  return putBaseUrl(row.item, published.baseUrl);
}

/** How a listing answers a request. */
export interface Match {
  /** How much of the request it answers, from 0 to 1, rounded. */
  readonly match: number;
  /** Position of the route that answers most of it, among those that pass the filters; undefined without routes. */
  readonly position: number | undefined;
  /** Slugs of listings that match, too, and are the same product at other addresses. */
  readonly same_product: readonly string[];
}

/** Reads the short forms of the listings of a page as JSON, with a request each with how it answers that. */
export function readSelected(
  published: Published,
  { listings, answer }: { listings: readonly ListingRef[]; answer: { matches: readonly Match[] } | undefined },
): string[] {
  const find = published.prepare<{ route: string }>(
    'SELECT route FROM rendered_routes WHERE listing = ? AND position = ?',
  );
  return listings.map((listing, at) => {
    const item = readItem(published, listing);
    const match = answer?.matches[at];
    if (!match) return item;
    const row = match.position === undefined ? undefined : find.get(listing.number, match.position);
    const others = match.same_product.length > 0 ? `,"same_product":${JSON.stringify(match.same_product)}` : '';
    return `${item.slice(0, -1)},"match":${match.match}${row ? `,"route":${row.route}` : ''}${others}}`;
  });
}

/** Reads the short form of a live listing. */
export function getItem(published: Published, listing: ListingRef): AgentItem {
  return JSON.parse(readItem(published, listing));
}

/** All that is said of a live listing and some of its routes. */
export interface Detail {
  /** Of which revision of the catalogue it is. */
  readonly revision: number;
  /** As JSON, without that revision. */
  readonly detail: string;
  /** Changes whenever the JSON does. */
  readonly etag: string;
}

/** Finds all that is said of a live listing and the routes of a part. */
export function findDetail({ prepare, baseUrl }: Published, slug: string, part: RoutesPart): Detail | undefined {
  const row = prepare<{ revision: number; number: number; detail: string; detail_hash: string }>(
    `SELECT catalogue.revision, number, detail, detail_hash
     FROM catalogue, listings JOIN rendered ON listing = number WHERE slug = ?`,
  ).get(slug);
  if (!row) return undefined;
  const { revision, number, detail, detail_hash } = row;
  const routes = prepare<{ detail: string }>(
    'SELECT detail FROM rendered_routes WHERE listing = ? AND position BETWEEN ? AND ? ORDER BY position',
  ).all(number, part.from, part.to);
  const texts = routes.slice(0, part.to - part.from).map((route) => route.detail);
  // One more than is shown says that there is a next page.
  const next = routes.length > texts.length ? `"next_cursor":"${part.buildNext()}",` : '';
  const shown = `"routes":[${texts.join(',')}]},${next}`;
  // Only here, since quotes in text are escaped.
  const whole = detail.replace('"routes":[]},', () => shown);
  return {
    revision,
    detail: putBaseUrl(whole, baseUrl),
    etag: getHash(`${detail_hash} ${baseUrl} ${part.from} ${part.to}`),
  };
}

/** Says whether a live listing has a route at a place, counted from 0. */
export function hasRouteAt({ prepare }: Published, slug: string, place: number): boolean {
  const sql = 'SELECT 1 FROM listings JOIN rendered_routes ON listing = number WHERE slug = ? AND position = ?';
  return prepare(sql).get(slug, place) !== undefined;
}

/** How many are read at a time: few enough that they are garbage before V8 takes them for lasting. */
const READ_AT_ONCE = 32;

/** Goes through the short forms and OpenAPI tags of all live listings as JSON, by slug, a few at a time. */
export function* iterateRendered(published: Published): Generator<readonly { item: string; tag: string }[]> {
  const put = (text: string) => putBaseUrl(text, published.baseUrl);
  const statement = published.prepare<{ slug: string; item: string; tag: string }>(
    'SELECT slug, item, tag FROM listings JOIN rendered ON listing = number WHERE slug > ? ORDER BY slug LIMIT ?',
  );
  for (let last = ''; ; ) {
    const rows = statement.all(last, READ_AT_ONCE);
    if (rows.length > 0) yield rows.map(({ item, tag }) => ({ item: put(item), tag: put(tag) }));
    last = rows.at(-1)?.slug ?? '';
    if (rows.length < READ_AT_ONCE) return;
  }
}

/** Where a listing is, and of which revision it is. */
export interface ListingAddress {
  readonly number: number;
  readonly slug: string;
  readonly base_url: string;
  readonly revision: number;
}

/** `@` sorts right after `?`: what lies between is the address with a query behind it. */
const AT = `
  SELECT number, slug, base_url, revision FROM json_each(@addresses) AS asked JOIN listings ON base_url = asked.value
    WHERE state <> 'held'
  UNION ALL
  SELECT number, slug, base_url, revision FROM json_each(@addresses) AS asked
    JOIN listings ON base_url >= asked.value || '?' AND base_url < asked.value || '@' WHERE state <> 'held'`;

/** `0` sorts right after `/`. */
const ON_ORIGIN = `
  SELECT number, slug, base_url, revision FROM listings WHERE base_url = @origin AND state = 'live'
  UNION ALL
  SELECT number, slug, base_url, revision FROM listings
    WHERE base_url >= @origin || '/' AND base_url < @origin || '0' AND state = 'live' LIMIT @limit`;

/** Lists the live and delisted listings whose base address is one of these, or is one of these with a query behind it. */
export function listListingsAt(published: Published, addresses: readonly string[]): ListingAddress[] {
  return published.prepare<ListingAddress>(AT).all({ addresses: JSON.stringify(addresses) });
}

/** Lists the first live listings whose base address is on an origin. */
export function listLiveOnOrigin(published: Published, origin: string, limit: number): ListingAddress[] {
  return published.prepare<ListingAddress>(ON_ORIGIN).all({ origin, limit });
}

/** Lists the live listings that were listed last, the latest first. */
export function listNewest(published: Published, limit: number): (ListingRef & { listed_at: string })[] {
  return published
    .prepare<ListingRef & { listed_at: string }>(
      "SELECT number, slug, listed_at FROM listings WHERE state = 'live' ORDER BY listed_at DESC, slug LIMIT ?",
    )
    .all(limit);
}

/** Lists the live listings that were verified last, the latest first. */
export function listNewlyVerified(published: Published, limit: number): ListingRef[] {
  return published
    .prepare<ListingRef>(
      'SELECT number, slug FROM listings WHERE verified_at IS NOT NULL ORDER BY verified_at DESC, slug LIMIT ?',
    )
    .all(limit);
}
