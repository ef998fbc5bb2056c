import { setImmediate as nextTurn } from 'node:timers/promises';
import { getCanonicalBaseUrl, type Listing, type ListingHead, type LiveListing } from '../model/listing.ts';
import type { Route } from '../model/route.ts';
import type { AgentItem } from '../views/listing/item.ts';
import { buildAgentListing, findTombstone as buildTombstone, type Tombstone } from '../views/listing/record.ts';
import { listChanges } from './changes.ts';
import type { RoutesPart } from './cursor.ts';
import type { Published } from './file.ts';
import { getHash } from './hash.ts';

/** A live listing as who goes through many of them knows it: enough to read the rest. */
export interface ListingRef {
  /** Row number in this file. Other files of the same catalogue may number otherwise. */
  readonly number: number;
  readonly slug: string;
}

/** A row of a listing that is live or delisted. */
interface ListingRow {
  readonly number: number;
  readonly state: 'live' | 'delisted';
  /** JSON, of a live listing without its routes. */
  readonly document: string;
}

const SELECT = 'SELECT number, state, document FROM listings JOIN documents ON listing = number';

/** What a listing is found by: slug, base address or row number. */
type ListingKey = { slug: string } | { base_url: string } | { number: number };

/** Finds a live or delisted listing; of a delisted one there is no more than its tombstone says. */
export function findListing(published: Published, by: ListingKey): Listing | undefined {
  const read = findUnparsed(published, by);
  return read && parseListing(read);
}

/** A listing whose routes are still JSON. */
export interface UnparsedListing {
  /** All of it but the routes; of a delisted listing all of it. */
  readonly head: Listing;
  readonly routes: readonly string[];
}

/** As `findListing`, but leaves the routes unparsed. */
export function findUnparsed(published: Published, by: ListingKey): UnparsedListing | undefined {
  const row =
    'slug' in by
      ? published.prepare<ListingRow>(`${SELECT} WHERE slug = ?`).get(by.slug)
      : 'number' in by
        ? published.prepare<ListingRow>(`${SELECT} WHERE number = ?`).get(by.number)
        : published.prepare<ListingRow>(`${SELECT} WHERE base_url = ?`).get(getCanonicalBaseUrl(by.base_url));
  return row && readRoutes(published, row);
}

function readRoutes({ prepare }: Published, { number, state, document }: ListingRow): UnparsedListing {
  const head = JSON.parse(document);
  if (state === 'delisted') return { head, routes: [] };
  const routes = prepare<{ document: string }>('SELECT document FROM routes WHERE listing = ? ORDER BY position');
  return { head, routes: routes.all(number).map((route) => route.document) };
}

/** Parses the routes of a listing. */
export function parseListing({ head, routes }: UnparsedListing): Listing {
  return head.state === 'delisted' ? head : { ...head, routes: JSON.parse(`[${routes.join(',')}]`) };
}

/** How many routes are parsed at a time. */
const PARSED_AT_ONCE = 500;

/** As `parseListing`, with others answered in between: thousands of routes take tens of milliseconds. */
export async function parseInPieces({ head, routes }: UnparsedListing): Promise<Listing> {
  const parsed: Route[] = [];
  for (let from = 0; from < routes.length; from += PARSED_AT_ONCE) {
    await nextTurn();
    parsed.push(...JSON.parse(`[${routes.slice(from, from + PARSED_AT_ONCE).join(',')}]`));
  }
  await nextTurn();
  return head.state === 'delisted' ? head : { ...head, routes: parsed };
}

/** Listings read at a time: few, so that others are answered soon and V8 can throw the listings away while they are young. */
const READ_AT_ONCE = 8;

/** Goes through the live listings by slug, a few at a time. */
export function* iterateLive(published: Published): Generator<readonly LiveListing[]> {
  const next = published.prepare<ListingRow>(`${SELECT} WHERE state = 'live' AND slug > ? ORDER BY slug LIMIT ?`);
  for (let last = ''; ; ) {
    const listings = next.all(last, READ_AT_ONCE).map((row) => parseListing(readRoutes(published, row)) as LiveListing);
    if (listings.length > 0) yield listings;
    last = listings.at(-1)?.slug ?? '';
    if (listings.length < READ_AT_ONCE) return;
  }
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
  return row.item;
}

