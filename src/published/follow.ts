import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { type Catalogue, openCatalogueForReading } from '../catalogue/database.ts';
import {
  hasReceipts,
  listChangesBehind,
  listDaysFrom,
  listLatestBehind,
  listListingsBehind,
  listReceiptsBehind,
  listReceiptsOf,
  listRevisionsSince,
  listRoundsSince,
  type NewsReceipt,
} from '../catalogue/news.ts';
import { parsePayment } from '../catalogue/payment-records.ts';
import { findRevisionTime as findCatalogueTime, getCatalogueState } from '../catalogue/write.ts';
import { getErrorMessage } from '../errors.ts';
import { isLive, type Listing, type LiveListing } from '../model/listing.ts';
import { buildPublicPayment } from '../model/payment.ts';
import type { Site } from '../views/site.ts';
import { listChanges } from './changes.ts';
import { BUSY_TIMEOUT_MS, isCurrentSchema, openPublishedForWriting, type Published } from './file.ts';
import { indexListing } from './indexing.ts';
import { buildListingRows, parseListing, renderListing } from './listing-rows.ts';
import { openReading, type Reading } from './reading.ts';
import { APPLICATION_ID, OWN_SCHEMA, SCHEMA, SCHEMA_VERSION } from './schema.ts';
import { getPublishedState, type PublishedState } from './state.ts';

/** How long following takes before it lets requests be answered, in milliseconds. */
const TURN_MS = 4;

/**
 * Brings a published catalogue up to date with the catalogue, in one transaction: readers see the state before until all of
 * it is there, and if this is killed, the file is as it was. What the file holds of another catalogue, or of this one
 * before it was restored from a backup, is replaced as a whole. With another `codeVersion` than the one that
 * rendered the listings, all are rendered again. Says whether anything was written. Pauses
 * every few milliseconds, so that requests are answered.
 */
export async function followCatalogue(
  catalogue: Catalogue,
  published: Published,
  codeVersion?: string,
): Promise<boolean> {
  const steps = copyNews(catalogue, published, codeVersion);
  let since = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - since < TURN_MS) continue;
    await nextTurn();
    since = performance.now();
  }
}

