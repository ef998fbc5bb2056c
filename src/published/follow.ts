import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import Sqlite from 'better-sqlite3';
import { acquireLock, findLock } from '../catalogue/lock.ts';
import {
  type Ask,
  countListings,
  type NewsChange,
  type NewsListing,
  type NewsQuery,
  type NewsReceipt,
  type NewsSource,
  selectAnyReceipt,
  selectChangesBehind,
  selectDaysFrom,
  selectListingsAfter,
  selectListingsBehind,
  selectReceiptsBehind,
  selectReceiptsOf,
  selectRevisionsSince,
  selectRevisionTime,
  selectRoundsSince,
  selectState,
  selectWebhookKey,
} from '../catalogue/news.ts';
import { openNewsSource } from '../catalogue/news-source.ts';
import { parsePayment } from '../catalogue/read/payments.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { getFailure } from '../model/failure.ts';
import { isLive, type Listing } from '../model/listing.ts';
import { buildPublicPayment } from '../model/payment.ts';
import {
  asPublishedError,
  BUSY_TIMEOUT_MS,
  findPageBytes,
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
import { findMaking, getPublishedState, getRendering, type Making, type PublishedState } from './state.ts';
import { getSubject, isTelling } from './subjects.ts';

/** How long following takes before it lets requests be answered, in milliseconds. */
const TURN_MS = 4;

/** Time between two batches, in which another process gets the lock of the file; milliseconds. */
const PAUSE_MS = 10;

/** How many listings and changes a batch of a new file has at most; nobody reads that yet. */
const COPIED = { listings: 256, changes: 8192 };

/** How many listings a batch has that other code writes again. A change that readers wait for waits for one batch. */
const RENDERED = 32;

/** What a batch is to do. */
interface Batch {
  /** With another one than that which wrote the listings, all are written again. Left out, that is left to others. */
  readonly codeVersion?: string | undefined;
  /** True for the first batch: writing all listings again may begin. Later it goes on unless another process began its own. */
  readonly begins: boolean;
  /** True if readers may have the file open: what can be served is replaced as a whole, not made again in its place. */
  readonly isServed: boolean;
}

/**
 * What a batch came to. `more`: not all is done yet. `overtaken`: another process wrote meanwhile, and nothing was done. `foreign`:
 * the file can be served, but is of another catalogue, or of this one before it was restored from a backup.
 */
type Outcome = 'nothing' | 'done' | 'more' | 'overtaken' | 'foreign';

/** Who hears how following goes. */
interface Watching {
  /** Called after each batch; `askedAt` is when the catalogue was asked, by `performance.now`. */
  readonly onBatch?: (written: Published, askedAt: number) => void;
  /** Ends following after the batch that it is at. */
  readonly signal?: AbortSignal;
}

/**
 * Brings a published catalogue up to date with the catalogue. What changed is written in one transaction: readers see the
 * state before until all of it is there. Making a new file takes many short ones, and so does writing listings again that other
 * code than `codeVersion` wrote, with changes in between. Where this is killed, the next one goes on behind the last of them.
 * What can be served and is of another catalogue is replaced as a whole, unless `isServed` is false. Says whether anything was
 * written. Pauses every few milliseconds, so that requests are answered.
 */
export async function followCatalogue(
  source: NewsSource,
  published: Published,
  codeVersion?: string,
  watching: Watching = {},
  isServed = true,
): Promise<boolean> {
  const { onBatch, signal } = watching;
  let wrote = false;
  for (let begins = true; !signal?.aborted; ) {
    const askedAt = performance.now();
    const take = () => source.hold((ask) => run(takeBatch(published, { codeVersion, begins, isServed }), ask));
    const outcome = await waitWhileBusy(take, signal);
    wrote ||= outcome !== 'nothing' && outcome !== 'overtaken';
    if (outcome === 'foreign') {
      if (await replaceFile(source, published.file, codeVersion, watching)) return true;
      continue;
    }
    onBatch?.(published, askedAt);
    if (outcome === 'nothing' || outcome === 'done') break;
    begins = outcome === 'more' ? isBeginning(published, begins) : begins;
    await sleep(PAUSE_MS);
  }
  return wrote;
}

/** Does the same without a pause, where the engine of the catalogue can, to a file that nobody else has open. */
export function followAtOnce(
  source: Required<Pick<NewsSource, 'holdAtOnce'>>,
  published: Published,
  codeVersion?: string,
): void {
  for (let begins = true; ; begins = isBeginning(published, begins)) {
    const outcome = source.holdAtOnce((ask) => {
      const steps = takeBatch(published, { codeVersion, begins, isServed: false });
      try {
        for (let step = steps.next([]); ; ) {
          if (step.done) return step.value;
          step = steps.next(step.value ? (ask(step.value) as object[]) : []);
        }
      } finally {
        steps.return('nothing');
      }
    });
    if (outcome === 'nothing' || outcome === 'done') return;
  }
}

/** Returns whether writing all listings again may still begin after a batch. */
function isBeginning(published: Published, began: boolean): boolean {
  return began && findMaking(published)?.first !== 0;
}

/** What following does between two answers of the catalogue: it asks a query, or nothing where it only may pause. */
type Steps<Result> = Generator<NewsQuery<unknown> | undefined, Result, object[]>;

/** Takes steps to the end, with pauses. */
async function run<Result>(steps: Steps<Result>, ask: Ask): Promise<Result> {
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
    steps.return(undefined as Result);
  }
}

