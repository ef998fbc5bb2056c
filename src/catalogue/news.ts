import { type Catalogue, findRowBy, listRowsBy } from './database.ts';
import type { ChangesTable, LatestChangesTable, ListingDaysTable, ListingsTable, RevisionsTable } from './tables.ts';

/**
 * Largest number of rows that a function of this file returns at a time. The functions read what the published catalogue
 * does not have yet; a caller goes on after the last row that it got. All calls belong in one read transaction.
 */
export const NEWS_AT_ONCE = 256;

/** A row of a change. The detail is JSON. */
export type NewsChange = Omit<ChangesTable, 'seq' | 'telling'> & { seq: number; telling: 0 | 1 };

/** Lists the revisions after one, in order. */
export function listRevisionsSince(catalogue: Catalogue, revision: number): RevisionsTable[] {
  return listRowsBy(
    catalogue,
    'SELECT revision, at FROM revisions WHERE revision > ? ORDER BY revision LIMIT ?',
    revision,
    NEWS_AT_ONCE,
  );
}

/** Lists the changes after a place in the log. */
export function listChangesBehind(catalogue: Catalogue, seq: number): NewsChange[] {
  return listRowsBy(
    catalogue,
    `SELECT seq, revision, at, listing_id, kind, reason, detail, telling FROM changes WHERE seq > ? ORDER BY seq LIMIT ?`,
    seq,
    NEWS_AT_ONCE,
  );
}

/** Lists the subjects of listings whose latest change comes after a place in the log. */
export function listLatestBehind(catalogue: Catalogue, seq: number): LatestChangesTable[] {
  return listRowsBy(
    catalogue,
    'SELECT listing_id, subject, seq FROM latest_changes WHERE seq > ? ORDER BY seq LIMIT ?',
    seq,
    NEWS_AT_ONCE,
  );
}

/** A row of a listing. The document is JSON, `{}` before its first publication. */
export type NewsListing = Pick<ListingsTable, 'id' | 'slug' | 'base_url' | 'state' | 'revision' | 'document'> & {
  number: number;
  /** 1: it was live once, so readers know its name. */
  was_live: 0 | 1;
};

/** Fewer than of other rows, because listings have long documents. */
const LISTINGS_AT_ONCE = 32;

/** Lists the listings in any state after one of them, in the order of their latest revision and number. */
export function listListingsBehind(
  catalogue: Catalogue,
  { revision, number }: Pick<NewsListing, 'revision' | 'number'>,
): NewsListing[] {
  return listRowsBy(
    catalogue,
    `SELECT number, id, slug, base_url, state, revision, document,
       state <> 'held' OR EXISTS (SELECT 1 FROM changes WHERE listing_id = listings.id AND kind = 'listed') AS was_live
     FROM listings WHERE (revision, number) > (?, ?) ORDER BY revision, number LIMIT ?`,
    revision,
    number,
    LISTINGS_AT_ONCE,
  );
}

/** A payment that settled, with the route it was made for. */
export interface NewsReceipt {
  readonly id: string;
  readonly listing: number;
  readonly method: string;
  readonly path: string;
  readonly revision: number;
  /** JSON of model `Payment`. */
  readonly document: string;
  readonly because: string | null;
  readonly corrected_at: string | null;
}

const RECEIPTS = `SELECT payments.id, listings.number AS listing, routes.method, routes.path, payments.revision,
    payments.document, corrections.because, corrections.at AS corrected_at
  FROM payments JOIN routes ON routes.id = payments.route_id JOIN listings ON listings.id = routes.listing_id
  LEFT JOIN corrections ON corrections.receipt_id = payments.id
  WHERE payments.revision IS NOT NULL`;

/** Lists the settled payments after an id whose record changed after a revision, by id. */
export function listReceiptsBehind(catalogue: Catalogue, revision: number, id: string): NewsReceipt[] {
  const sql = `${RECEIPTS} AND payments.revision > ? AND payments.id > ? ORDER BY payments.id LIMIT ?`;
  return listRowsBy(catalogue, sql, revision, id, NEWS_AT_ONCE);
}

/** Lists the settled payments for routes of a listing. */
export function listReceiptsOf(catalogue: Catalogue, listingId: string): NewsReceipt[] {
  return listRowsBy(catalogue, `${RECEIPTS} AND listings.id = ?`, listingId);
}

/** Returns whether any payment ever settled. */
export function hasReceipts(catalogue: Catalogue): boolean {
  return findRowBy(catalogue, 'SELECT 1 FROM payments WHERE revision IS NOT NULL LIMIT 1') !== undefined;
}

/** Lists the counts of each day from `day` on (UTC date) on which a listing came, went or changed its verification. */
export function listDaysFrom(catalogue: Catalogue, day: string): ListingDaysTable[] {
  const sql = 'SELECT day, listed, taken_out, verified, unverified FROM listing_days WHERE day >= ? ORDER BY day';
  return listRowsBy(catalogue, sql, day);
}

/** A round as readers see it. */
export interface NewsRound {
  readonly round: number;
  readonly hosts: number;
  readonly failing: number;
  readonly ours: 0 | 1;
}

/** Lists the rounds that changed for readers after a revision. */
export function listRoundsSince(catalogue: Catalogue, revision: number): NewsRound[] {
  return listRowsBy(
    catalogue,
    `SELECT round, shown_hosts AS hosts, shown_failing AS failing, shown_ours AS ours FROM rounds
     WHERE shown_hosts IS NOT NULL AND revision > ? ORDER BY round`,
    revision,
  );
}