/** How a listing answers a request. */
export interface Match {
  /** How much of the request it answers, from 0 to 1, rounded. */
  readonly match: number;
  /** Position of the route that answers most of it, among those that pass the filters; undefined without routes. */
  readonly position: number | undefined;
}

/** Reads the short forms of the listings of a page as JSON, with a request each with how it answers that. */
export function readSelected(
  published: Published,
  { listings, answer }: { listings: readonly ListingRef[]; answer: { matches: readonly Match[] } | undefined },
): string[] {
  return listings.map((listing, at) => {
    const item = readItem(published, listing);
    const match = answer?.matches[at];
    if (!match) return item;
    const route = match.position === undefined ? undefined : findMatchedRoute(published, listing, match.position);
    return `${item.slice(0, -1)},"match":${match.match}${route ? `,"route":${route}` : ''}}`;
  });
}

/** Finds the short form of a route of a live listing by its position, as JSON of `MatchedRoute`. */
export function findMatchedRoute(
  { prepare }: Published,
  { number }: Pick<ListingRef, 'number'>,
  position: number,
): string | undefined {
  const sql = 'SELECT route FROM rendered_routes WHERE listing = ? AND position = ?';
  return prepare<{ route: string }>(sql).get(number, position)?.route;
}

/** Reads the short form of a live listing. */
export function getItem(published: Published, listing: ListingRef): AgentItem {
  return JSON.parse(readItem(published, listing));
}

/** Finds a route of a live listing by its position, with what is on record of the listing itself. */
export function findRoute(
  { prepare }: Published,
  { number }: Pick<ListingRef, 'number'>,
  position: number,
): { listing: ListingHead; route: Route } | undefined {
  const row = prepare<{ head: string; route: string }>(
    `SELECT documents.document AS head, routes.document AS route FROM routes JOIN documents USING (listing)
     WHERE listing = ? AND position = ?`,
  ).get(number, position);
  return row && { listing: JSON.parse(row.head), route: JSON.parse(row.route) };
}

/** The routes that are read of a live listing: a part of them in their own order, or of `fitting`, their positions in another. */
interface AskedRoutes {
  readonly part: Pick<RoutesPart, 'from' | 'to'>;
  readonly fitting?: readonly number[] | undefined;
}

/** Name of a route, and the address at which it is called. */
export type NamedAddress = Pick<Route, 'method' | 'path'> & { readonly url: string };

/** A live listing with some of its routes. */
export interface ListingPart {
  /** Revision of the catalogue that this is of. */
  readonly revision: number;
  readonly listing: LiveListing;
  readonly item: AgentItem;
  readonly routesTotal: number;
}

/** Finds a live listing with some of its routes, in the time that these take: it may have thousands. */
export function findListingPart(
  { prepare }: Published,
  slug: string,
  { part, fitting }: AskedRoutes,
): ListingPart | undefined {
  const row = prepare<{ number: number; revision: number; item: string; head: string; routes: number }>(
    `SELECT number, catalogue.revision, item, document AS head,
       (SELECT coalesce(max(position) + 1, 0) FROM routes WHERE listing = number) AS routes
     FROM catalogue, listings JOIN rendered ON rendered.listing = number JOIN documents ON documents.listing = number
     WHERE slug = ?`,
  ).get(slug);
  if (!row) return undefined;
  const routes = fitting
    ? prepare<{ document: string }>(
        `SELECT document FROM json_each(?) AS asked JOIN routes ON listing = ? AND position = asked.value
         ORDER BY asked.key`,
      ).all(JSON.stringify(fitting.slice(part.from, part.to)), row.number)
    : prepare<{ document: string }>(
        'SELECT document FROM routes WHERE listing = ? AND position >= ? AND position < ? ORDER BY position',
      ).all(row.number, part.from, part.to);
  return {
    revision: row.revision,
    listing: { ...JSON.parse(row.head), routes: routes.map(({ document }) => JSON.parse(document)) },
    item: JSON.parse(row.item),
    routesTotal: row.routes,
  };
}