/** Asks the catalogue. */
function* ask<Row>(query: NewsQuery<Row>): Steps<Row[]> {
  return (yield query) as Row[];
}

function* askState(): Steps<CatalogueState> {
  const [state] = yield* ask(selectState());
  return state ?? { identity: '', revision: 0, revised_at: '' };
}

/** Where following begins. Of a file that is not whole the revision is that at which it was begun. */
interface Start extends PublishedState {
  /** By which code all listings were written. */
  readonly rendering: string;
  readonly making: Making | undefined;
}

/** Reads where following begins; undefined for a file with the tables of other code, or with none. */
function readStart(published: Published): Start | undefined {
  if (!isCurrentSchema(published)) return undefined;
  const making = findMaking(published);
  const state = getPublishedState(published);
  const { revision, revised_at } = making?.first ? making : state;
  return { identity: state.identity, revision, revised_at, rendering: getRendering(published), making };
}

/** Returns whether what a file holds is of the catalogue that is asked. */
function* isOfCatalogue({ identity, revision, revised_at }: Start, to: CatalogueState): Steps<boolean> {
  if (identity !== to.identity) return false;
  if (revision === 0) return true;
  // A catalogue that was restored from a backup went back, and on from there: its revision of this number is another.
  const [found] = yield* ask(selectRevisionTime(revision));
  return found?.at === revised_at;
}

/** Returns whether listings are to be written by their numbers. */
function isToBeMade({ making, rendering }: Start, { codeVersion, begins }: Batch): boolean {
  if (making?.first) return true;
  if (codeVersion === undefined || rendering === codeVersion) return false;
  return begins || making?.code_version === codeVersion;
}

/** Writes what is missing, or a part of it, in one transaction. */
function* takeBatch(published: Published, batch: Batch): Steps<Outcome> {
  // Read before the catalogue is asked for the first time: it is never ahead of what is held of that.
  const known = readStart(published);
  const to = yield* askState();
  const isKnown = known !== undefined && (yield* isOfCatalogue(known, to));
  if (isKnown && known.revision === to.revision && !isToBeMade(known, batch)) return 'nothing';
  const isForeign = known !== undefined && !isKnown && batch.isServed && isServable(known);
  if (isForeign && to.revision === 0) throw buildEmptyRefusal(published.file);
  published.sqlite.exec('BEGIN IMMEDIATE');
  try {
    if (!isDeepStrictEqual(readStart(published), known)) return 'overtaken';
    if (isForeign) return 'foreign';
    const from = isKnown ? known : yield* createTables(published, to, batch.codeVersion);
    yield* writeBatch(published, { from, to, batch });
    published.sqlite.exec('COMMIT');
    const next = readStart(published);
    return next && isToBeMade(next, batch) ? 'more' : 'done';
  } finally {
    if (published.sqlite.inTransaction) published.sqlite.exec('ROLLBACK');
  }
}

