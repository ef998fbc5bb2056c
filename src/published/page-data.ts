import { getDomain } from '../evidence/domains.ts';
import type { Change } from '../model/change.ts';
import { buildGuide } from '../views/guide.ts';
import { DECISION_KINDS, MAX_DECISIONS, MAX_PRICE_STEPS, NOISY_KINDS } from '../views/listing/history.ts';
import { findRoutePage, type ListingPage, type RoutePage, type TombstonePage } from '../views/listing/page.ts';
import type { DocumentFrame } from '../views/openapi/document.ts';
import type { ListPage } from '../views/pages/lists.ts';
import { buildReceiptPage, type ReceiptPage } from '../views/pages/receipt-page.ts';
import { buildReferencePage, type ReferencePage } from '../views/pages/reference-page.ts';
import { buildIdentifier } from '../views/registry.ts';
import { listChanges } from './changes.ts';
import type { Published } from './file.ts';
import { listPassing } from './indexed-lists.ts';
import {
  findKnownName,
  findListing,
  findListingInPieces,
  findLive,
  findRemoved,
  findTombstone,
  getRow,
  listNewest,
  listNewlyVerified,
  listSameProduct,
} from './listings.ts';
import { listChangeNews } from './news.ts';
import { countByCategory, findListPart, type ListFilter } from './page-lists.ts';
import type { Reading } from './reading.ts';
import { findReceipt, getCurrentReceipts } from './receipts.ts';

/** Number of new and of newly verified listings on the home page, and of changes. */
const NEWEST_COUNT = 5;
const NEWS_COUNT = 6;

/** Finds the first and last time of the declared prices, ISO 8601 UTC; undefined once any route was probed. */
function findDeclaredSpan({ prepare }: Published): { from: string; to: string } | undefined {
  const probed = "SELECT 1 FROM rounds UNION ALL SELECT 1 FROM offers WHERE evidence = 'observed' LIMIT 1";
  if (prepare(probed).get()) return undefined;
  const sql = 'SELECT min(last_seen_at) AS "from", max(last_seen_at) AS "to" FROM offers';
  const span = prepare<{ from: string | null; to: string | null }>(sql).get();
  return span?.from && span.to ? { from: span.from, to: span.to } : undefined;
}

/** Reads the data of the home page; each list has the newest first. */
export function readHome({ published, readAtOnce }: Reading) {
  return readAtOnce((snapshot) => ({
    counts: snapshot,
    declared: findDeclaredSpan(published),
    byCategory: countByCategory(published),
    newest: listNewest(published, NEWEST_COUNT).map((listing) => ({
      item: getRow(published, listing),
      at: listing.listed_at,
    })),
    newlyVerified: listNewlyVerified(published, NEWEST_COUNT).map((listing) => getRow(published, listing)),
    news: listChangeNews(published, snapshot, NEWS_COUNT),
  }));
}

/** Placeholders in a path that a caller must fill in. */
const PLACEHOLDERS = /:[A-Za-z_]\w*|\{[^}]+\}/g;

/**
 * Returns the reference, made from the `frame` of the OpenAPI document. Its example calls name a verified listing if
 * there is one, else the first listing.
 */
export function getReferencePage({ published, readAtOnce, site }: Reading, frame: DocumentFrame): ReferencePage {
  return readAtOnce((snapshot) => {
    const first =
      findListPart(published, snapshot, { verified: true }, 1)?.listings[0] ??
      listPassing(published, {}, { sort: 'name', limit: 1 })[0];
    const listing = first && findListing(published, first.slug);
    if (!listing) return buildReferencePage(site, frame, {});
    const route =
      listing.routes.find(({ verification }) => verification === 'settlement-verified') ?? listing.routes[0];
    return buildReferencePage(site, frame, {
      listing: {
        slug: listing.slug,
        identifier: buildIdentifier(site, 'listing', listing.slug),
        domain: getDomain(listing.base_url),
      },
      receipt: getCurrentReceipts(published, listing.slug).keys().next().value,
      route: route && {
        method: route.method,
        url: route.url.replace(PLACEHOLDERS, 'x'),
      },
    });
  });
}

/** Returns the text of `llms.txt`. */
export function getGuide({ published, readAtOnce, site }: Reading): string {
  return readAtOnce((snapshot) => buildGuide(snapshot, countByCategory(published), site));
}

/**
 * Finds a page of the listings that pass a filter by its number, from 1, with the length of the whole list and its time; undefined
 * if there is no such page.
 */