/** Lists the methods, paths and addresses of the routes of a live listing by position. */
export function listRouteNames({ prepare }: Published, slug: string): NamedAddress[] {
  return prepare<NamedAddress>(
    `SELECT method, path, url FROM listings JOIN routes ON listing = number WHERE slug = ? AND state = 'live'
     ORDER BY position`,
  ).all(slug);
}

/** All that is said of a live listing and some of its routes. */
export interface Detail {
  /** Revision of the catalogue that this is of. */
  readonly revision: number;
  /** As JSON, without that revision. */
  readonly detail: string;
  /** Changes whenever the JSON does. */
  readonly etag: string;
}

/** Finds all that is said of a live listing and some of its routes, with `others`, the slugs of the same product elsewhere. */
export function findDetail(
  published: Published,
  slug: string,
  { part, fitting, others }: AskedRoutes & { part: RoutesPart; others: string[] },
): Detail | undefined {
  const found = findListingPart(published, slug, { part, fitting });
  if (!found) return undefined;
  const { revision, listing, item, routesTotal } = found;
  const answer = buildAgentListing(listing, {
    item: others.length > 0 ? { same_product: others, ...item } : item,
    routesTotal,
    nextCursor: part.to < routesTotal ? part.buildNext() : undefined,
    decisions: listChanges(published, { slug }),
  });
  const detail = JSON.stringify(answer);
  return { revision, detail, etag: getHash(detail) };
}

/** Says whether a live listing has a route at a place, counted from 0. */
export function hasRouteAt({ prepare }: Published, slug: string, place: number): boolean {
  const sql = 'SELECT 1 FROM listings JOIN routes ON listing = number WHERE slug = ? AND position = ?';
  return prepare(sql).get(slug, place) !== undefined;
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
      "SELECT number, slug, listed_at FROM listings WHERE +state = 'live' ORDER BY listed_at DESC, slug LIMIT ?",
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

/** A live listing, at which revision it changed last, and whether others have the same product. */
export interface LiveRef extends ListingRef {
  readonly revision: number;
  readonly is_elsewhere: 0 | 1;
}

/** Finds a live listing by its slug. */
export function findLive(published: Published, slug: string): ListingRef | undefined {
  const sql = "SELECT number, slug FROM listings WHERE state = 'live' AND slug = ?";
  return published.prepare<ListingRef>(sql).get(slug);
}

/** How many live listings are read at once: while a statement is at its rows, its connection takes no transaction. */
const REFS_AT_ONCE = 1000;

/** Goes through the live listings by slug. */
export function* iterateRefs(published: Published): Generator<LiveRef> {
  const elsewhere = 'SELECT 1 FROM listings AS other WHERE other.product = own.product AND other.number <> own.number';
  const statement = published.prepare<LiveRef>(
    `SELECT number, slug, revision, EXISTS (${elsewhere}) AS is_elsewhere
     FROM listings AS own WHERE state = 'live' AND slug > ? ORDER BY slug LIMIT ${REFS_AT_ONCE}`,
  );
  for (let last = ''; ; ) {
    const refs = statement.all(last);
    yield* refs;
    const end = refs.at(-1);
    if (!end) return;
    last = end.slug;
  }
}

/** Lists slugs of live listings in their order, each with the time of its latest change: at most `limit` from a place on. */
export function listUpdates(
  published: Published,
  start: number,
  limit: number,
): { slug: string; updated_at: string }[] {
  const sql = "SELECT slug, updated_at FROM listings WHERE state = 'live' ORDER BY slug LIMIT ? OFFSET ?";
  return published.prepare<{ slug: string; updated_at: string }>(sql).all(limit, start);
}

/** Most other addresses of a product that are named. */
export const SAME_PRODUCT_MAX = 20;

/** Only live listings have a product. */
const SAME_PRODUCT = `SELECT other.slug FROM listings AS own JOIN listings AS other ON other.product = own.product
  WHERE own.slug = ? AND other.number <> own.number ORDER BY other.slug LIMIT ${SAME_PRODUCT_MAX}`;

/** Lists the slugs of the listings that are the same product as one, at other addresses; empty if it is at one alone. */
export function listSameProduct(published: Published, slug: string): string[] {
  return published
    .prepare<{ slug: string }>(SAME_PRODUCT)
    .all(slug)
    .map((other) => other.slug);
}
