import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentItem } from '../views/listing/item.ts';
import type { RowItem } from '../views/listing/page.ts';
import {
  joinListing,
  type PublicHead,
  type PublicListing,
  type RemovedListing,
  type Tombstone,
} from '../views/listing/record.ts';
import { type PublicRoute, parseRoute } from '../views/listing/route-record.ts';
import { listChanges } from './changes.ts';
import type { RoutesPart } from './cursor.ts';
import type { Published } from './file.ts';

/** A live listing by number and slug, enough to read the rest of it. */
export interface ListingRef {
  /** Row number in this file. Other files of the same catalogue may have other numbers. */
  readonly number: number;
  readonly slug: string;
}

/** Finds a live listing with all its routes: it may have thousands. */
export function findListing(published: Published, slug: string): PublicListing | undefined {
  const found = findListingPart(published, slug, WHOLE);
  return found && { ...found.head, routes: found.routes };
}

/** Number of routes parsed at a time. */
const PARSED_AT_ONCE = 500;

/**
 * As `findListing`, but returns a function that parses the routes while other requests are answered: thousands of them take a
 * tenth of a second, and the page of a single route needs the warnings about all of them.
 */
export function findListingInPieces(published: Published, slug: string): (() => Promise<PublicListing>) | undefined {
  const found = findPart(published, slug, WHOLE);
  if (!found) return undefined;
  const { head, routes: unparsed } = found;
  return async () => {
    const routes: PublicRoute[] = [];
    for (let from = 0; from < unparsed.length; from += PARSED_AT_ONCE) {
      if (from > 0) await nextTurn();
      routes.push(...unparsed.slice(from, from + PARSED_AT_ONCE).map(parseRoute));
    }
    return { ...(JSON.parse(head) as PublicHead), routes };
  };
}

/** A range of listings by slug: from `from` on, before `to` if given, at most `limit` of them. */
export interface SlugRange {
  readonly from: string;
  readonly to?: string | undefined;
  readonly limit: number;
}

/** Lists the live listings of a range by slug, without their routes. */
export function listLive(published: Published, range: SlugRange): PublicHead[] {
  const heads = "SELECT document FROM listings JOIN documents ON listing = number WHERE state = 'live'";
  const { sql, values } = buildRange(heads, range);
  return published
    .prepare<{ document: string }>(sql)
    .all(values)
    .map(({ document }) => JSON.parse(document));
}

/** Lists the slugs of the live listings of a range in order, each with the time of its latest change. */
export function listUpdates(published: Published, range: SlugRange): { slug: string; updated_at: string }[] {
  const { sql, values } = buildRange("SELECT slug, updated_at FROM listings WHERE state = 'live'", range);
  return published.prepare<{ slug: string; updated_at: string }>(sql).all(values);
}

function buildRange(select: string, { from, to, limit }: SlugRange): { sql: string; values: object } {
  const before = to === undefined ? '' : 'AND slug < +@to';
  return {
    sql: `${select} AND slug >= +@from ${before} ORDER BY slug LIMIT +@limit`,
    values: { from, limit, ...(to !== undefined && { to }) },
  };
}

/** Finds the public name and base URL of a listing in any state; both are empty if it was never live. */
export function findKnownName(published: Published, slug: string): { title: string; base_url: string } | undefined {
  const sql = `SELECT coalesce(title, '') AS title, coalesce(base_url, '') AS base_url FROM listings WHERE slug = ?`;
  return published.prepare<{ title: string; base_url: string }>(sql).get(slug);
}

/** Finds the public record of a delisted listing; undefined for all others. */
export function findRemoved({ prepare }: Published, slug: string): RemovedListing | undefined {
  const sql = "SELECT document FROM listings JOIN documents ON listing = number WHERE slug = +? AND state = 'delisted'";
  const row = prepare<{ document: string }>(sql).get(slug);
  return row && JSON.parse(row.document);
}