/** Does the same without a pause. */
export function followAtOnce(catalogue: Catalogue, published: Published, codeVersion?: string): boolean {
  const steps = copyNews(catalogue, published, codeVersion);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Says whether a file is of this catalogue's latest revision, and rendered by this code. */
function isUpToDate(catalogue: Catalogue, published: Published, codeVersion?: string): boolean {
  const from = findStart(catalogue, published, codeVersion);
  return from !== undefined && !from.rendersAll && from.revision === getCatalogueState(catalogue).revision;
}

/**
 * Says whether a file can be served from while it catches up: it is of this catalogue. What other code rendered is a little
 * out of date, which is better than nothing.
 */
function canBeServed(catalogue: Catalogue, published: Published): boolean {
  return findStart(catalogue, published, undefined) !== undefined;
}

/** Where following begins. */
interface Start extends PublishedState {
  readonly rendersAll: boolean;
}

/** Finds where following begins; undefined if the file has to be made from the beginning. */
function findStart(catalogue: Catalogue, published: Published, codeVersion: string | undefined): Start | undefined {
  if (!isCurrentSchema(published)) return undefined;
  const state = getPublishedState(published);
  if (state.identity !== getCatalogueState(catalogue).identity) return undefined;
  // A catalogue that was restored from a backup went back, and on from there: its revision of this number is another.
  if (state.revision > 0 && findCatalogueTime(catalogue, state.revision) !== state.revised_at) return undefined;
  const rendered = published.prepare<{ code_version: string }>('SELECT code_version FROM rendering').get();
  return { ...state, rendersAll: codeVersion !== undefined && rendered?.code_version !== codeVersion };
}

/** Copies what is missing. At every `yield` it may pause. */
function* copyNews(catalogue: Catalogue, published: Published, codeVersion?: string): Generator<void, boolean> {
  if (isUpToDate(catalogue, published, codeVersion)) return false;
  catalogue.sqlite.exec('BEGIN');
  try {
    const to = getCatalogueState(catalogue);
    published.sqlite.exec('BEGIN IMMEDIATE');
    // Another process may have followed while this one waited for the lock.
    const from = findStart(catalogue, published, codeVersion) ?? createTables(published);
    if (from.revision >= to.revision && from.identity === to.identity && !from.rendersAll) return false;
    yield* copyRows(catalogue, published, from.revision);
    const listings = openListingWriter(catalogue, published);
    if (from.rendersAll) yield* renderAll(published, codeVersion, from.revision === 0 ? [] : listings.renderStored());
    yield* followListings(catalogue, from.revision, listings);
    yield* followReceipts(catalogue, published, from.revision);
    published
      .prepare('UPDATE catalogue SET identity = ?, revision = ?, revised_at = ?')
      .run(to.identity, to.revision, to.revised_at);
    published.sqlite.exec('COMMIT');
    return true;
  } finally {
    if (published.sqlite.inTransaction) published.sqlite.exec('ROLLBACK');
    catalogue.sqlite.exec('ROLLBACK');
  }
}

/** Puts empty tables in the place of all there are. */
function createTables({ sqlite }: Published): Start {
  const tables = sqlite.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  for (const name of tables) sqlite.exec(`DROP TABLE "${name}"`);
  sqlite.exec(SCHEMA);
  sqlite.exec(OWN_SCHEMA);
  sqlite.exec("INSERT INTO catalogue VALUES ('', 0, '')");
  sqlite.pragma(`application_id = ${APPLICATION_ID}`);
  sqlite.pragma(`user_version = ${SCHEMA_VERSION}`);
  return { identity: '', revision: 0, revised_at: '', rendersAll: true };
}

/** The tables that only grow, or whose rows get a new place when they change: the column of the place, and what lies behind one. */
const GROWING: Readonly<
  Record<string, readonly [place: string, list: (catalogue: Catalogue, last: number) => object[]]>
> = {
  revisions: ['revision', listRevisionsSince],
  changes: ['seq', listChangesBehind],
  latest_changes: ['seq', listLatestBehind],
};

/** Copies the rows that are the same in both files. */
function* copyRows(catalogue: Catalogue, published: Published, revision: number): Generator<void> {
  for (const [table, [place, list]] of Object.entries(GROWING)) {
    const insert = openInsert(published, table);
    const last = published.prepare<{ last: number | null }>(`SELECT max(${place}) AS last FROM ${table}`);
    for (let rows = list(catalogue, last.get()?.last ?? 0); rows.length > 0; ) {
      for (const row of rows) insert(row);
      yield;
      rows = list(catalogue, last.get()?.last ?? 0);
    }
  }
  const day = published.prepare<{ last: string | null }>('SELECT max(day) AS last FROM listing_days').get()?.last ?? '';
  listDaysFrom(catalogue, day).forEach(openInsert(published, 'listing_days'));
  listRoundsSince(catalogue, revision).forEach(openInsert(published, 'rounds'));
}

/** Opens the writing of rows of a table, by their columns, each in the place of that of the same key. */
function openInsert(published: Published, table: string): (row: object) => void {
  const columns = published.sqlite.pragma(`table_info(${table})`) as { name: string }[];
  const names = columns.map(({ name }) => name);
  const sql = `INSERT OR REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`;
  const statement = published.sqlite.prepare(sql);
  return (row) => void statement.run(row);
}

/** Writes listings into the file. */
interface ListingWriter {
  write(row: ReturnType<typeof listListingsBehind>[number]): void;
  /** Renders the live listings that the file holds, one by one. */
  renderStored(): Generator<void>;
}

/** The tables of which a listing that changed has other rows. */
const OF_LISTING = ['documents', 'routes', 'offers', 'route_facts', 'rendered', 'rendered_routes', 'receipts'];

function openListingWriter(catalogue: Catalogue, published: Published): ListingWriter {
  const insert = openInsert(published, 'listings');
  const insertRoute = openInsert(published, 'routes');
  const insertOffer = openInsert(published, 'offers');
  const insertRendered = openInsert(published, 'rendered');
  const insertRenderedRoute = openInsert(published, 'rendered_routes');
  const insertDocument = openInsert(published, 'documents');
  const insertFacts = openInsert(published, 'route_facts');
  const replaceReceipt = openReceiptWriter(published);
  const paysAtAll = hasReceipts(catalogue);
  const removals = OF_LISTING.map((table) => published.sqlite.prepare(`DELETE FROM ${table} WHERE listing = ?`));
  const render = (number: number, listing: LiveListing) => {
    const decisions = listChanges(published, { slug: listing.slug });
    const { routes, ...rendered } = renderListing(listing, decisions);
    insertRendered({ listing: number, ...rendered });
    for (const [position, route] of routes.entries()) insertRenderedRoute({ listing: number, position, route });
  };
  return {
    write(row) {
      const listing = parseListing(row.document);
      const rows = buildListingRows(row, listing);
      for (const removal of removals) removal.run(row.number);
      insert(rows.listing);
      if (rows.document !== null) insertDocument({ listing: row.number, document: rows.document });
      for (const route of rows.routes) insertRoute(route);
      for (const offer of rows.offers) insertOffer(offer);
      if (rows.route_facts !== null) insertFacts({ listing: row.number, facts: rows.route_facts });
      if (listing && isLive(listing)) render(row.number, listing);
      indexListing(published, row.number, listing);
      if (paysAtAll) for (const receipt of listReceiptsOf(catalogue, row.id)) replaceReceipt(receipt, listing);
    },
    *renderStored() {
      const next = published.sqlite.prepare<[number], { listing: number; document: string }>(
        'SELECT listing, document FROM documents WHERE listing > ? ORDER BY listing LIMIT 1',
      );
      for (let row = next.get(0); row; row = next.get(row.listing)) {
        const listing: Listing = JSON.parse(row.document);
        if (isLive(listing)) render(row.listing, listing);
        yield;
      }
    },
  };
}

function* followListings(catalogue: Catalogue, revision: number, { write }: ListingWriter): Generator<void> {
  for (let last = { revision, number: Number.MAX_SAFE_INTEGER }; ; ) {
    const rows = listListingsBehind(catalogue, last);
    for (const row of rows) {
      write(row);
      last = row;
      yield;
    }
    if (rows.length === 0) return;
  }
}

/** Renders every listing again. */
function* renderAll(published: Published, codeVersion: string | undefined, rendering: Iterable<void>): Generator<void> {
  published.sqlite.exec('DELETE FROM rendered; DELETE FROM rendered_routes; DELETE FROM rendering');
  published.prepare('INSERT INTO rendering VALUES (?)').run(codeVersion ?? '');
  yield* rendering;
}

/** Writes the receipts whose own record changed; those of listings that changed are written with these. */
function* followReceipts(catalogue: Catalogue, published: Published, revision: number): Generator<void> {
  const write = openReceiptWriter(published);
  const find = published.sqlite.prepare<[number], string>('SELECT document FROM documents WHERE listing = ?').pluck();
  for (let last = ''; ; ) {
    const receipts = listReceiptsBehind(catalogue, revision, last);
    for (const receipt of receipts) {
      const document = find.get(receipt.listing);
      write(receipt, document === undefined ? undefined : JSON.parse(document));
      last = receipt.id;
      yield;
    }
    if (receipts.length === 0) return;
  }
}

function openReceiptWriter(published: Published): (receipt: NewsReceipt, listing: Listing | undefined) => void {
  const insert = openInsert(published, 'receipts');
  return ({ id, listing: number, method, path, revision, document, because, corrected_at }, listing) => {
    const payment = buildPublicPayment(parsePayment(document));
    if (!payment) return;
    const { network, amount, delivered, settlement } = payment;
    insert({
      ...{ id, listing: number, revision, method, path, network, amount },
      settled_at: settlement.settled_at,
      delivered: delivered === null ? null : Number(delivered),
      current: listing && isLive(listing) && listReceiptIds(listing).has(id) ? 1 : 0,
      document: JSON.stringify(payment),
      correction: because === null ? null : JSON.stringify({ because, at: corrected_at }),
    });
  };
}

/** Lists the receipts that a listing names: what proves its routes, what speaks against them, what was corrected. */
function listReceiptIds({ routes, corrections }: Listing): Set<string> {
  const named = routes.flatMap(({ proofs, undelivered }) => [
    ...proofs.map(({ receipt_id }) => receipt_id),
    ...(undelivered ? [undelivered.receipt_id] : []),
  ]);
  return new Set([...named, ...corrections.map(({ receipt_id }) => receipt_id)]);
}

/** The private catalogue, and the public file that follows it. */
export interface FollowedFiles {
  readonly catalogueFile: string;
  readonly publishedFile: string;
}

/** How often the catalogue is looked at, in milliseconds: one read of a counter in memory. */
const LOOK_MS = 15;

/** How long a process that does nothing else waits for another that writes, in milliseconds. */
const PATIENT_MS = 120_000;

/** How long it waits after a failure. */
const RETRY_MS = 1000;

/** Brings the published catalogue up to date once. Throws as `openCatalogueForReading` and `openPublishedForWriting` do. */
export function publishCatalogue(files: FollowedFiles, codeVersion: string): void {
  const { catalogue, published, close } = openBoth(files);
  published.sqlite.pragma(`busy_timeout = ${PATIENT_MS}`);
  try {
    followAtOnce(catalogue, published, codeVersion);
  } finally {
    close();
  }
}

/**
 * Opens a reading that follows by itself: before each read it brings the published catalogue up to date if the catalogue
 * changed. For a process that has no server of its own. Throws as `publishCatalogue` does.
 */
export function openFollowedReading(
  files: FollowedFiles,
  { site, codeVersion, now }: { site: Site; codeVersion: string; now?: (() => Date) | undefined },
): Reading & { close(): void } {
  const { catalogue, published: writer, close } = openBoth(files);
  const readVersion = prepareVersion(catalogue);
  let seen: number | undefined;
  const refresh = () => {
    const version = readVersion.get();
    if (version === seen) return;
    followAtOnce(catalogue, writer, seen === undefined ? codeVersion : undefined);
    seen = version;
  };
  try {
    refresh();
    const reading = openReading(files.publishedFile, site, { refresh, ...(now && { now }) });
    return {
      ...reading,
      close: () => {
        reading.published.close();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** A published catalogue that is kept up to date. */
export interface Following {
  /** Why it could not follow when it last tried; undefined while all is well. */
  findFailure(): string | undefined;
  /** Stops following, once what it is at is done or undone. */
  close(): Promise<void>;
}

/**
 * Keeps the published catalogue up to date: a change of a few listings is visible some milliseconds after its commit. Resolves
 * once the file can be served from; one that can be already is served while it catches up. Several processes may write to one
 * file: the one that holds its lock writes, and the others find nothing left to do. `onFailure` is called once for each
 * failure. Throws as `openCatalogueForReading` and `openPublishedForWriting` do.
 */
export async function startFollowing(
  files: FollowedFiles,
  codeVersion: string,
  onFailure: (error: unknown) => void,
): Promise<Following> {
  const { catalogue, published, close } = openBoth(files);
  // SQLite waits by holding up the whole process, requests included; `follow` lets them have their turn.
  published.sqlite.pragma('busy_timeout = 0');
  const readVersion = prepareVersion(catalogue);
  let seen: number | undefined;
  let failure: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const follow = async () => {
    const version = readVersion.get();
    if (version === seen) return;
    await waitWhileBusy(
      // Once only: an older or newer process beside this one renders by its own code when it starts.
      () => followCatalogue(catalogue, published, seen === undefined ? codeVersion : undefined),
      () => isClosed,
    );
    seen = version;
    failure = undefined;
  };
  const look = async () => {
    let pause = LOOK_MS;
    try {
      await follow();
    } catch (error) {
      const message = getErrorMessage(error);
      if (message !== failure) onFailure(error);
      failure = message;
      pause = RETRY_MS;
    }
    if (!isClosed) timer = setTimeout(() => (current = look()), pause).unref();
  };
  let current: Promise<void>;
  try {
    if (!canBeServed(catalogue, published)) await follow();
    current = look();
  } catch (error) {
    close();
    throw error;
  }
  return {
    findFailure: () => failure,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await current;
      close();
    },
  };
}

/** Prepares the reading of a number that is another after anybody wrote to the catalogue; it is read many times a second. */
function prepareVersion({ sqlite }: Catalogue) {
  return sqlite.prepare<[], number>('PRAGMA data_version').pluck();
}

/** Tries again while another process holds the lock. Throws once that took as long as SQLite would have waited, or on `isEnd`. */
async function waitWhileBusy(work: () => Promise<unknown>, isEnd: () => boolean): Promise<void> {
  const limit = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isBusy(error) || isEnd() || performance.now() > limit) throw error;
    }
    await sleep(LOOK_MS);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** Opens both for the follower alone: it reads the catalogue within a transaction of its own. */
function openBoth({ catalogueFile, publishedFile }: FollowedFiles): {
  catalogue: Catalogue;
  published: Published;
  close: () => void;
} {
  const catalogue = openCatalogueForReading(catalogueFile);
  try {
    const published = openPublishedForWriting(publishedFile);
    return {
      catalogue,
      published,
      close: () => {
        published.close();
        catalogue.close();
      },
    };
  } catch (error) {
    catalogue.close();
    throw error;
  }
}
