import { ServiceError } from '../errors.ts';
import type { ChangesTable, ListingDaysTable, ListingsTable, RevisionsTable } from './tables.ts';

/**
 * A query for what the published catalogue does not have yet, in plain SQL that every engine understands: a server
 * follows the catalogue without loading Kysely. `?` is a parameter. All queries for one update belong in one read
 * transaction.
 */
export interface NewsQuery<Row> {
  readonly sql: string;
  readonly parameters: readonly (string | number)[];
  /** Never set: the type of the rows. */
  readonly row?: Row;
}

/** The channel on which PostgreSQL announces revisions. */
export const NEWS_CHANNEL = 'catalogue';

/** Largest number of rows that a query returns at a time; a caller goes on after the last row that it got. */
const NEWS_AT_ONCE = 256;

/** Largest number of listings that a query returns at a time. Smaller, because listings have long documents. */
const LISTINGS_AT_ONCE = 32;

/** Asks for the identity of the catalogue, its latest revision and the time of that. */
export function selectState(): NewsQuery<{ identity: string; revision: number; revised_at: string }> {
  return { sql: 'SELECT identity, revision, revised_at FROM catalogue', parameters: [] };
}

/** Asks for the public key of events for webhooks; null before the first event. */
export function selectWebhookKey(): NewsQuery<{ webhook_key: string | null }> {
  return { sql: 'SELECT webhook_key FROM catalogue', parameters: [] };
}

/** Asks for the time of a revision, ISO 8601 UTC; no row if the catalogue never had it. */
export function selectRevisionTime(revision: number): NewsQuery<{ at: string }> {
  return { sql: 'SELECT at FROM revisions WHERE revision = ?', parameters: [revision] };
}

/** Asks for the revisions after one, in order. */
export function selectRevisionsSince(revision: number): NewsQuery<RevisionsTable> {
  return {
    sql: 'SELECT revision, at FROM revisions WHERE revision > ? ORDER BY revision LIMIT ?',
    parameters: [revision, NEWS_AT_ONCE],
  };
}

/** A row of a change. The detail is JSON. */
export type NewsChange = Omit<ChangesTable, 'seq'> & { seq: number };

/** Asks for the changes after a place in the log. */
export function selectChangesBehind(seq: number): NewsQuery<NewsChange> {
  return {
    sql: 'SELECT seq, revision, at, listing_id, kind, reason, detail FROM changes WHERE seq > ? ORDER BY seq LIMIT ?',
    parameters: [seq, NEWS_AT_ONCE],
  };
}

/** A row of a listing. The document is JSON, `{}` before its first publication. */
export type NewsListing = Pick<
  ListingsTable,
  'id' | 'slug' | 'base_url' | 'state' | 'revision' | 'document' | 'was_live'
> & { number: number };

/** Asks for the listings in any state after one of them, in the order of their latest revision and number. */
export function selectListingsBehind({
  revision,
  number,
}: Pick<NewsListing, 'revision' | 'number'>): NewsQuery<NewsListing> {
  return {
    sql: `SELECT number, id, slug, base_url, state, revision, document, was_live FROM listings
      WHERE (revision, number) > (?, ?) ORDER BY revision, number LIMIT ?`,
    parameters: [revision, number, LISTINGS_AT_ONCE],
  };
}

/** Asks for the listings in any state after a number, in the order of their numbers. */
export function selectListingsAfter(number: number): NewsQuery<NewsListing> {
  return {
    sql: `SELECT number, id, slug, base_url, state, revision, document, was_live FROM listings
      WHERE number > ? ORDER BY number LIMIT ?`,
    parameters: [number, LISTINGS_AT_ONCE],
  };
}

/** Asks for the number of listings in any state. */
export function countListings(): NewsQuery<{ count: number }> {
  return { sql: 'SELECT CAST(count(*) AS INTEGER) AS count FROM listings', parameters: [] };
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

/** Asks for the settled payments after an id whose record changed after a revision, by id. */
export function selectReceiptsBehind(revision: number, id: string): NewsQuery<NewsReceipt> {
  return {
    sql: `${RECEIPTS} AND payments.revision > ? AND payments.id > ? ORDER BY payments.id LIMIT ?`,
    parameters: [revision, id, NEWS_AT_ONCE],
  };
}

/** Asks for the settled payments for routes of a listing. */
export function selectReceiptsOf(listingId: string): NewsQuery<NewsReceipt> {
  return { sql: `${RECEIPTS} AND listings.id = ? ORDER BY payments.id`, parameters: [listingId] };
}

/** Asks for one payment that settled, of all there are. */
export function selectAnyReceipt(): NewsQuery<{ id: string }> {
  return { sql: 'SELECT id FROM payments WHERE revision IS NOT NULL LIMIT 1', parameters: [] };
}

/** Asks for the counts of each day from `day` on (UTC date) on which a listing came, went or changed its verification. */
export function selectDaysFrom(day: string): NewsQuery<ListingDaysTable> {
  return {
    sql: 'SELECT day, listed, taken_out, verified, unverified FROM listing_days WHERE day >= ? ORDER BY day',
    parameters: [day],
  };
}

/** A round as readers see it: the results of all probers together, without those that were their own fault. */
export interface NewsRound {
  readonly round: number;
  readonly hosts: number;
  readonly failing: number;
  readonly ours: 0 | 1;
}

/** Asks for the rounds that changed for readers after a revision. */
export function selectRoundsSince(revision: number): NewsQuery<NewsRound> {
  return {
    sql: `SELECT round, min(shown_ours) AS ours,
        CAST(sum(CASE WHEN shown_ours = 0 THEN shown_hosts ELSE 0 END) AS INTEGER) AS hosts,
        CAST(sum(CASE WHEN shown_ours = 0 THEN shown_failing ELSE 0 END) AS INTEGER) AS failing
      FROM rounds WHERE shown_hosts IS NOT NULL AND round IN (SELECT round FROM rounds WHERE revision > ?)
      GROUP BY round ORDER BY round`,
    parameters: [revision],
  };
}

/** Answers a query about the state that is held. */
export type Ask = <Row>(query: NewsQuery<Row>) => Promise<Row[]>;

/** A catalogue that is followed: read only, and without Kysely. */
export interface NewsSource {
  /** Returns a value that changes whenever anybody writes to the catalogue; called many times a second. */
  getVersion(): unknown;
  /** Runs `work` while what it asks about stays at one state. */
  hold<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result>;
  /** Does the same at once, where the engine can: for processes that do nothing else. */
  holdAtOnce?<Result>(work: (ask: <Row>(query: NewsQuery<Row>) => Row[]) => Result): Result;
  close(): Promise<void>;
}

/** Builds the error for a catalogue of another schema version. */
export function buildOtherVersion(file: string): ServiceError {
  return new ServiceError('bad_input', `${file} is a catalogue of another version of this code.`, {
    hint: 'The command catalogue status says what to do.',
    reason: 'schema_version',
  });
}
