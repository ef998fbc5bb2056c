import { closeSync, existsSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ServiceError } from '../errors.ts';
import { isPostgresAddress } from '../model/catalogue-address.ts';
import { copyCatalogue } from './copy.ts';
import { type Catalogue, holdState, openCatalogue, openCatalogueForReading } from './database.ts';
import { getCatalogueState } from './transaction.ts';

/** Database pages that are copied at a time. In between, the event loop runs. */
const PAGES_A_STEP = 256;

/** What a backup holds. */
export interface Backup {
  file: string;
  bytes: number;
  identity: string;
  revision: number;
}

export interface BackupOptions {
  /** Whether an existing file may be replaced. */
  replace: boolean;
  /** Called with the number of database pages copied so far, and of all. */
  onProgress?: (copied: number, total: number) => void;
  signal?: AbortSignal;
}

/**
 * Copies a catalogue that may be in use into one file: its state at one moment, checked, and renamed at the end, so that
 * `target` never holds half a backup. Returns what the backup holds. Throws `not_found` without the folder, `bad_input` for
 * the catalogue itself or a folder, `conflict` for an existing file, `unavailable` if stopped, and `internal` for a
 * damaged copy. The catalogue is only read.
 */
export async function backUpCatalogue(source: Catalogue, target: string, options: BackupOptions): Promise<Backup> {
  const file = resolve(target);
  refuseTarget(source, file, options.replace);
  const partial = join(dirname(file), `.${basename(file)}.partial-${process.pid}`);
  try {
    await (source.engine.name === 'sqlite' ? copyPages(source, partial, options) : copyRows(source, partial, options));
    const state = await checkCopy(partial);
    syncFile(partial);
    renameSync(partial, file);
    return { file, bytes: statSync(file).size, ...state };
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(partial + suffix, { force: true });
  }
}

/**
 * Copies the pages while one state of the catalogue is held. Without that, SQLite would begin again after each write by
 * another process, and never finish the copy of a busy catalogue.
 */
async function copyPages(source: Catalogue, partial: string, { onProgress, signal }: BackupOptions): Promise<void> {
  const progress = ({ totalPages, remainingPages }: Sqlite.BackupMetadata): number => {
    if (signal?.aborted) {
      throw new ServiceError('unavailable', 'The backup was stopped, and nothing was written.', { reason: 'stopped' });
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

/** Makes the copy one file, without a write-ahead log beside it, and checks all of it. */
async function checkCopy(partial: string): Promise<{ identity: string; revision: number }> {
  const copy = new Sqlite(partial);
  copy.pragma('journal_mode = DELETE');
  copy.close();
  const backup = await openCatalogueForReading(partial);
  try {
    const [fault] = backup.engine.listFaults();
    if (fault !== undefined) {
      throw new ServiceError('internal', `The copy is not sound: ${fault}.`, {
        hint: 'The catalogue itself is damaged: run the command check, and put an earlier backup in its place.',
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
  if (!existsSync(dirname(file))) {
    throw new ServiceError('not_found', `There is no folder ${dirname(file)}.`, {
      hint: 'Make it first.',
      reason: 'no_folder',
    });
  }
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