/** A new catalogue in the place of another is rarely meant: the disk is not mounted, or the database is the wrong one. */
export function buildEmptyRefusal(file: string): ServiceError {
  return new ServiceError('unavailable', `The catalogue is empty, and what was published in ${file} is not.`, {
    hint: 'Mount its disk, correct CATALOGUE, or restore a backup. To start with an empty catalogue, stop the service, and remove that file with its -wal and -shm.',
    reason: 'catalogue_empty',
  });
}

function isServable({ making, revision }: Start): boolean {
  return !making?.first && revision > 0;
}

/** Writes the next listings by their numbers, if that is to be done, and the changes unless the file is not whole yet. */
function* writeBatch(
  published: Published,
  { from, to, batch }: { from: Start; to: CatalogueState; batch: Batch },
): Steps<void> {
  const listings = yield* openListingWriter(published);
  const making = isToBeMade(from, batch) ? yield* findOrBegin(published, from, batch) : undefined;
  if (making?.first && !(yield* copyChanges(published, COPIED.changes))) return;
  const isDone = making === undefined || (yield* writeNext(published, making, listings));
  if (making?.first && !isDone) return;
  yield* copyRows(published, making?.first ? 0 : from.revision);
  yield* copyChanges(published);
  yield* followListings(from.revision, listings);
  yield* followReceipts(published, from.revision);
  published
    .prepare('UPDATE catalogue SET identity = ?, revision = ?, revised_at = ?')
    .run(to.identity, to.revision, to.revised_at);
  if (making && isDone) {
    published.prepare('UPDATE rendering SET code_version = ?').run(making.code_version);
    published.sqlite.exec('DELETE FROM making');
  }
}

/** Puts empty tables in the place of all there are. Nothing is served from them until the last listing is in them. */
function* createTables(published: Published, to: CatalogueState, codeVersion = ''): Steps<Start> {
  const { sqlite } = published;
  const tables = sqlite.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  for (const name of tables) sqlite.exec(`DROP TABLE "${name}"`);
  sqlite.exec(SCHEMA);
  sqlite.exec(OWN_SCHEMA);
  sqlite.prepare("INSERT INTO catalogue VALUES (?, 0, '', NULL)").run(to.identity);
  sqlite.exec("INSERT INTO rendering VALUES ('')");
  sqlite.pragma(`application_id = ${APPLICATION_ID}`);
  sqlite.pragma(`user_version = ${SCHEMA_VERSION}`);
  // By their times a release is known to be of this catalogue: its pages are served meanwhile.
  yield* copyRows(published, 0);
  const { identity, revision, revised_at } = to;
  const making = yield* begin(published, { first: 1, revision, revised_at, code_version: codeVersion });
  return { identity, revision, revised_at, rendering: '', making };
}

/** Begins to write all listings by their numbers. */
function* begin(
  published: Published,
  of: Pick<Making, 'first' | 'revision' | 'revised_at' | 'code_version'>,
): Steps<Making> {
  const [listings] = yield* ask(countListings());
  const making = { ...of, last: 0, done: 0, total: listings?.count ?? 0 };
  published.sqlite.exec("DELETE FROM making; UPDATE rendering SET code_version = ''");
  openInsert(published, 'making')(making);
  return making;
}

function* findOrBegin(published: Published, from: Start, { codeVersion = '' }: Batch): Steps<Making> {
  const { making } = from;
  // What two versions made together is of neither: the next start writes it again.
  if (making?.first) return { ...making, code_version: making.code_version === codeVersion ? codeVersion : '' };
  if (making?.code_version === codeVersion) return making;
  const { revision, revised_at } = from;
  return yield* begin(published, { first: 0, revision, revised_at, code_version: codeVersion });
}

