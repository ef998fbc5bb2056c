import { sql } from 'kysely';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { buildAwayError, isAway, isPostgresAddress } from '../model/catalogue-address.ts';
import { type Catalogue, holdState, openCatalogueForReading } from './database.ts';
import { findFileNumber } from './sqlite-file.ts';
import type { ChangesTable, ListingDaysTable, ListingsTable, RevisionsTable } from './tables.ts';
import { type CatalogueState, getCatalogueState } from './transaction.ts';

/**
 * Longest time for connecting to PostgreSQL, and for one statement, in milliseconds. A server that is gone does not answer at
 * all.
 */
const DEADLINE_MS = 4000;

/** Most listings that are read at a time. It is small because their documents are long. */
const LISTINGS_AT_ONCE = 32;

/** Most changes or revisions that are read at a time. */
const ROWS_AT_ONCE = 256;

/** A row of a change. The detail is JSON. */
export type ChangeRow = Omit<ChangesTable, 'seq'> & { seq: number };

/** A row of a listing. The document is JSON, `{}` before its first publication. */
export type ChangedListing = Pick<
  ListingsTable,
  'id' | 'slug' | 'base_url' | 'state' | 'revision' | 'document' | 'was_live'
> & { number: number; readonly receipts: readonly ReceiptRow[] };

/** A settled payment, with the route that it was made for. */
export interface ReceiptRow {
  readonly id: string;
  /** Number of its listing. */
  readonly listing: number;
  readonly method: string;
  readonly path: string;
  readonly revision: number;
  /** JSON of model `Payment`. */
  readonly document: string;
  readonly because: string | null;
  readonly corrected_at: string | null;
}

/** A round for readers: the results of all probers together, without those that were their own fault. */
export interface RoundRow {
  readonly round: number;
  readonly hosts: number;
  readonly failing: number;
  readonly ours: 0 | 1;
}

/** Some of these rows, by table. Listings come with all of their receipts. */
export interface DeltaSlice {
  readonly revisions?: readonly RevisionsTable[];
  readonly changes?: readonly ChangeRow[];
  readonly listing_days?: readonly ListingDaysTable[];
  readonly rounds?: readonly RoundRow[];
  readonly listings?: readonly ChangedListing[];
}

/** The point up to which a catalogue was copied: its revision, the last change in the log, and the last day (UTC date). */
export interface KnownState {
  readonly revision: number;
  readonly seq: number;
  readonly day: string;
}

/** All changes after a known point, as of one state of the catalogue. */
export interface Delta {
  /** The state of the catalogue after them. */
  readonly state: CatalogueState;
  /** Number of changed listings. */
  readonly listings: number;
  readonly slices: AsyncIterable<DeltaSlice>;
}

