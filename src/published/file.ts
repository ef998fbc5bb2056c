import { once } from 'node:events';
import { closeSync, existsSync, openSync, readSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { createFolder } from '../catalogue/folder.ts';
import { findFileNumber, isDamage } from '../catalogue/sqlite-file.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts';

/** How long a reader waits for the lock of another process, in milliseconds. Who writes has the file to himself, and never waits. */
const BUSY_TIMEOUT_MS = 10_000;

/** What the journal (`-wal`) is cut down to, in bytes, once all of it is in the file: a whole rewriting makes it larger than that. */
const JOURNAL_BYTES = 16 * 1024 * 1024;

/** Bytes of a page of a new file: documents of routes are about a kilobyte each, and with pages of 4 kB the file is twice as large. */
export const PAGE_BYTES = 8192;

/** How many statements are kept prepared: lists have one for each set of filters. */
const STATEMENTS_KEPT = 500;

/** Memory for the pages of a file that is made, in kibibytes. */
const MAKING_CACHE = 32_000;

/**
 * Memory for the pages of a file that is open, in kibibytes: what is not there comes from the system's own cache of the file. With eight
 * times as much a list takes a twentieth less.
 */
const PAGE_CACHE = 4000;

/** How long the head of a database is, and the place in it of the application id (SQLite's file format, section 1.3). */
const HEAD_BYTES = 100;
const ID_OFFSET = 68;

/** What lies beside a file, and the file itself. */
const ENDINGS = ['', '-wal', '-shm', '-journal'];

/** A published catalogue: the public SQLite file that pages, documents and MCP are made from. */
export interface Published {
  readonly file: string;
  /** The open file. Another one once `reopen` was called, so nobody keeps it. */
  readonly sqlite: Sqlite.Database;
  /**
   * Prepares a statement, and keeps those that were used last: each needs memory that V8 does not count. Where the plan could depend on
   * the value of a parameter (a limit, or a column with partial indexes), SQLite plans the query again each time it runs, some
   * 40 µs, unless the parameter is written `+?`.
   */
  prepare<Row = unknown>(sql: string): Sqlite.Statement<unknown[], Row>;
  /** Opens the file that lies there now, when it is next asked; another may have taken the place of the one that is open. */
  reopen(): void;
  /** Gives how often it was opened. */
  getOpenings(): number;
  close(): void;
}

/**
 * Opens a published catalogue for reading only. Throws `not_found` where there is none, and `bad_input` for a file that is
 * something else or was made by other code.
 */
export function openPublished(file: string): Published {
  const published = openPublishedLater(file);
  try {
    published.prepare('SELECT 1 FROM catalogue').get();
  } catch (error) {
    published.close();
    throw asPublishedError(file, error);
  }
  return published;
}

/** Does the same when the file is first asked, which throws until it can be opened. */
export function openPublishedLater(file: string): Published {
  return buildPublished(file, () => openForReading(file));
}

function openForReading(file: string): Sqlite.Database {
  for (;;) {
    const number = findFileNumber(file);
    if (number === undefined) {
      throw new ServiceError('not_found', `There is no published catalogue at ${file}.`, {
        hint: 'npm start and npm run rebuild make it from the catalogue.',
        reason: 'not_published',
      });
    }
    const sqlite = openSqlite(file, { readonly: true });
    // Another file took its place meanwhile, and the journal beside it may be of that one.
    if (findFileNumber(file) !== number) sqlite.close();
    else if (isCurrentSchema(sqlite)) return sqlite;
    else {
      sqlite.close();
      throw new ServiceError('bad_input', `${file} was made by another version of this code.`, {
        hint: 'npm start and npm run rebuild make it again from the catalogue.',
        reason: 'not_published',
      });
    }
  }
}

/** Opens a published catalogue to be written to. Only what follows the catalogue does that. Throws as `openPublished` does. */
export function openPublishedForWriting(file: string): Published {
  // Refuses what this code has not made, and leaves it as it is.
  openPublished(file).close();
  const published = buildPublished(file, () => openSqlite(file, { readonly: false }));
  const { sqlite } = published;
  try {
    // SQLite waits by holding up the whole process, requests included.
    sqlite.pragma('busy_timeout = 0');
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma(`journal_size_limit = ${JOURNAL_BYTES}`);
    // What is in the journal is taken into the file by a thread of its own.
    sqlite.pragma('wal_autocheckpoint = 0');
  } catch (error) {
    published.close();
    throw asPublishedError(file, error);
  }
  return published;
}

/** Counts the pages in the journal (`-wal`) that are not in the file yet. */
export function countJournalPages({ sqlite }: Published): number {
  const [pages] = sqlite.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
  return pages ? pages.log - pages.checkpointed : 0;
}

/** Takes what is in the journal (`-wal`) into the file, in a thread of its own: others have their turn. */
export async function takeJournalIn(file: string): Promise<void> {
  const thread = new Worker(new URL('./checkpoint.ts', import.meta.url), { workerData: file });
  await once(thread, 'exit');
}

/** Makes a file need nothing beside it, where nobody else has it open: a full or read-only disk can be read from. */
export function putJournalAway(file: string): void {
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(file, { fileMustExist: true, timeout: 0 });
    sqlite.pragma('journal_mode = DELETE');
  } catch (error) {
    // Those who have it open, or a disk that takes no writes, leave the journal as it is.
    if (!(error instanceof Sqlite.SqliteError)) throw error;
  } finally {
    sqlite?.close();
  }
}

/**
 * Makes a file for a published catalogue, which nobody may read until it is whole: after a kill it is no good, and made again.
 * What lies in its place is removed. Throws `unavailable` where it cannot be written.
 */
