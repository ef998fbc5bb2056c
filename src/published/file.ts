import { closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { createFolder } from '../catalogue/folder.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { APPLICATION_ID, SCHEMA_VERSION } from './schema.ts';

/** How long a connection waits for the lock of another process. */
export const BUSY_TIMEOUT_MS = 10_000;

/** What the journal (`-wal`) is cut down to, in bytes, once all of it is in the file: a whole rewriting makes it larger than that. */
const JOURNAL_BYTES = 16 * 1024 * 1024;

/** Bytes of a page of a new file: documents of routes are about a kilobyte each, and a page of 4 kB would lose a third of itself. */
const PAGE_BYTES = 8192;

/** How many statements are kept prepared: lists have one for each set of filters. */
const STATEMENTS_KEPT = 500;

/** How long the head of a database is, and the places in it of the size of pages and of the application id (SQLite's file format, section 1.3). */
const HEAD_BYTES = 100;
const PAGE_BYTES_OFFSET = 16;
const ID_OFFSET = 68;

/** How many bytes a page of any of our files can have, earlier ones too. */
const PAGE_SIZES = [4096, PAGE_BYTES];

/** An open published catalogue: the public SQLite file that pages, documents and MCP are made from. */
export interface Published {
  readonly file: string;
  /** Address of the service, which is put into what the file holds rendered; empty where nothing of that is read. */
  readonly baseUrl: string;
  readonly sqlite: Sqlite.Database;
  /** Prepares a statement, and keeps those that were used last: each needs memory that V8 does not count. */
  prepare<Row = unknown>(sql: string): Sqlite.Statement<unknown[], Row>;
  close(): void;
}

/**
 * Opens a published catalogue for reading only. Throws `not_found` where there is none, and `bad_input` for a file that is
 * something else or was made by other code.
 */
export function openPublished(file: string): Published {
  if (!existsSync(file)) {
    throw new ServiceError('not_found', `There is no published catalogue at ${file}.`, {
      hint: 'npm start and npm run rebuild make it from the catalogue.',
      reason: 'not_published',
    });
  }
  const published = open(file, { readonly: true });
  if (isCurrentSchema(published)) return published;
  published.close();
  throw new ServiceError('bad_input', `${file} was made by another version of this code.`, {
    hint: 'npm start and npm run rebuild make it again from the catalogue.',
    reason: 'not_published',
  });
}

/**
 * Opens a published catalogue to be written, and creates a missing file, with pages of `pageBytes`. Only what
 * follows the catalogue writes to it. Throws `bad_input` for a file that is something else, which is left as it is.
 */
export function openPublishedForWriting(file: string, pageBytes = PAGE_BYTES): Published {
  createFolder(dirname(file));
  // Where the file was removed, its journal may still be open in a process that serves from it, and is not of the new file.
  if (!existsSync(file)) for (const ending of ['-wal', '-shm']) rmSync(file + ending, { force: true });
  const published = open(file, { readonly: false });
  const { sqlite } = published;
  try {
    // Of a new file; others keep theirs.
    sqlite.pragma(`page_size = ${pageBytes}`);
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma(`journal_size_limit = ${JOURNAL_BYTES}`);
  } catch (error) {
    sqlite.close();
    throw asPublishedError(file, error);
  }
  return { ...published, close: () => closeForWriting(sqlite) };
}

/** Finds how many bytes a page of a file has; undefined where its head does not say it. */
export function findPageBytes(file: string): number | undefined {
  const head = readHead(file);
  const bytes = head.readUInt16BE(PAGE_BYTES_OFFSET);
  return PAGE_SIZES.includes(bytes) ? bytes : undefined;
}

/** Closes a file so that it needs nothing beside it, where nobody else has it open: a full or read-only disk can be read from. */
function closeForWriting(sqlite: Sqlite.Database): void {
  if (!sqlite.open) return;
  try {
    sqlite.pragma('busy_timeout = 0');
    sqlite.pragma('journal_mode = DELETE');
  } catch (error) {
    // Those who have it open, or a disk that takes no writes, leave the journal as it is.
    if (!(error instanceof Sqlite.SqliteError)) throw error;
  } finally {
    sqlite.close();
  }
}

/** Says whether a failure is that of a damaged published file, which is made again. */
export function isDamage(error: unknown): boolean {
  const { cause = error } = error instanceof ServiceError && error.reason === 'published_damaged' ? error : {};
  return cause instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(cause.code);
}

/** Returns the error that names the published file and says what to do, for a failure of SQLite with it; others as they are. */
export function asPublishedError(file: string, error: unknown): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  const build = (what: string, reason: string, hint: string) =>
    new ServiceError('unavailable', `The published catalogue ${file} ${what}: ${error.message}.`, {
      ...{ hint, reason, cause: error },
    });
  if (isDamage(error)) {
    const hint =
      'A running service makes it again by itself. Without one, remove it with its -wal and -shm; npm start and npm run rebuild make it.';
    return build('is damaged', 'published_damaged', hint);
  }
  if (error.code.startsWith('SQLITE_FULL'))
    return build('has no room on its disk', 'disk_full', 'Make room; it is followed again by itself.');
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR|PERM)/.test(error.code)) {
    const hint = 'Check the rights of the file and its folder, and that their disk has room and takes writes.';
    return build('cannot be written or read', 'published_unwritable', hint);
  }
  return error;
}

/** Says whether a file has the tables that this code reads. */
export function isCurrentSchema({ sqlite }: Published): boolean {
  return sqlite.pragma('user_version', { simple: true }) === SCHEMA_VERSION;
}

function open(file: string, { readonly }: { readonly: boolean }): Published {
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(file, { readonly, fileMustExist: readonly, timeout: BUSY_TIMEOUT_MS });
    refuseOther(sqlite, file);
  } catch (error) {
    sqlite?.close();
    // What SQLite does not recognise may be anything, and is left alone.
    throw isDamage(error) && !isOurs(file)
      ? buildRefusal(file, getErrorMessage(error), error)
      : asPublishedError(file, error);
  }
  return build(file, sqlite);
}

function build(file: string, sqlite: Sqlite.Database): Published {
  const statements = new LRUCache<string, Sqlite.Statement>({ max: STATEMENTS_KEPT });
  return {
    file,
    baseUrl: '',
    sqlite,
    prepare<Row>(sql: string) {
      let statement = statements.get(sql);
      if (!statement) {
        statement = sqlite.prepare(sql);
        statements.set(sql, statement);
      }
      return statement as Sqlite.Statement<unknown[], Row>;
    },
    close: () => sqlite.close(),
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
