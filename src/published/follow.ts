import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import {
  type NewsChange,
  type NewsListing,
  type NewsQuery,
  type NewsReceipt,
  type NewsSource,
  selectAnyReceipt,
  selectChangesBehind,
  selectDaysFrom,
  selectListingsBehind,
  selectReceiptsBehind,
  selectReceiptsOf,
  selectRevisionsSince,
  selectRevisionTime,
  selectRoundsSince,
  selectState,
} from '../catalogue/news.ts';
import { openNewsSource } from '../catalogue/news-source.ts';
import { parsePayment } from '../catalogue/read/payments.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { getFailure } from '../model/failure.ts';
import { isLive, type Listing, type LiveListing } from '../model/listing.ts';
import { buildPublicPayment } from '../model/payment.ts';
import {
  asPublishedError,
  BUSY_TIMEOUT_MS,
  isCurrentSchema,
  isDamage,
  openPublished,
  openPublishedForWriting,
  type Published,
} from './file.ts';
import { indexListing } from './indexing.ts';
import { buildListingRows, parseListing, renderItem } from './listing-rows.ts';
import { findListing } from './listings.ts';
import { APPLICATION_ID, OWN_SCHEMA, SCHEMA, SCHEMA_VERSION } from './schema.ts';
import { getPublishedState, type PublishedState } from './state.ts';
import { getSubject, isTelling } from './subjects.ts';

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
  source: NewsSource,
  published: Published,
  codeVersion?: string,
): Promise<boolean> {
  return await source.hold(async (ask) => {
    const steps = copyNews(published, codeVersion);
    let since = performance.now();
    try {
      for (let step = steps.next([]); ; ) {
        if (step.done) return step.value;
        const rows = step.value ? await ask(step.value) : [];
        if (performance.now() - since >= TURN_MS) {
          await nextTurn();
          since = performance.now();
        }
        step = steps.next(rows as object[]);
      }
    } finally {
      // Where the catalogue fails in the middle, the file is put back.
      steps.return(false);
    }
  });
}

/** Does the same without a pause, where the engine of the catalogue can. */
export function followAtOnce(
  source: Required<Pick<NewsSource, 'holdAtOnce'>>,
  published: Published,
  codeVersion?: string,
): boolean {
  return source.holdAtOnce((ask) => {
    const steps = copyNews(published, codeVersion);
    try {
      for (let step = steps.next([]); ; ) {
        if (step.done) return step.value;
        step = steps.next(step.value ? (ask(step.value) as object[]) : []);
      }
    } finally {
      steps.return(false);
    }
  });
}

/** What following does between two answers of the catalogue: it asks a query, or nothing where it only may pause. */
type Steps<Result> = Generator<NewsQuery<unknown> | undefined, Result, object[]>;

/** Asks the catalogue. */
function* ask<Row>(query: NewsQuery<Row>): Steps<Row[]> {
  return (yield query) as Row[];
}

function* askState(): Steps<CatalogueState> {
  const [state] = yield* ask(selectState());
  return state ?? { identity: '', revision: 0, revised_at: '' };
}

/** Where following begins. */
interface Start extends PublishedState {
  readonly rendersAll: boolean;
}

/** Finds where following begins; undefined if the file has to be made from the beginning. */
function* findStart(published: Published, codeVersion: string | undefined): Steps<Start | undefined> {
  if (!isCurrentSchema(published)) return undefined;
  const state = getPublishedState(published);
  if (state.identity !== (yield* askState()).identity) return undefined;
  // A catalogue that was restored from a backup went back, and on from there: its revision of this number is another.
  if (state.revision > 0) {
    const [revision] = yield* ask(selectRevisionTime(state.revision));
    if (revision?.at !== state.revised_at) return undefined;
  }
  const rendered = published.prepare<{ code_version: string }>('SELECT code_version FROM rendering').get();
  return { ...state, rendersAll: codeVersion !== undefined && rendered?.code_version !== codeVersion };
}