export function findListPage(
  { published, readAtOnce }: Reading,
  shown: ListFilter,
  page: number,
): (ListPage & { readonly total: number; readonly as_of: string }) | undefined {
  return readAtOnce((snapshot) => {
    const part = findListPart(published, snapshot, shown, page);
    if (!part) return undefined;
    const { listings, ...rest } = part;
    return { ...rest, items: listings.map((listing) => getRow(published, listing)), as_of: snapshot.revised_at };
  });
}

/**
 * Finds the page of a listing, with the given page of its routes, or its tombstone; undefined for a listing that is unknown or
 * held. All is read before it returns; thousands of routes are parsed while other requests are answered.
 */
export async function findListingPage(
  reading: Reading,
  slug: string,
  number = 1,
): Promise<ListingPage | TombstonePage | undefined> {
  const { published, readAtOnce } = reading;
  const found = readAtOnce((snapshot) => {
    const tombstone = findTombstone(published, slug);
    if (tombstone) return { gone: { kind: 'gone' as const, tombstone, decision: findDelisting(reading, slug) } };
    const ref = findLive(published, slug);
    return {
      parse: findListingInPieces(published, slug),
      around: ref && {
        related: reading.listRelated(published, snapshot, ref.number).map((near) => getRow(published, near)),
        receipts: getCurrentReceipts(published, slug),
        same_product: listSameProduct(published, slug),
        number,
        ...listHistory(reading, slug),
      },
    };
  });
  if (found.gone) return found.gone;
  const { parse, around } = found;
  return parse && around && { kind: 'live', listing: await parse(), ...around };
}

/**
 * Finds the page of a route by its listing and name, while other requests are answered; undefined if the listing is not live or
 * has no such route.
 */
export async function findPageOfRoute(
  { published, readAtOnce }: Reading,
  slug: string,
  name: string,
): Promise<RoutePage | undefined> {
  const read = readAtOnce(() => {
    const parse = findListingInPieces(published, slug);
    return parse && { parse, receipts: getCurrentReceipts(published, slug) };
  });
  return read && findRoutePage(await read.parse(), name, read.receipts);
}

/** Reads the newest pieces of news, newest first, and the time of the catalogue (ISO 8601 UTC). */
export function readNews({ published, readAtOnce }: Reading, limit: number) {
  return readAtOnce((snapshot) => ({
    news: listChangeNews(published, snapshot, limit),
    as_of: snapshot.revised_at,
  }));
}

/**
 * Finds the page of a receipt: a payment that settled, current or not, whatever became of its listing since. Undefined for
 * any other id, which is written as the service writes it: in lower case.
 */
export function findReceiptPage({ readAtOnce, published, site }: Reading, id: string): ReceiptPage | undefined {
  return readAtOnce(() => {
    const receipt = findReceipt(published, id);
    if (!receipt) return undefined;
    const { payment, slug, method, path, correction } = receipt;
    const listing = findListing(published, slug);
    const removed = findRemoved(published, slug);
    const { title, base_url } = findKnownName(published, slug) ?? { title: slug, base_url: '' };
    const paid = {
      slug,
      title,
      base_url: base_url || payment.request.url,
      state: listing ? ('live' as const) : removed ? ('delisted' as const) : ('held' as const),
      routes: (listing ?? removed)?.routes ?? [],
    };
    return buildReceiptPage(payment, { listing: paid, route: { method, path }, site, correction });
  });
}

/** Changes of the noisy kinds looked through for decisions. */
const MAX_NOISE = 100;

/** The changes of a listing that its page shows, each list with the earliest first. */
interface ListingHistory {
  readonly priced: readonly Change[];
  readonly decisions: readonly Change[];
}

/** A listing of no more changes than these has them read in one go; nearly every one is such. */
const FEW_CHANGES = 100;

/** Lists the changes of a listing that its page shows. Call it while the file stays at one revision. */
export function listHistory({ published }: Reading, slug: string): ListingHistory {
  const latest = listChanges(published, { slug, limit: FEW_CHANGES + 1 });
  const list = (kinds: readonly Change['kind'][], limit: number) => {
    if (latest.length > FEW_CHANGES) return listChanges(published, { slug, kinds, limit });
    return latest.filter(({ kind }) => kinds.includes(kind)).slice(-limit);
  };
  return {
    // One more than is shown, to know whether there are more.
    priced: list(['priced'], MAX_PRICE_STEPS + 1),
    decisions: [...list(DECISION_KINDS, MAX_DECISIONS), ...list(NOISY_KINDS, MAX_NOISE)],
  };
}

/** Finds the change by which a listing was delisted. */
function findDelisting({ published }: Reading, slug: string): Change | undefined {
  return listChanges(published, { slug, kinds: ['delisted'], limit: 1 })[0];
}
