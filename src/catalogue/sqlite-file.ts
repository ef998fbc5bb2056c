import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { createFolder } from './folder.ts';

/** Longest wait of a connection for the lock of another process, in milliseconds. */
const LOCK_TIMEOUT_MS = 10_000;

/** Hint for a file that cannot be opened. SQLite's own error does not tell a full or read-only disk from damage. */
export const UNOPENED_HINT =
  'Check its path and rights, and that its disk has room and takes writes. Where that is so, restore a backup.';

/** The endings of the files that SQLite keeps beside a database. */
const BESIDE = ['-wal', '-shm', '-journal'];

const SQLITE_MAGIC = 'SQLite format 3\0';

/** Lists the paths of a database's file and of those that SQLite keeps beside it, whether they exist or not. */
export function listSqliteFiles(file: string): string[] {
  return ['', ...BESIDE].map((ending) => file + ending);
}

/** Removes a database with the files that SQLite keeps beside it. */
export function removeSqliteFiles(file: string): void {
  for (const path of listSqliteFiles(file)) rmSync(path, { force: true });
}

/**
 * Opens the SQLite file of a catalogue. A missing file is created unless `readonly` is set. Throws `bad_input` for a file of
 * another kind, before anything is written to it, and `conflict` if the file was replaced meanwhile.
 */
export function openSqliteFile(file: string, { readonly }: { readonly: boolean }): Sqlite.Database {
  const opened = findFileNumber(file);
  const sqlite = openFile(file, { readonly });
  try {
    // Waits for the lock while a restore holds it.
    refuseOtherDatabase(sqlite, file);
    if (opened !== undefined && findFileNumber(file) !== opened) {
      const hint = 'Start again what you started.';
      throw new ServiceError('conflict', `${file} was replaced while it was opened.`, { hint, reason: 'replaced' });
    }
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw asFileError(file, error);
  }
}

/**
 * Opens a catalogue's file exclusively: until it is closed, no other process reads or writes it. Returns undefined for a file
 * that is too damaged. Throws `conflict` while another process has it open, and `bad_input` for a file of another kind.
 */
export function openAlone(file: string): Sqlite.Database | undefined {
  const sqlite = new Sqlite(file, { timeout: 0 });
  try {
    // Only the last process that has a file open can copy its write-ahead log into it. Another process may open the file before
    // the lock is taken.
    sqlite.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
    const isAlone = sqlite.pragma('journal_mode', { simple: true }) === 'delete';
    if (!isAlone) throw new Sqlite.SqliteError('opened meanwhile', 'SQLITE_BUSY');
    refuseOtherDatabase(sqlite, file);
    return sqlite;
  } catch (error) {
    sqlite.close();
    if (isDamage(error)) return undefined;
    const code = error instanceof Sqlite.SqliteError ? error.code : '';
    if (!code.startsWith('SQLITE_BUSY')) throw error;
    const hint = 'Stop the server, the prober, the private figures, and every command that runs, and try again.';
    throw new ServiceError('conflict', `The catalogue ${file} is in use.`, { hint, reason: 'in_use', cause: error });
  }
}

/** Returns the device and inode of the file at a path, which identify it; undefined if there is no file. */
export function findFileNumber(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev} ${found.ino}`;
}

function openFile(file: string, { readonly }: { readonly: boolean }): Sqlite.Database {
  try {
    if (!readonly) createFolder(dirname(file));
    refuseOtherFile(file);
    return new Sqlite(file, { readonly, fileMustExist: readonly, timeout: LOCK_TIMEOUT_MS });
  } catch (error) {
    throw asFileError(file, error);
  }
}

/** Refuses a file that is no database before SQLite opens it, so that it stays unchanged. */
function refuseOtherFile(file: string): void {
  if (!existsSync(file)) return;
  const head = Buffer.alloc(SQLITE_MAGIC.length);
  const handle = openSync(file, 'r');
  try {
    const length = readSync(handle, head);
    if (length > 0 && head.toString('latin1', 0, length) !== SQLITE_MAGIC) {
      throw new ServiceError('bad_input', `${file} is not a catalogue: it is no SQLite database.`, {
        hint: 'Name another file; this one was left as it is.',
        reason: 'not_a_catalogue',
      });
    }
  } finally {
    closeSync(handle);
  }
}

/** Refuses another program's database before anything is written to it. */
function refuseOtherDatabase(sqlite: Sqlite.Database, file: string): void {
  const tables = sqlite.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  // Migrations begin with tables of their own, which another process may see before the others.
  const isEmpty = tables.every((name) => String(name).startsWith('kysely_migration'));
  if (isEmpty || tables.includes('catalogue')) return;
  throw new ServiceError('bad_input', `${file} is a database of something else: it has the table ${tables[0]}.`, {
    hint: 'Name another file; this one was left as it is.',
    reason: 'not_a_catalogue',
  });
}

function asFileError(file: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  // The cause may be the disk; then a later start may succeed.
  const isOfDisk = error instanceof Sqlite.SqliteError && !error.code.startsWith('SQLITE_CANTOPEN_ISDIR');
  return new ServiceError(
    isOfDisk ? 'unavailable' : 'bad_input',
    `${file} cannot be opened as a catalogue: ${getErrorMessage(error)}.`,
    {
      hint: UNOPENED_HINT,
      reason: 'not_a_catalogue',
      cause: error,
    },
  );
}

/** Returns true if an error of SQLite says that a file is damaged or is not a database. */
export function isDamage(error: unknown): error is InstanceType<typeof Sqlite.SqliteError> {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code);
}