/** Finds the tombstone of a delisted listing; undefined for all others. */
export function findTombstone(published: Published, slug: string): Tombstone | undefined {
  return findRemoved(published, slug)?.tombstone;
}

/** Returns true if a listing is delisted. */
export function isDelisted(published: Published, slug: string): boolean {
  return published.prepare("SELECT 1 FROM listings WHERE slug = ? AND state = 'delisted'").get(slug) !== undefined;
}

/** Reads the short form of a live listing as JSON. Throws if the file has none, which is our own fault. */
function readItem({ prepare }: Published, { number, slug }: ListingRef): string {
  const row = prepare<{ item: string }>('SELECT item FROM items WHERE listing = ?').get(number);
  if (row === undefined) throw new Error(`the published catalogue has no item of ${slug}`);
  return row.item;
}

/** The match between a listing and a request. */
export interface Match {
  /** Share of the request that the listing answers, from 0 to 1, rounded. */
  readonly match: number;
  /** Position of the route that answers most of the request, among those that pass the filters; undefined without routes. */
  readonly position: number | undefined;
}

/** Reads the short forms of a page's listings as JSON, each with its match if there is a request. */
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

/** Reads the short form of a live listing with its daily samples, which the rows of pages draw. */
export function getRow(published: Published, listing: ListingRef): RowItem {
  return addDays(published, listing, getItem(published, listing));
}

/** Adds the daily samples of a live listing to its short form. */
export function addDays({ prepare }: Published, { number }: ListingRef, item: AgentItem): RowItem {
  const sql = "SELECT document -> '$.reliability.days' AS days FROM documents WHERE listing = ?";
  const row = prepare<{ days: string }>(sql).get(number);
  return { ...item, days: row ? JSON.parse(row.days) : [] };
}

/** Reads a live listing without its routes, by its number. Throws if the file does not have it, which is our own fault. */
export function readHead({ prepare }: Published, number: number): PublicHead {
  const row = prepare<{ document: string }>('SELECT document FROM documents WHERE listing = ?').get(number);
  if (row === undefined) throw new Error(`the published catalogue has no document of listing ${number}`);
  return JSON.parse(row.document);
}

/** Finds a route of a live listing by its position, with the listing itself. */
export function readRouteAt(
  { prepare }: Published,
  { number }: Pick<ListingRef, 'number'>,
  position: number,
): { listing: PublicHead; route: PublicRoute } | undefined {
  const row = prepare<{ head: string; route: string }>(
    `SELECT documents.document AS head, routes.document AS route FROM routes JOIN documents USING (listing)
     WHERE listing = ? AND position = ?`,
  ).get(number, position);
  return row && { listing: JSON.parse(row.head), route: parseRoute(row.route) };
}

/** The part of a live listing's routes to read: in their own order, or in that of `fitting`, a list of positions. */
export interface AskedRoutes {
  readonly part: Pick<RoutesPart, 'from' | 'to'>;
  readonly fitting?: readonly number[] | undefined;
}

/** All routes of a listing in their own order. */
const WHOLE: AskedRoutes = { part: { from: 0, to: Number.MAX_SAFE_INTEGER } };

/** Name of a route, and the address at which it is called. */
export type NamedAddress = Pick<PublicRoute, 'method' | 'path' | 'url'>;

/** A live listing with some of its routes, as the file stores them. */
interface UnparsedPart {
  /** Revision of its latest change. */
  readonly revision: number;
  /** JSON of `PublicHead`. */
  readonly head: string;
  /** JSON of `AgentRoute`. */
  readonly routes: readonly string[];
  readonly routesTotal: number;
}