/** Writes the next listings by their numbers, and where the next batch goes on. Returns whether these were the last. */
function* writeNext(published: Published, making: Making, { write }: ListingWriter): Steps<boolean> {
  const limit = making.done + (making.first ? COPIED.listings : RENDERED);
  let { last, done } = making;
  for (let isLast = false; ; ) {
    const rows = yield* ask(selectListingsAfter(last));
    isLast = rows.length === 0;
    for (const row of rows) {
      yield* write(row);
      last = row.number;
      yield undefined;
    }
    done += rows.length;
    if (!isLast && done < limit) continue;
    published
      .prepare('UPDATE making SET last = ?, done = ?, total = max(total, ?), code_version = ?')
      .run(last, done, done, making.code_version);
    return isLast;
  }
}

/** Copies the rows that are the same in both files; of rounds those that changed after a revision. */
function* copyRows(published: Published, revision: number): Steps<void> {
  const insertRevision = openInsert(published, 'revisions');
  const known = published.prepare<{ last: number | null }>('SELECT max(revision) AS last FROM revisions').get();
  for (let last = known?.last ?? 0; ; ) {
    const rows = yield* ask(selectRevisionsSince(last));
    for (const row of rows) insertRevision(row);
    const latest = rows.at(-1);
    if (!latest) break;
    last = latest.revision;
  }
  const day = published.prepare<{ last: string | null }>('SELECT max(day) AS last FROM listing_days').get()?.last ?? '';
  (yield* ask(selectDaysFrom(day))).forEach(openInsert(published, 'listing_days'));
  (yield* ask(selectRoundsSince(revision))).forEach(openInsert(published, 'rounds'));
  const [key] = yield* ask(selectWebhookKey());
  published.prepare('UPDATE catalogue SET webhook_key = ?').run(key?.webhook_key ?? null);
}

/** Copies the changes, and keeps which is the latest of each subject of a listing. Returns whether that was all, not `limit`. */
function* copyChanges(published: Published, limit = Number.POSITIVE_INFINITY): Steps<boolean> {
  const insert = openInsert(published, 'changes');
  const insertLatest = openInsert(published, 'latest_changes');
  const last = published.prepare<{ last: number | null }>('SELECT max(seq) AS last FROM changes');
  for (let count = 0; count < limit; ) {
    const rows: NewsChange[] = yield* ask(selectChangesBehind(last.get()?.last ?? 0));
    if (rows.length === 0) return true;
    count += rows.length;
    for (const row of rows) {
      const { seq, listing_id, kind } = row;
      const detail = JSON.parse(row.detail);
      insert({ ...row, telling: isTelling(kind, detail) ? 1 : 0 });
      insertLatest({ listing_id, subject: getSubject(kind, detail), seq });
    }
  }
  return false;
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
      if (listing && isLive(listing)) insertRendered({ listing: row.number, item: renderItem(listing) });
      indexListing(published, row.number, listing);
      if (!paysAtAll) return;
      for (const receipt of yield* ask(selectReceiptsOf(row.id))) replaceReceipt(receipt, listing);
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
const LATE_MS = 2000;

/** How long a process that does nothing else waits for another that writes, in milliseconds. */
const PATIENT_MS = 120_000;

/** How long it waits after a failure. */
const RETRY_MS = 1000;

/** After how many seconds those may ask again who asked before the file was whole. */
const MAKING_RETRY_SECONDS = 5;

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
    await replaceFile(source, files.publishedFile, codeVersion);
  } finally {
    published?.close();
    await source.close();
  }
}

/** How many listings have been written of those that are to be. */
export interface Progress {
  readonly listings_done: number;
  readonly listings_total: number;
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
  /** Finds why nothing can be answered from the file: it is damaged, or not whole yet. Undefined where it can. */
  findObstacle(): 'published_damaged' | 'published_being_made' | undefined;
  /** Throws `unavailable` while nothing can be answered from the file. */
  refuseUnservable(): void;
  /** Finds how far the file is that is being made, or written again by other code. */
  findProgress(): Progress | undefined;
  /** Stops following, once what it is at is done or undone. */
  close(): Promise<void>;
}