/** A catalogue that is being followed. */
export interface FollowedCatalogue {
  /**
   * Returns the identity of the catalogue, its revision and the time of the revision. Throws `unavailable` while it cannot be
   * read, or while its file is missing or replaced by another one. A new file is not followed, because SQLite would take the
   * journal (`-wal`) of the old file for its own.
   */
  readState(): Promise<CatalogueState>;
  /**
   * Returns true if a revision of the catalogue has this time, ISO 8601 UTC. After a restore from a backup, a revision of the
   * same number may have another time.
   */
  hasRevision(revision: number, at: string): Promise<boolean>;
  /**
   * Calls `work` with everything after `known`, or with the whole catalogue, all of one state, whatever is written meanwhile.
   * Slices must be read within `work`.
   */
  fetchDelta<Result>(known: KnownState | undefined, work: (delta: Delta) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/**
 * Opens a catalogue for following, read-only. It connects to PostgreSQL again after each failure, since a connection whose
 * packets are lost never reports that. Throws as `openCatalogueForReading` does.
 */
export async function openFollowed(address: string): Promise<FollowedCatalogue> {
  const open = () => openCatalogueForReading(address, { deadlineMs: DEADLINE_MS });
  const number = isPostgresAddress(address) ? undefined : findFileNumber(address);
  let catalogue: Catalogue | undefined = await open();
  const ask = async <Result>(work: (catalogue: Catalogue) => Promise<Result>): Promise<Result> => {
    if (number !== undefined && findFileNumber(address) !== number) throw buildReplaced(address);
    catalogue ??= await open();
    try {
      return await work(catalogue);
    } catch (error) {
      if (error instanceof ServiceError && error.reason === 'catalogue_away') {
        // A server that is gone never confirms the end of a connection, so nothing waits for it.
        void catalogue.close().catch(() => undefined);
        catalogue = undefined;
      }
      throw error;
    }
  };
  return {
    readState: () => ask((asked) => read(asked, getCatalogueState(asked))),
    hasRevision: (revision, at) => ask((asked) => read(asked, hasRevision(asked, revision, at))),
    fetchDelta: (known, work) =>
      ask(async (asked) => {
        // Errors of `work` are passed on unchanged. All others are failures to read, including the end of the transaction.
        let failureOfWork: unknown;
        const fetched = fetchDelta(asked, known, (delta) =>
          work(delta).catch((error: unknown) => {
            failureOfWork = error;
            throw error;
          }),
        );
        return await fetched.catch((error: unknown) => {
          throw error === failureOfWork ? error : asReadError(asked, error);
        });
      }),
    close: async () => void (await catalogue?.close()),
  };
}

/** Returns the result of a reading, or throws an error that explains why the catalogue cannot be read. */
async function read<Value>(catalogue: Catalogue, reading: Promise<Value>): Promise<Value> {
  return await reading.catch((error: unknown) => {
    throw asReadError(catalogue, error);
  });
}

function asReadError({ address, name }: Catalogue, error: unknown): unknown {
  if (error instanceof ServiceError) return error;
  if (isPostgresAddress(address)) return isAway(error) ? buildAwayError(address, error) : error;
  return new ServiceError('unavailable', `The catalogue ${name} cannot be read: ${getErrorMessage(error)}.`, {
    hint: 'catalogue check says what is wrong with it, and what to do.',
    reason: 'catalogue_unreadable',
    cause: error,
  });
}

async function hasRevision({ query }: Catalogue, revision: number, at: string): Promise<boolean> {
  const found = await query.selectFrom('revisions').select('at').where('revision', '=', revision).executeTakeFirst();
  return found?.at === at;
}

async function fetchDelta<Result>(
  catalogue: Catalogue,
  known: KnownState | undefined,
  work: (delta: Delta) => Promise<Result>,
): Promise<Result> {
  return await holdState(catalogue, async (held) => {
    const state = await read(held, getCatalogueState(held));
    const numbers = await read(held, listNumbers(held, known));
    const slices = async function* () {
      const all = readSlices(held, known, numbers);
      for (let next = await read(held, all.next()); !next.done; next = await read(held, all.next())) yield next.value;
    };
    return await work({ state, listings: numbers.length, slices: slices() });
  });
}

/** Lists the numbers of the listings that changed, or that have a newly recorded payment, in order. */
async function listNumbers({ query }: Catalogue, known: KnownState | undefined): Promise<number[]> {
  const listings = query.selectFrom('listings').select('listings.number');
  if (!known) return (await listings.orderBy('number').execute()).map(({ number }) => number);
  const paid = query
    .selectFrom('payments')
    .innerJoin('routes', 'routes.id', 'payments.route_id')
    .innerJoin('listings', 'listings.id', 'routes.listing_id')
    .select('listings.number')
    .where('payments.revision', '>', known.revision);
  // Two queries with an index each: for a single sorted union SQLite would go through all listings.
  const rows = [...(await listings.where('revision', '>', known.revision).execute()), ...(await paid.execute())];
  return [...new Set(rows.map(({ number }) => number))].sort((a, b) => a - b);
}

async function* readSlices(
  held: Catalogue,
  known: KnownState = { revision: 0, seq: 0, day: '' },
  numbers: readonly number[],
): AsyncGenerator<DeltaSlice> {
  const { query } = held;
  for (let last = known.revision; ; ) {
    const revisions = await query
      .selectFrom('revisions')
      .select(['revision', 'at'])
      .where('revision', '>', last)
      .orderBy('revision')
      .limit(ROWS_AT_ONCE)
      .execute();
    yield { revisions };
    if (revisions.length < ROWS_AT_ONCE) break;
    last = revisions.at(-1)?.revision ?? last;
  }
  yield { listing_days: await query.selectFrom('listing_days').selectAll().where('day', '>=', known.day).execute() };
  yield { rounds: await readRounds(held, known.revision) };
  for (let last = known.seq; ; ) {
    const changes: ChangeRow[] = await query
      .selectFrom('changes')
      .select(['seq', 'revision', 'at', 'listing_id', 'kind', 'reason', 'detail'])
      .where('seq', '>', last)
      .orderBy('seq')
      .limit(ROWS_AT_ONCE)
      .execute();
    yield { changes };
    if (changes.length < ROWS_AT_ONCE) break;
    last = changes.at(-1)?.seq ?? last;
  }
  for (let at = 0; at < numbers.length; at += LISTINGS_AT_ONCE) {
    yield { listings: await readListings(held, numbers.slice(at, at + LISTINGS_AT_ONCE)) };
  }
}

async function readListings({ query }: Catalogue, numbers: readonly number[]): Promise<ChangedListing[]> {
  const listings = await query
    .selectFrom('listings')
    .select(['number', 'id', 'slug', 'base_url', 'state', 'revision', 'document', 'was_live'])
    .where('number', 'in', numbers)
    .orderBy('number')
    .execute();
  const receipts: ReceiptRow[] = await query
    .selectFrom('listings')
    .innerJoin('routes', 'routes.listing_id', 'listings.id')
    .innerJoin('payments', 'payments.route_id', 'routes.id')
    .leftJoin('corrections', 'corrections.receipt_id', 'payments.id')
    .select(['payments.id', 'listings.number as listing', 'routes.method', 'routes.path', 'payments.document'])
    .select(({ ref }) => ref('payments.revision').$notNull().as('revision'))
    .select(['corrections.because', 'corrections.at as corrected_at'])
    .where('listings.number', 'in', numbers)
    .where('payments.revision', 'is not', null)
    .orderBy('payments.id')
    .execute();
  const byListing = Map.groupBy(receipts, ({ listing }) => listing);
  return listings.map((listing) => ({ ...listing, receipts: byListing.get(listing.number) ?? [] }));
}

/** Reads the rounds whose public result changed after a revision. */
async function readRounds({ query }: Catalogue, revision: number): Promise<RoundRow[]> {
  const { rows } = await sql<RoundRow>`SELECT round, min(shown_ours) AS ours,
      CAST(sum(CASE WHEN shown_ours = 0 THEN shown_hosts ELSE 0 END) AS INTEGER) AS hosts,
      CAST(sum(CASE WHEN shown_ours = 0 THEN shown_failing ELSE 0 END) AS INTEGER) AS failing
    FROM rounds WHERE shown_hosts IS NOT NULL AND round IN (SELECT round FROM rounds WHERE revision > ${revision})
    GROUP BY round ORDER BY round`.execute(query);
  return rows;
}

function buildReplaced(file: string): ServiceError {
  return new ServiceError('unavailable', `Another file, or none, is in the place of the catalogue ${file}.`, {
    hint: 'Move the same file back. Where the other one is to be served, stop all that uses the catalogue, and start it again.',
    reason: 'catalogue_replaced',
  });
}
