import { closeSync, existsSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { ServiceError } from '../errors.ts';
import { type Catalogue, openCatalogueForReading } from './database.ts';
import { holdState } from './held-state.ts';
import { listDatabaseFaults } from './integrity.ts';
import { getCatalogueState } from './write.ts';

/** Database pages copied before others get their turn. */
const PAGES_A_STEP = 256;

/** What a backup holds. */
export interface Backup {
  file: string;
  bytes: number;
  identity: string;
  revision: number;
}

export interface BackupOptions {
  /** Whether a file that is already there may be replaced. */
  replace: boolean;
  /** Told how many database pages are copied, of how many. */
  onProgress?: (copied: number, total: number) => void;
  signal?: AbortSignal;
}

/**
 * Copies a catalogue that may be in use into one file: the state of one moment, checked, and in place by one rename, so
 * that `target` never holds half a backup. Throws `conflict` where there is such a file already, `unavailable` where the
 * copy was stopped, `internal` where it is not sound. The catalogue is only read.
 */
export async function backUpCatalogue(source: Catalogue, target: string, options: BackupOptions): Promise<Backup> {
  const file = resolve(target);
  refuseTarget(source, file, options.replace);
  const partial = join(dirname(file), `.${basename(file)}.partial-${process.pid}`);
  try {
    await copyPages(source, partial, options);
    const state = checkCopy(partial);
    syncFile(partial);
    renameSync(partial, file);
    return { file, bytes: statSync(file).size, ...state };
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(partial + suffix, { force: true });
  }
}

/**
 * Holds one state of the catalogue for the whole copy: without that, a write by another process would make SQLite begin
 * the copy again, and a busy catalogue would never be copied.
 */
async function copyPages(source: Catalogue, partial: string, { onProgress, signal }: BackupOptions): Promise<void> {
  const progress = ({ totalPages, remainingPages }: Sqlite.BackupMetadata): number => {
    if (signal?.aborted) {
      throw new ServiceError('unavailable', 'The backup was stopped, and nothing was written.', { reason: 'stopped' });
    }
    onProgress?.(totalPages - remainingPages, totalPages);
    return PAGES_A_STEP;
  };
  const { totalPages } = await holdState(source, () => source.sqlite.backup(partial, { progress }));
  onProgress?.(totalPages, totalPages);
}

/** Makes the copy one self-contained file (no write-ahead log beside it), and reads it through. */
function checkCopy(partial: string): { identity: string; revision: number } {
  const copy = new Sqlite(partial);
  copy.pragma('journal_mode = DELETE');
  copy.close();
  const backup = openCatalogueForReading(partial);
  try {
    const [fault] = listDatabaseFaults(backup);
    if (fault !== undefined) {
      throw new ServiceError('internal', `The copy is not sound: ${fault}.`, {
        hint: 'The catalogue itself is damaged: run the command check, and put an earlier backup in its place.',
        reason: 'damaged',
      });
    }
    const { identity, revision } = getCatalogueState(backup);
    return { identity, revision };
  } finally {
    backup.close();
  }
}

function refuseTarget({ file: source }: Catalogue, file: string, replace: boolean): void {
  if (!existsSync(dirname(file))) {
    throw new ServiceError('not_found', `There is no folder ${dirname(file)}.`, {
      hint: 'Make it first.',
      reason: 'no_folder',
    });
  }
  if (!existsSync(file)) return;
  if (realpathSync(file) === realpathSync(source)) {
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