/**
 * Keeps the published catalogue up to date: a change of a few listings is visible some milliseconds after its commit. Resolves
 * once readers can open the file, which may not be whole then. One that can be served is served while it catches up, is made
 * again, or cannot be followed. Several processes may write to one file: the one that holds its lock writes, and the others find
 * nothing left to do. `onFailure` is called once for each failure, `onProgress` after each batch of a file that is being made or
 * written again, and with undefined once it is whole. Throws as `openNewsSource` and `openPublishedForWriting` do where there is
 * nothing to serve.
 */
export async function startFollowing(
  files: FollowedFiles,
  codeVersion: string,
  onFailure: (error: unknown) => void,
  onProgress?: (progress: Progress | undefined) => void,
): Promise<Following> {
  const { publishedFile } = files;
  let source: NewsSource | undefined;
  let published: Published | undefined;
  let beside: Published | undefined;
  let seen: unknown;
  let failure: string | undefined;
  let damage: unknown;
  let timer: NodeJS.Timeout | undefined;
  const closing = new AbortController();
  const { signal } = closing;
  const age = findServableAge(publishedFile);
  let heardAt = performance.now() - (age ?? 0);
  let isWhole = age !== undefined;
  const openable = Promise.withResolvers<void>();
  const openFile = () => {
    const opened = openPublishedForWriting(publishedFile);
    // SQLite waits by holding up the whole process, requests included; `follow` lets them have their turn.
    opened.sqlite.pragma('busy_timeout = 0');
    return opened;
  };
  const findProgress = (): Progress | undefined => {
    try {
      const written = beside ?? published;
      const making = written && findMaking(written);
      return making && { listings_done: making.done, listings_total: making.total };
    } catch {
      // Of a damaged file nothing is known until the first batch of the next one.
      return undefined;
    }
  };
  const watching: Watching = {
    onBatch(written, askedAt) {
      beside = written === published ? undefined : written;
      if (!beside) heardAt = askedAt;
      openable.resolve();
      onProgress?.(findProgress());
    },
    signal,
  };
  const noteFailure = (error: unknown) => {
    if (!isDamage(error)) return;
    if (damage === undefined) onFailure(asPublishedError(publishedFile, error));
    damage = error;
  };
  const followOrReplace = async (from: NewsSource) => {
    try {
      if (damage === undefined) {
        published ??= openFile();
        // Once only: an older or newer process beside this one writes listings by its own code when it starts.
        await followCatalogue(from, published, seen === undefined ? codeVersion : undefined, watching);
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      noteFailure(error);
    }
    if (damage !== undefined) {
      await replaceFile(from, publishedFile, codeVersion, watching);
      damage = undefined;
    }
  };
  const follow = async () => {
    source ??= await openNewsSource(files.catalogueAddress);
    const askedAt = performance.now();
    const version = `${source.getVersion()} ${Math.floor(askedAt / ASK_MS)}`;
    if (version === seen && damage === undefined) return;
    try {
      await followOrReplace(source);
    } finally {
      beside = undefined;
    }
    if (signal.aborted) return;
    [seen, failure, heardAt] = [version, undefined, Math.max(heardAt, askedAt)];
    onProgress?.(findProgress());
  };
  const fail = (thrown: unknown) => {
    noteFailure(thrown);
    const error = asPublishedError(publishedFile, thrown);
    const message = getErrorMessage(error);
    if (message !== failure && !isDamage(error)) onFailure(error);
    failure = message;
  };
  const look = async (following: Promise<void>) => {
    let pause = LOOK_MS;
    try {
      await following;
    } catch (error) {
      if (!signal.aborted) fail(error);
      pause = RETRY_MS;
    }
    if (signal.aborted) return;
    timer = setTimeout(() => {
      current = look(follow());
    }, pause).unref();
  };
  const findObstacle = () => {
    try {
      isWhole ||= published !== undefined && findMaking(published)?.first !== 1;
    } catch (error) {
      noteFailure(error);
    }
    if (damage !== undefined) return 'published_damaged';
    return isWhole ? undefined : 'published_being_made';
  };
  let current = Promise.resolve();
  const close = async () => {
    closing.abort();
    clearTimeout(timer);
    await current;
    published?.close();
    await source?.close();
  };
  try {
    source = await openNewsSource(files.catalogueAddress);
    await source.hold((asked) => asked(selectState()));
    published = openFile();
  } catch (error) {
    if (age === undefined && !isDamage(error)) {
      await close();
      throw error;
    }
    fail(error);
  }
  const first = follow();
  current = look(first);
  // Until there are tables in the file, readers cannot open it.
  if (age === undefined)
    await Promise.race([first, openable.promise]).catch(async (error: unknown) => {
      await close();
      throw error;
    });
  return {
    findFailure: () => failure,
    getHeardAt: () => heardAt,
    findAge(since = heardAt) {
      const age = performance.now() - since;
      return failure === undefined && age < LATE_MS ? undefined : age;
    },
    noteFailure,
    findObstacle,
    findProgress,
    refuseUnservable() {
      const reason = findObstacle();
      if (reason) throw new ServiceError('unavailable', ...buildRefusal(reason, findProgress()));
    },
    close,
  };
}

/** Builds the words for readers while nothing can be answered from the file. */
function buildRefusal(reason: string, progress: Progress | undefined) {
  const isDamaged = reason === 'published_damaged';
  const how = progress ? `: ${progress.listings_done} of ${progress.listings_total} listings are done` : '';
  return [
    `The catalogue is being made ready${isDamaged ? ' again' : ''}${how}.`,
    {
      hint: 'Try again in a moment.',
      reason,
      details: { retry_after_seconds: isDamaged ? RETRY_MS / 1000 : MAKING_RETRY_SECONDS, ...progress },
    },
  ] as const;
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

/** Place in the head of a database of the number of its pages (SQLite's file format, section 1.3). */
const SIZE_OFFSET = 28;

/**
 * Makes a file again from the catalogue, beside it, and puts that in its place: as one write of all of its pages, which
 * those who have it open see as they see any other. Where that was interrupted, it goes on. Returns false where another process
 * was at it, or is still: that is waited for.
 */
async function replaceFile(
  source: NewsSource,
  file: string,
  codeVersion: string | undefined,
  { onBatch, signal }: Watching = {},
): Promise<boolean> {
  const beside = `${file}.again`;
  const lock = findLock(`${beside}.lock`);
  if (!lock) {
    (await acquireLock(`${beside}.lock`, undefined, signal)).release();
    return false;
  }
  let made: Published | undefined;
  let isDone = false;
  try {
    // A backup in the place of a file with pages of another size is refused.
    const opened = openPublishedForWriting(beside, findPageBytes(file));
    made = opened;
    const onBesideBatch = (written: Published, askedAt: number) => {
      mendHead(file, opened);
      onBatch?.(written, askedAt);
    };
    await followCatalogue(source, opened, codeVersion, { onBatch: onBesideBatch, ...(signal && { signal }) }, false);
    if (signal?.aborted) return true;
    await waitWhileBusy(() => putInPlace(opened, file), signal);
    isDone = true;
    return true;
  } catch (error) {
    // One that is damaged itself, or that a power failure left as something else, is of no use.
    isDone = isDamage(error) || getFailure(error).reason === 'not_a_published_catalogue';
    throw error;
  } finally {
    made?.close();
    if (isDone) for (const ending of ['', '-wal', '-shm']) rmSync(beside + ending, { force: true });
    lock.release();
  }
}

/** Writes all pages of a file into another. Throws while another process holds the lock of that, which a backup takes for its end. */
async function putInPlace({ sqlite }: Published, file: string): Promise<void> {
  const { totalPages } = await sqlite.backup(file);
  if (totalPages === 0) throw new Sqlite.SqliteError('database is locked', 'SQLITE_BUSY');
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

/** Tries again while another process holds the lock. Throws once that took as long as SQLite would have waited, or on `signal`. */
async function waitWhileBusy<Result>(work: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  const limit = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || signal?.aborted || performance.now() > limit) throw error;
    }
    await sleep(LOOK_MS);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}