/** Copies what is missing. Returns whether that was anything. */
function* copyNews(published: Published, codeVersion?: string): Steps<boolean> {
  const to = yield* askState();
  const known = yield* findStart(published, codeVersion);
  if (known && !known.rendersAll && known.revision === to.revision) return false;
  published.sqlite.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have followed while this one waited for the lock.
    const from = (yield* findStart(published, codeVersion)) ?? createTables(published);
    if (from.revision >= to.revision && from.identity === to.identity && !from.rendersAll) return false;
    yield* copyRows(published, from.revision);
    yield* copyChanges(published);
    const listings = yield* openListingWriter(published);
    if (from.rendersAll) yield* renderAll(published, codeVersion, from.revision === 0 ? [] : listings.renderStored());
    yield* followListings(from.revision, listings);
    yield* followReceipts(published, from.revision);
    published
      .prepare('UPDATE catalogue SET identity = ?, revision = ?, revised_at = ?')
      .run(to.identity, to.revision, to.revised_at);
    published.sqlite.exec('COMMIT');
    return true;
  } finally {
    if (published.sqlite.inTransaction) published.sqlite.exec('ROLLBACK');
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

/** Copies the rows that are the same in both files. */
function* copyRows(published: Published, revision: number): Steps<void> {
  const insertRevision = openInsert(published, 'revisions');
  for (let last = revision; ; ) {
    const rows = yield* ask(selectRevisionsSince(last));
    for (const row of rows) insertRevision(row);
    const latest = rows.at(-1);
    if (!latest) break;
    last = latest.revision;
  }
  const day = published.prepare<{ last: string | null }>('SELECT max(day) AS last FROM listing_days').get()?.last ?? '';
  (yield* ask(selectDaysFrom(day))).forEach(openInsert(published, 'listing_days'));
  (yield* ask(selectRoundsSince(revision))).forEach(openInsert(published, 'rounds'));
}

/** Copies the changes, and keeps which is the latest of each subject of a listing. */
function* copyChanges(published: Published): Steps<void> {
  const insert = openInsert(published, 'changes');
  const insertLatest = openInsert(published, 'latest_changes');
  const last = published.prepare<{ last: number | null }>('SELECT max(seq) AS last FROM changes');
  for (;;) {
    const rows: NewsChange[] = yield* ask(selectChangesBehind(last.get()?.last ?? 0));
    if (rows.length === 0) return;
    for (const row of rows) {
      const { seq, listing_id, kind } = row;
      const detail = JSON.parse(row.detail);
      insert({ ...row, telling: isTelling(kind, detail) ? 1 : 0 });
      insertLatest({ listing_id, subject: getSubject(kind, detail), seq });
    }
  }
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
  write(row: NewsListing): Steps<void>;
  /** Renders the live listings that the file holds, one by one. */
  renderStored(): Steps<void>;
}

/** The tables of which a listing that changed has other rows. */
const OF_LISTING = ['documents', 'routes', 'offers', 'route_facts', 'rendered', 'receipts'];

function* openListingWriter(published: Published): Steps<ListingWriter> {
  const insert = openInsert(published, 'listings');
  const insertRoute = openInsert(published, 'routes');
  const insertOffer = openInsert(published, 'offers');
  const insertRendered = openInsert(published, 'rendered');
  const insertDocument = openInsert(published, 'documents');
  const insertFacts = openInsert(published, 'route_facts');
  const replaceReceipt = openReceiptWriter(published);
  const paysAtAll = (yield* ask(selectAnyReceipt())).length > 0;
  const removals = OF_LISTING.map((table) => published.sqlite.prepare(`DELETE FROM ${table} WHERE listing = ?`));
  const render = (number: number, listing: LiveListing) =>
    insertRendered({ listing: number, item: renderItem(listing) });
  return {
    *write(row) {
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
      if (!paysAtAll) return;
      for (const receipt of yield* ask(selectReceiptsOf(row.id))) replaceReceipt(receipt, listing);
    },
    *renderStored() {
      const next = published.prepare<{ number: number }>(
        "SELECT number FROM listings WHERE state = 'live' AND number > ? ORDER BY number LIMIT 1",
      );
      for (let row = next.get(0); row; row = next.get(row.number)) {
        const listing = findListing(published, row);
        if (listing && isLive(listing)) render(row.number, listing);
        yield undefined;
      }
    },
  };
}

function* followListings(revision: number, { write }: ListingWriter): Steps<void> {
  for (let last = { revision, number: Number.MAX_SAFE_INTEGER }; ; ) {
    const rows = yield* ask(selectListingsBehind(last));
    for (const row of rows) {
      yield* write(row);
      last = row;
      yield undefined;
    }
    if (rows.length === 0) return;
  }
}

/** Renders every listing again. */
function* renderAll(
  published: Published,
  codeVersion: string | undefined,
  rendering: Iterable<NewsQuery<unknown> | undefined>,
): Steps<void> {
  published.sqlite.exec('DELETE FROM rendered; DELETE FROM rendering');
  published.prepare('INSERT INTO rendering VALUES (?)').run(codeVersion ?? '');
  for (const step of rendering) yield step;
}

/** Writes the receipts whose own record changed; those of listings that changed are written with these. */
function* followReceipts(published: Published, revision: number): Steps<void> {
  const write = openReceiptWriter(published);
  for (let last = ''; ; ) {
    const receipts = yield* ask(selectReceiptsBehind(revision, last));
    for (const receipt of receipts) {
      write(receipt, findListing(published, { number: receipt.listing }));
      last = receipt.id;
      yield undefined;
    }
    if (receipts.length === 0) return;
  }
}

function openReceiptWriter(published: Published): (receipt: NewsReceipt, listing: Listing | undefined) => void {
  const insert = openInsert(published, 'receipts');
  return ({ id, listing: number, method, path, revision, document, because, corrected_at }, listing) => {
    const live = listing && isLive(listing) ? listing : undefined;
    const payment = buildPublicPayment(parsePayment(document), path, live);
    if (!payment) return;
    const { network, amount, delivered, settlement } = payment;
    insert({
      ...{ id, listing: number, revision, method, path, network, amount },
      settled_at: settlement.settled_at,
      delivered: delivered === null ? null : Number(delivered),
      current: live && listReceiptIds(live).has(id) ? 1 : 0,
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
  /** Where the private catalogue is. */
  readonly catalogueAddress: string;
  readonly publishedFile: string;
}

/** Time between two looks at whether the catalogue changed, in milliseconds: one read of a counter in memory. */
const LOOK_MS = 15;

/** Longest time between two questions to the catalogue, in milliseconds: an announcement may be lost. */
const ASK_MS = 1000;

/** After how long without a word from the catalogue readers are told, in milliseconds. */
const LATE_MS = 3000;

/** How long a process that does nothing else waits for another that writes, in milliseconds. */
const PATIENT_MS = 120_000;

/** How long it waits after a failure. */
const RETRY_MS = 1000;

/** Brings the published catalogue up to date once. Throws as `openNewsSource` and `openPublishedForWriting` do. */
export async function publishCatalogue(files: FollowedFiles, codeVersion: string): Promise<void> {
  const source = await openNewsSource(files.catalogueAddress);
  let published: Published | undefined;
  try {
    published = openPublishedForWriting(files.publishedFile);
    published.sqlite.pragma(`busy_timeout = ${PATIENT_MS}`);
    await followCatalogue(source, published, codeVersion);
  } catch (error) {
    if (!isDamage(error)) throw asPublishedError(files.publishedFile, error);
    await replaceDamaged(source, files.publishedFile, codeVersion);
  } finally {
    published?.close();
    await source.close();
  }
}

/** A published catalogue that is kept up to date. */
export interface Following {
  /** Why it could not follow when it last tried; undefined while all is well. */
  findFailure(): string | undefined;
  /** When the catalogue was last heard, by `performance.now`. */
  getHeardAt(): number;
  /**
   * For how long what was read may be out of date, in milliseconds; undefined while all is well. `heardAt` is when the catalogue
   * had last been heard before that was read.
   */
  findAge(heardAt?: number): number | undefined;
  /** Takes note of a failure to read the file. One that is damaged is made again. */
  noteFailure(error: unknown): void;
  /** Returns whether the file is damaged, and not made again yet. */
  isDamaged(): boolean;
  /** Throws `unavailable` while it is: nothing is answered from it. */
  refuseDamaged(): void;
  /** Stops following, once what it is at is done or undone. */
  close(): Promise<void>;
}

/**
 * Keeps the published catalogue up to date: a change of a few listings is visible some milliseconds after its commit. Resolves
 * once the file can be served from; one that can be already is served while it catches up, or cannot be followed. Several
 * processes may write to one file: the one that holds its lock writes, and the others find nothing left to do. `onFailure` is
 * called once for each failure. Throws as `openNewsSource` and `openPublishedForWriting` do where there is nothing to serve, and
 * for a setting that is wrong.
 */
export async function startFollowing(
  files: FollowedFiles,
  codeVersion: string,
  onFailure: (error: unknown) => void,
): Promise<Following> {
  const { publishedFile } = files;
  let source: NewsSource | undefined;
  let published: Published | undefined;
  let seen: unknown;
  let failure: string | undefined;
  let damage: unknown;
  let heardAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const openFile = () => {
    const opened = openPublishedForWriting(publishedFile);
    // SQLite waits by holding up the whole process, requests included; `follow` lets them have their turn.
    opened.sqlite.pragma('busy_timeout = 0');
    return opened;
  };
  const follow = async () => {
    source ??= await openNewsSource(files.catalogueAddress);
    const from = source;
    const askedAt = performance.now();
    const version = `${from.getVersion()} ${Math.floor(askedAt / ASK_MS)}`;
    if (version === seen && damage === undefined) return;
    if (damage !== undefined) {
      await replaceDamaged(from, publishedFile, codeVersion);
      damage = undefined;
    }
    published ??= openFile();
    const to = published;
    await waitWhileBusy(
      // Once only: an older or newer process beside this one renders by its own code when it starts.
      () => followCatalogue(from, to, seen === undefined ? codeVersion : undefined),
      () => isClosed,
    );
    [seen, failure, heardAt] = [version, undefined, askedAt];
  };
  const noteFailure = (error: unknown) => {
    if (!isDamage(error)) return;
    if (damage === undefined) onFailure(asPublishedError(publishedFile, error));
    damage = error;
  };
  const fail = (thrown: unknown) => {
    noteFailure(thrown);
    const error = asPublishedError(publishedFile, thrown);
    const message = getErrorMessage(error);
    if (message !== failure && !isDamage(error)) onFailure(error);
    failure = message;
  };
  const look = async () => {
    let pause = LOOK_MS;
    try {
      await follow();
    } catch (error) {
      fail(error);
      pause = damage === undefined || isDamage(error) ? RETRY_MS : pause;
    }
    if (!isClosed) timer = setTimeout(() => (current = look()), pause).unref();
  };
  let current: Promise<void>;
  try {
    source = await openNewsSource(files.catalogueAddress);
    published = openFile();
    if (await isOfCatalogue(source, published)) heardAt -= getAge(published);
    else await follow();
  } catch (error) {
    const age = findServableAge(publishedFile);
    const isHopeless = isMistake(error) || (age === undefined && !isDamage(error));
    if (!isHopeless) fail(error);
    try {
      if (isHopeless) throw error;
      if (age === undefined) await follow();
      else heardAt -= age;
    } catch (failure) {
      published?.close();
      await source?.close();
      throw failure;
    }
  }
  current = look();
  return {
    findFailure: () => failure,
    getHeardAt: () => heardAt,
    findAge(since = heardAt) {
      const age = performance.now() - since;
      return failure === undefined && age < LATE_MS ? undefined : age;
    },
    noteFailure,
    isDamaged: () => damage !== undefined,
    refuseDamaged() {
      if (damage === undefined) return;
      throw new ServiceError('unavailable', 'The catalogue is being made ready again.', {
        hint: 'Try again in a moment.',
        reason: 'published_damaged',
        details: { retry_after_seconds: RETRY_MS / 1000 },
      });
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await current;
      published?.close();
      await source?.close();
    },
  };
}

/** Returns whether a file is of a catalogue. What other code rendered is a little out of date, which is better than nothing. */
async function isOfCatalogue(source: NewsSource, published: Published): Promise<boolean> {
  return await source.hold(async (answer) => {
    const steps = findStart(published, undefined);
    for (let step = steps.next([]); ; ) {
      if (step.done) return step.value !== undefined;
      step = steps.next(step.value ? ((await answer(step.value)) as object[]) : []);
    }
  });
}

/** Returns how long ago, at most, a file had all there was: since its latest revision; milliseconds. */
function getAge(published: Published): number {
  return Math.max(0, Date.now() - Date.parse(getPublishedState(published).revised_at));
}

/** Finds the age of a file from which readers can be served, as `getAge` does; undefined where they cannot. */
export function findServableAge(file: string): number | undefined {
  let published: Published | undefined;
  try {
    published = openPublished(file);
    return getPublishedState(published).revision > 0 ? getAge(published) : undefined;
  } catch {
    // Whatever it is, the failure that led here says more.
    return undefined;
  } finally {
    published?.close();
  }
}

/** Returns whether a failure is one that only its operator can mend, by another setting: it is told at once. */
export function isMistake(error: unknown): boolean {
  const { code, reason } = getFailure(error);
  return code === 'not_found' || (code === 'bad_input' && reason !== 'schema_version');
}

/** Place in the head of a database of the number of its pages (SQLite's file format, section 1.3). */
const SIZE_OFFSET = 28;

/**
 * Makes a damaged file again from the catalogue, beside it, and puts that in its place: as one write of all of its pages, which
 * those who have it open see as they see any other.
 */
async function replaceDamaged(source: NewsSource, file: string, codeVersion: string): Promise<void> {
  const beside = `${file}.again-${process.pid}`;
  const remove = () => {
    for (const ending of ['', '-wal', '-shm']) rmSync(beside + ending, { force: true });
  };
  remove();
  try {
    const made = openPublishedForWriting(beside);
    try {
      await followCatalogue(source, made, codeVersion);
      mendHead(file, made);
      await made.sqlite.backup(file);
    } finally {
      made.close();
    }
  } finally {
    remove();
  }
}

/** Gives a file that SQLite cannot open, and so could not write, the first page of another one, as of a size that is not known. */
function mendHead(file: string, made: Published): void {
  try {
    openPublished(file).close();
  } catch {
    made.sqlite.pragma('wal_checkpoint(TRUNCATE)');
    const page = Buffer.alloc(Number(made.sqlite.pragma('page_size', { simple: true })));
    const [from, to] = [openSync(made.file, 'r'), openSync(file, 'r+')];
    readSync(from, page);
    page.writeUInt32BE(0, SIZE_OFFSET);
    writeSync(to, page, 0, page.length, 0);
    closeSync(from);
    closeSync(to);
  }
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
