import { once } from 'node:events';
import { closeSync, existsSync, openSync, readSync, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { createFolder } from '../catalogue/folder.ts';
import { findFileNumber, isDamage, listSqliteFiles, removeSqliteFiles } from '../catalogue/sqlite-file.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts';

/** Longest time for which a reader waits for the lock of another process, in milliseconds. The only writer never waits. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * Size to which the journal (`-wal`) is cut once all of it is in the file, in bytes. A rewrite of the whole file makes it larger.
 */
const JOURNAL_BYTES = 16 * 1024 * 1024;

/**
 * Page size of a new file, in bytes. Documents of routes have about a kilobyte; with pages of 4 kB the file is twice as large.
 */
export const PAGE_BYTES = 8192;

/** Number of statements that are kept prepared: lists use one for each set of filters. */
const STATEMENTS_KEPT = 500;

/** Page cache of a file while it is made, in kibibytes. */
const MAKING_CACHE = 32_000;

/**
 * Page cache of an open file, in kibibytes. Other pages come from the system's cache of the file. The short forms of 10,000
 * listings fit in: with half of this size reading fifty of them takes twice as long, with eight times this size no less.
 */
const PAGE_CACHE = 8000;

/** Length of a database's header, and the offset of the application id in it, in bytes (SQLite's file format, section 1.3). */
const HEAD_BYTES = 100;
const ID_OFFSET = 68;

/** A published catalogue: the public SQLite file that pages, documents and MCP are made from. */
export interface Published {
  readonly file: string;
  /** The open file. `reopen` replaces it, so callers must not keep it. */
  readonly sqlite: Sqlite.Database;
  /**
   * Prepares a statement, and keeps the most recently used ones: each needs memory that V8 does not count. If the plan could
   * depend on the value of a parameter (a limit, or a column with partial indexes), SQLite plans the query again at each run,
   * some 40 µs, unless the parameter is written `+?`.
   */
  prepare<Row = unknown>(sql: string): Sqlite.Statement<unknown[], Row>;
  /** Opens the file that is at the path now at the next read. It may have replaced the open one. */
  reopen(): void;
  /** Returns the number of times that the file was opened. */
  getOpenings(): number;
  close(): void;
}

/**
 * Opens a published catalogue for reading only. Throws `not_found` if there is no file, and `bad_input` if the file is something
 * else or was made by other code.
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

/** As `openPublished`, but opens the file when it is first read; each read throws until it can be opened. */
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
    // Another file may have replaced this one meanwhile, and the journal beside it may belong to the new file.
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

/** Opens a published catalogue for writing. Only the follower of the catalogue does that. Throws as `openPublished` does. */
export function openPublishedForWriting(file: string): Published {
  // Refuses a file that this code has not made, and leaves it as it is.
  openPublished(file).close();
  const published = buildPublished(file, () => openSqlite(file, { readonly: false }));
  const { sqlite } = published;
  try {
    // With a timeout, SQLite would block the whole process while it waits, requests included.
    sqlite.pragma('busy_timeout = 0');
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma(`journal_size_limit = ${JOURNAL_BYTES}`);
    // A separate thread copies the journal into the file.
    sqlite.pragma('wal_autocheckpoint = 0');
  } catch (error) {
    published.close();
    throw asPublishedError(file, error);
  }
  return published;
}

/** Returns the number of pages in the journal (`-wal`) that are not in the file yet. */
export function countWalPages({ sqlite }: Published): number {
  const [pages] = sqlite.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
  return pages ? pages.log - pages.checkpointed : 0;
}

/** Copies the journal (`-wal`) into the file, in a separate thread that blocks nobody. */
export async function checkpointWal(file: string): Promise<void> {
  const thread = new Worker(new URL('./checkpoint.ts', import.meta.url), { workerData: file });
  await once(thread, 'exit');
}

/**
 * Switches the file to a rollback journal if no other process has it open. It can then be read without files beside it, even on a
 * full or read-only disk.
 */
export function leaveWalMode(file: string): void {
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
 * Creates a file for a published catalogue. Nobody may read it before it is whole; if the process is killed, it must be made
 * again. Removes any file at this path. Throws `unavailable` if the file cannot be written.
 */
export function createPublished(file: string): Published {
  createFolder(dirname(file));
  removeSqliteFiles(file);
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

/** Closes a whole file once all of it is on the disk. Other work has its turn meanwhile. */
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

/**
 * Moves a whole file to the path of another file, or of none. Processes that have the other one open keep reading it; a process
 * that opens it at this moment notices the replacement. The caller must hold the file's lock, and the file must be closed.
 */
export function putInPlace(made: string, file: string): void {
  // SQLite would take a journal of the old file for one of the new file, so nothing of the old file may remain.
  removeSqliteFiles(file);
  renameSync(made, file);
}

/** Renames a damaged file, and the files that SQLite keeps beside it, to end in `.damaged`. */
export function setAside(file: string): void {
  const kept = listSqliteFiles(`${file}.damaged`);
  for (const [at, path] of listSqliteFiles(file).entries()) {
    if (existsSync(path)) renameSync(path, kept[at] as string);
    else rmSync(kept[at] as string, { force: true });
  }
}

/** Says whether a failure is that of a damaged published file, which is made again. */
export function isPublishedDamage(error: unknown): boolean {
  return isDamage(error) || (error instanceof ServiceError && error.reason === 'published_damaged');
}

/** Returns an error that names the published file and says what to do, for an error of SQLite; returns other errors unchanged. */
export function asPublishedError(file: string, error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  const build = (what: string, reason: string, hint: string) =>
    new ServiceError('unavailable', `The published catalogue ${file} ${what}: ${error.message}.`, {
      hint,
      reason,
      cause: error,
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

/** Returns true if a file has the tables that this code reads. */
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

/** Returns true if a file that SQLite cannot read has the header of a published catalogue. */
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

/** Throws `bad_input` for a database of something else. An empty file may become a published catalogue. */
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
