import { closeSync, existsSync, fsyncSync, linkSync, openSync, realpathSync, renameSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ServiceError } from '../errors.ts';
import { isPostgresAddress } from '../model/catalogue-address.ts';
import { copyCatalogue } from './copy.ts';
import { type Catalogue, holdState, type NewCatalogue, openCatalogue, openCatalogueForReading } from './database.ts';
import { refuseMissingFolder } from './folder.ts';
import { findFileNumber, openAlone, removeSqliteFiles } from './sqlite-file.ts';
import { getCatalogueState, writeCatalogue } from './transaction.ts';

/** Number of database pages copied at a time. The event loop runs between two steps. */
const PAGES_A_STEP = 256;

/** A finished backup. */
export interface Backup {
  file: string;
  bytes: number;
  identity: string;
  revision: number;
}

export interface BackupOptions {
  /** True if an existing file may be replaced. */
  replace: boolean;
  /** Called with the number of database pages copied so far, and the number of all. */
  onProgress?: (copied: number, total: number) => void;
  signal?: AbortSignal;
}

/**
 * Copies a catalogue that may be in use into one file: its state at one moment, checked, and renamed at the end, so that `target`
 * never holds half a backup. Returns what the backup holds. Throws `not_found` if the folder does not exist, `bad_input` for the
 * catalogue itself or a folder, `conflict` for an existing file, `unavailable` if stopped, and `internal` for a damaged copy. The
 * catalogue is only read.
 */
export async function backUpCatalogue(source: Catalogue, target: string, options: BackupOptions): Promise<Backup> {
  const file = resolve(target);
  refuseTarget(source, file, options.replace);
  const partial = join(dirname(file), `.${basename(file)}.partial-${process.pid}`);
  try {
    await (source.engine.name === 'sqlite' ? copyPages(source, partial, options) : copyRows(source, partial, options));
    const state = await checkCopy(partial, source.name);
    syncFile(partial);
    renameSync(partial, file);
    return { file, bytes: statSync(file).size, ...state };
  } finally {
    removeSqliteFiles(partial);
  }
}

/**
 * Replaces the file of a catalogue, which no other process may have open, by a backup, and keeps the old file next to it: `kept`,
 * null if there was none. Nothing changes unless the backup is sound. The catalogue gets a new identity, and a new revision with
 * the time `at`, so that all followers start again. Throws `conflict` while the catalogue is in use, `not_found` without a
 * backup, `bad_input` for a catalogue in PostgreSQL, and as `backUpCatalogue` does.
 */
export async function restoreCatalogue(
  from: string,
  file: string,
  { identity, at }: NewCatalogue,
  signal: AbortSignal,
): Promise<Backup & { kept: string | null }> {
  refuseBackup(from, file);
  const held = existsSync(file) ? openAlone(file) : undefined;
  const fresh = `${file}.restored-${process.pid}`;
  try {
    const source = await openCatalogueForReading(from, { mayBeOlder: true });
    await backUpCatalogue(source, fresh, { replace: true, signal }).finally(() => source.close());
    const copy = await openCatalogue(fresh, { identity, at });
    await writeCatalogue(copy, at, async ({ catalogue, raiseRevision }) => {
      await catalogue.query.updateTable('catalogue').set({ identity }).execute();
      raiseRevision();
    });
    const { revision } = await getCatalogueState(copy);
    await copy.close();
    const kept = existsSync(file) ? `${file}.until-${at.replaceAll(/[-:.]/g, '')}` : null;
    if (kept !== null) linkSync(file, kept);
    // The write-ahead log of a damaged file, and its index, still exist. SQLite would take them for those of the new file.
    for (const suffix of ['-wal', '-shm']) if (existsSync(file + suffix)) renameSync(file + suffix, kept + suffix);
    renameSync(fresh, file);
    return { file, bytes: statSync(file).size, identity, revision, kept };
  } finally {
    held?.close();
    removeSqliteFiles(fresh);
  }
}

function refuseBackup(from: string, address: string): void {
  if (isPostgresAddress(address)) {
    throw new ServiceError('bad_input', 'CATALOGUE is a PostgreSQL database, and a backup is restored into a file.', {
      hint: 'Create an empty database, run "copy <backup> <its address>", and set CATALOGUE to it.',
      reason: 'not_a_file',
    });
  }
  const number = findFileNumber(from);
  if (number !== undefined && number !== findFileNumber(address)) return;
  throw new ServiceError('not_found', `${from} is ${number ? 'the catalogue itself' : 'not there'}.`, {
    hint: 'Name a file that the command backup wrote.',
    reason: 'no_backup',
  });
}

/**
 * Copies the pages while one state of the catalogue is held. Otherwise SQLite would start again after each write by another
 * process, and never finish the copy of a busy catalogue.
 */
async function copyPages(source: Catalogue, partial: string, { onProgress, signal }: BackupOptions): Promise<void> {
  const progress = ({ totalPages, remainingPages }: Sqlite.BackupMetadata): number => {
    if (signal?.aborted) {
      throw new ServiceError('unavailable', 'The copy was stopped, and nothing was written.', { reason: 'stopped' });
    }
    onProgress?.(totalPages - remainingPages, totalPages);
    return PAGES_A_STEP;
  };
  const { totalPages } = await holdState(source, () => source.engine.sqlite.backup(partial, { progress }));
  onProgress?.(totalPages, totalPages);
}

/** Copies a catalogue in PostgreSQL, row by row, into a new file. */
async function copyRows(source: Catalogue, partial: string, { signal }: BackupOptions): Promise<void> {
  const target = await openCatalogue(partial, { identity: '', at: '' });
  try {
    await copyCatalogue(source, target, { ...(signal && { signal }) });
  } finally {
    await target.close();
  }
}

/** Makes the copy a single file, without a write-ahead log, and checks all of it. */
async function checkCopy(partial: string, of: string): Promise<{ identity: string; revision: number }> {
  const copy = new Sqlite(partial);
  copy.pragma('journal_mode = DELETE');
  copy.close();
  const backup = await openCatalogueForReading(partial, { mayBeOlder: true });
  try {
    const [fault] = backup.engine.listFaults();
    if (fault !== undefined) {
      throw new ServiceError('internal', `${of} is not sound: ${fault}.`, {
        hint: 'Restore an earlier backup.',
        reason: 'damaged',
      });
    }
    const { identity, revision } = await getCatalogueState(backup);
    return { identity, revision };
  } finally {
    await backup.close();
  }
}

function refuseTarget({ address: source }: Catalogue, file: string, replace: boolean): void {
  refuseMissingFolder(file);
  if (!existsSync(file)) return;
  if (!isPostgresAddress(source) && realpathSync(file) === realpathSync(source)) {
    throw new ServiceError('bad_input', `${file} is the catalogue itself.`, {
      hint: 'Name another file.',
      reason: 'same_file',
    });
  }
  if (statSync(file).isDirectory()) {
    throw new ServiceError('bad_input', `${file} is a folder.`, { hint: 'Name a file in it.', reason: 'is_folder' });
  }
  if (!replace) {
    throw new ServiceError('conflict', `${file} is already there.`, {
      hint: 'Name another file, or add --force to replace it.',
      reason: 'exists',
    });
  }
}

function syncFile(file: string): void {
  const handle = openSync(file, 'r+');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