export function createPublished(file: string): Published {
  createFolder(dirname(file));
  removePublished(file);
  const published = buildPublished(file, () => new Sqlite(file));
  try {
    published.sqlite.pragma(`page_size = ${PAGE_BYTES}`);
    published.sqlite.pragma('synchronous = OFF');
    published.sqlite.pragma(`cache_size = -${MAKING_CACHE}`);
  } catch (error) {
    published.close();
    throw asPublishedError(file, error);
  }
  return published;
}

/** Closes a file that is whole now, once all of it is on the disk. Others have their turn meanwhile. */
export async function finishPublished({ file, sqlite, close }: Published): Promise<void> {
  sqlite.pragma('journal_mode = WAL');
  close();
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes a published catalogue with what SQLite keeps beside it. */
export function removePublished(file: string): void {
  for (const ending of ENDINGS) rmSync(file + ending, { force: true });
}

/**
 * Puts a whole file in the place of another, or of none. Those who have the other one open keep reading that; who opens one
 * meanwhile notices that it is another. Only who has the lock of the file may call it, and with the file closed.
 */
export function putInPlace(made: string, file: string): void {
  // Nothing of the other one may lie beside the new one, whose journal SQLite would take it for.
  removePublished(file);
  renameSync(made, file);
}

/** Sets a damaged file aside, with what SQLite keeps beside it, as `.damaged`. */
export function setAside(file: string): void {
  for (const ending of ENDINGS) {
    if (existsSync(file + ending)) renameSync(file + ending, `${file}.damaged${ending}`);
    else rmSync(`${file}.damaged${ending}`, { force: true });
  }
}

/** Says whether a failure is that of a damaged published file, which is made again. */
export function isPublishedDamage(error: unknown): boolean {
  return isDamage(error) || (error instanceof ServiceError && error.reason === 'published_damaged');
}

/** Returns the error that names the published file and says what to do, for a failure of SQLite with it; others as they are. */
export function asPublishedError(file: string, error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  const build = (what: string, reason: string, hint: string) =>
    new ServiceError('unavailable', `The published catalogue ${file} ${what}: ${error.message}.`, {
      ...{ hint, reason, cause: error },
    });
  if (isPublishedDamage(error)) {
    const hint =
      'A running service sets it aside and makes it again by itself; without one npm start and npm run rebuild do.';
    return build('is damaged', 'published_damaged', hint);
  }
  if (error.code.startsWith('SQLITE_BUSY'))
    return build(
      'is in use by another process',
      'published_busy',
      'It is tried again; a rebuild lets go of it when it is done.',
    );
  if (error.code.startsWith('SQLITE_FULL'))
    return build('has no room on its disk', 'disk_full', 'Make room; it is followed again by itself.');
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR|PERM)/.test(error.code)) {
    const hint = 'Check the rights of the file and its folder, and that their disk has room and takes writes.';
    return build('cannot be written or read', 'published_unwritable', hint);
  }
  return error;
}

/** Says whether a file has the tables that this code reads. */
function isCurrentSchema(sqlite: Sqlite.Database): boolean {
  return sqlite.pragma('user_version', { simple: true }) === SCHEMA_VERSION;
}

function openSqlite(file: string, { readonly }: { readonly: boolean }): Sqlite.Database {
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(file, { readonly, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    refuseOther(sqlite, file);
    sqlite.pragma(`cache_size = -${PAGE_CACHE}`);
    return sqlite;
  } catch (error) {
    sqlite?.close();
    // What SQLite does not recognise may be anything, and is left alone.
    throw isPublishedDamage(error) && !isOurs(file)
      ? buildRefusal(file, getErrorMessage(error), error)
      : asPublishedError(file, error);
  }
}

function buildPublished(file: string, openFile: () => Sqlite.Database): Published {
  const statements = new LRUCache<string, Sqlite.Statement>({ max: STATEMENTS_KEPT });
  let sqlite: Sqlite.Database | undefined;
  let openings = 0;
  let isClosed = false;
  const get = () => {
    if (sqlite) return sqlite;
    if (isClosed) throw new Error(`${file} was closed`);
    sqlite = openFile();
    openings += 1;
    return sqlite;
  };
  const reopen = () => {
    statements.clear();
    sqlite?.close();
    sqlite = undefined;
  };
  return {
    file,
    get sqlite() {
      return get();
    },
    prepare<Row>(sql: string) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = get().prepare(sql);
        statements.set(sql, statement);
      }
      return statement as Sqlite.Statement<unknown[], Row>;
    },
    reopen,
    getOpenings: () => openings,
    close() {
      reopen();
      isClosed = true;
    },
  };
}

/** Returns whether the head of a file that SQLite cannot read says that it is a published catalogue. */
function isOurs(file: string): boolean {
  return readHead(file).readUInt32BE(ID_OFFSET) === APPLICATION_ID;
}

function readHead(file: string): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  const handle = openSync(file, 'r');
  try {
    readSync(handle, head);
  } finally {
    closeSync(handle);
  }
  return head;
}

/** An empty file, or none, may become one. */
function refuseOther(sqlite: Sqlite.Database, file: string): void {
  if (sqlite.pragma('application_id', { simple: true }) === APPLICATION_ID) return;
  if (sqlite.prepare('SELECT count(*) FROM sqlite_master').pluck().get() === 0) return;
  throw buildRefusal(file, 'it is a database of something else');
}

function buildRefusal(file: string, why: string, cause?: unknown): ServiceError {
  return new ServiceError('bad_input', `${file} cannot be used as the published catalogue: ${why}.`, {
    hint: 'Set PUBLISHED to another file; this one is left as it is. If it was the published catalogue, remove it with its -wal and -shm: it is made again.',
    reason: 'not_a_published_catalogue',
    cause,
  });
}