/** Finds a live listing with some of its routes. Only these routes are read, since a listing may have thousands. */
function findPart({ prepare }: Published, slug: string, { part, fitting }: AskedRoutes): UnparsedPart | undefined {
  const row = prepare<{ number: number; revision: number; head: string; routesTotal: number }>(
    `SELECT number, revision, document AS head,
       (SELECT coalesce(max(position) + 1, 0) FROM routes WHERE listing = number) AS routesTotal
     FROM listings JOIN documents ON listing = number WHERE slug = +? AND state = 'live'`,
  ).get(slug);
  if (!row) return undefined;
  const { number, ...found } = row;
  const routes = fitting
    ? prepare<{ document: string }>(
        // CROSS keeps this order of reading: SQLite would otherwise compare all routes of the listing with the positions.
        `SELECT document FROM json_each(?) AS asked CROSS JOIN routes ON listing = ? AND position = asked.value
         ORDER BY asked.key`,
      ).all(JSON.stringify(fitting.slice(part.from, part.to)), number)
    : prepare<{ document: string }>(
        'SELECT document FROM routes WHERE listing = ? AND position >= ? AND position < ? ORDER BY position',
      ).all(number, part.from, part.to);
  return { ...found, routes: routes.map(({ document }) => document) };
}

/** A live listing with some of its routes. */
export interface ListingPart {
  readonly head: PublicHead;
  readonly routes: PublicRoute[];
  readonly routesTotal: number;
}

/** As `findPart`, with its JSON parsed. */
export function findListingPart(published: Published, slug: string, asked: AskedRoutes): ListingPart | undefined {
  const found = findPart(published, slug, asked);
  if (!found) return undefined;
  const { head, routes, routesTotal } = found;
  return { head: JSON.parse(head), routes: routes.map(parseRoute), routesTotal };
}

/** Lists the methods, paths and addresses of the routes of a live listing by position. */
export function listRouteNames({ prepare }: Published, slug: string): NamedAddress[] {
  return prepare<NamedAddress>(
    `SELECT method, path, url FROM listings JOIN routes ON listing = number WHERE slug = +? AND state = 'live'
     ORDER BY position`,
  ).all(slug);
}

/** The document of a live listing as it is sent, compressed by gzip, and the revision of the catalogue that has it. */
export interface StoredAnswer {
  readonly etag: string;
  readonly body: Buffer;
  readonly revision: number;
}

/** Finds the document of a live listing with its first page of routes, by one query. */
export function findAnswer({ prepare }: Published, slug: string): StoredAnswer | undefined {
  return prepare<StoredAnswer>(
    'SELECT etag, body, catalogue.revision FROM catalogue, listings JOIN answers ON listing = number WHERE slug = +?',
  ).get(slug);
}

/** Writes the document of a live listing, JSON of `AgentListing`, with some of its routes; undefined for all others. */
export function writeDocument(
  published: Published,
  slug: string,
  { part, fitting }: AskedRoutes & { part: RoutesPart },
): string | undefined {
  const found = findPart(published, slug, { part, fitting });
  return found && joinDocument(published, slug, { ...found, part });
}

/** Joins the document of a live listing from the stored head and a part of the routes. */
export function joinDocument(
  published: Published,
  slug: string,
  { part, routes, ...around }: UnparsedPart & { part: RoutesPart },
): string {
  return joinListing(routes, {
    ...around,
    sameProduct: listSameProduct(published, slug),
    nextCursor: part.to < around.routesTotal ? part.buildNext() : undefined,
    decisions: listChanges(published, { slug }),
  });
}

/** Returns true if a live listing has a route at a position, counted from 0. */
export function hasRouteAt({ prepare }: Published, slug: string, place: number): boolean {
  const sql = 'SELECT 1 FROM listings JOIN routes ON listing = number WHERE slug = +? AND position = +?';
  return prepare(sql).get(slug, place) !== undefined;
}

/** The base address of a listing, and the revision of its latest change. */
export interface ListingAddress extends ListingRef {
  readonly base_url: string;
  readonly revision: number;
}

/** `@` sorts right after `?`, so the range holds the address followed by any query. */
const AT = `
  SELECT number, slug, base_url, revision FROM json_each(@addresses) AS asked JOIN listings ON base_url = asked.value
    WHERE state <> 'held'
  UNION ALL
  SELECT number, slug, base_url, revision FROM json_each(@addresses) AS asked
    JOIN listings ON base_url >= asked.value || '?' AND base_url < asked.value || '@' WHERE state <> 'held'`;

/** `0` sorts right after `/`, so the first range holds every path on the origin; the other holds its root with any query. */
const ON_ORIGIN = `
  SELECT number, slug, base_url, revision FROM listings WHERE base_url = @origin AND state = 'live'
  UNION ALL
  SELECT number, slug, base_url, revision FROM listings
    WHERE base_url >= @origin || '/' AND base_url < @origin || '0' AND state = 'live'
  UNION ALL
  SELECT number, slug, base_url, revision FROM listings
    WHERE base_url >= @origin || '?' AND base_url < @origin || '@' AND state = 'live' LIMIT +@limit`;

/** Lists the live and delisted listings whose base address is one of these, with or without a query after it. */
export function listListingsAt(published: Published, addresses: readonly string[]): ListingAddress[] {
  return published.prepare<ListingAddress>(AT).all({ addresses: JSON.stringify(addresses) });
}

/** Lists the first `limit` live listings whose base address is on an origin. */
export function listLiveOnOrigin(published: Published, origin: string, limit: number): ListingAddress[] {
  return published.prepare<ListingAddress>(ON_ORIGIN).all({ origin, limit });
}

/** Lists the `limit` most recently listed live listings, newest first. */
export function listNewest(published: Published, limit: number): (ListingRef & { listed_at: string })[] {
  return published
    .prepare<ListingRef & { listed_at: string }>(
      "SELECT number, slug, listed_at FROM listings WHERE +state = 'live' ORDER BY listed_at DESC, slug LIMIT +?",
    )
    .all(limit);
}

/** Lists the `limit` most recently verified live listings, newest first. */
export function listNewlyVerified(published: Published, limit: number): ListingRef[] {
  return published
    .prepare<ListingRef>(
      'SELECT number, slug FROM listings WHERE verified_at IS NOT NULL ORDER BY verified_at DESC, slug LIMIT +?',
    )
    .all(limit);
}

/** A live listing with the revision of its latest change. */
export interface LiveRef extends ListingRef {
  readonly revision: number;
}

/** Finds a live listing by its slug. */
export function findLive(published: Published, slug: string): ListingRef | undefined {
  const sql = "SELECT number, slug FROM listings WHERE state = 'live' AND slug = ?";
  return published.prepare<ListingRef>(sql).get(slug);
}

/** Number of live listings read at once: while a statement gives rows, its connection cannot begin a transaction. */
const REFS_AT_ONCE = 1000;

/** Goes through all live listings by slug; `is_elsewhere` is 1 if other listings are of the same product. */
export function* iterateRefs(published: Published): Generator<LiveRef & { readonly is_elsewhere: 0 | 1 }> {
  const elsewhere = 'SELECT 1 FROM listings AS other WHERE other.product = own.product AND other.number <> own.number';
  const statement = published.prepare<LiveRef & { readonly is_elsewhere: 0 | 1 }>(
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

/** Most other addresses of a product that are named. */
export const SAME_PRODUCT_MAX = 20;

/** Only live listings have a product. */
const SAME_PRODUCT = `SELECT other.slug FROM listings AS own JOIN listings AS other ON other.product = own.product
  WHERE own.slug = +? AND other.number <> own.number ORDER BY other.slug LIMIT ${SAME_PRODUCT_MAX}`;

/** Lists the slugs of the listings of the same product at other addresses; empty if there is none. */
export function listSameProduct(published: Published, slug: string): string[] {
  return published
    .prepare<{ slug: string }>(SAME_PRODUCT)
    .all(slug)
    .map((other) => other.slug);
}
