import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, type Stats, statSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';
import type { ExportPiece } from './export-document.ts';

/** What an export into a file came to. */
export interface ExportOutcome {
  file: string;
  bytes: number;
  revision: number;
  listings: number;
  tombstones: number;
}

/** Text is written once so much of it is there, in UTF-16 units. */
const WRITTEN_AT_ONCE = 256 * 1024;

/** The first bytes of every export, of lines and of one document. */
const BEGINNINGS = ['{"kind":"catalogue","title":', '{"catalogue":{"title":'];

/**
 * Throws `conflict` (`file_exists`) where `target` is there and does not hold an export, unless forced to, and always
 * where it is the catalogue itself or one of its companion files.
 */
export function checkTarget(target: string, { catalogueFile, force }: { catalogueFile: string; force: boolean }): void {
  const file = resolve(target);
  const found = statSync(file, { throwIfNoEntry: false });
  const own = ['', '-wal', '-shm', '-journal'].map((ending) => `${resolve(catalogueFile)}${ending}`);
  const isOwn = own.some((path) => path === file || isSameFile(found, statSync(path, { throwIfNoEntry: false })));
  if (isOwn) throw buildConflict(`${file} is the catalogue itself.`, 'Give another file.');
  if (!found || force) return;
  if (found.isFile() && isExport(file)) return;
  throw buildConflict(`${file} is there already, and is no export.`, 'Give another file, or --force to replace it.');
}

function isSameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

function isExport(file: string): boolean {
  const handle = openSync(file, 'r');
  try {
    const start = Buffer.alloc(64);
    const text = start.toString('utf8', 0, readSync(handle, start));
    return BEGINNINGS.some((beginning) => text.startsWith(beginning));
  } finally {
    closeSync(handle);
  }
}

function buildConflict(message: string, hint: string): ServiceError {
  return new ServiceError('conflict', message, { hint, reason: 'file_exists' });
}

/**
 * Writes pieces into a file beside `target` and renames it once it is whole and on the disk, so that `target` is always
 * one export or the one before. Throws `unavailable` where it was stopped, and what the file system does.
 */
export async function writeExportFile(
  target: string,
  pieces: Iterable<ExportPiece>,
  { revision, signal }: { revision: number; signal: AbortSignal },
): Promise<ExportOutcome> {
  const file = resolve(target);
  const partial = join(dirname(file), `.${basename(file)}.partial-${process.pid}`);
  const handle = openSync(partial, 'w');
  const outcome = { file, bytes: 0, revision, listings: 0, tombstones: 0 };
  let waiting = '';
  const flush = () => {
    const bytes = Buffer.from(waiting);
    for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
    outcome.bytes += bytes.length;
    waiting = '';
  };
  try {
    for (const { kind, text } of pieces) {
      waiting += text;
      if (kind === 'listing') outcome.listings += 1;
      if (kind === 'tombstone') outcome.tombstones += 1;
      if (waiting.length < WRITTEN_AT_ONCE) continue;
      flush();
      await setImmediate();
      if (signal.aborted) {
        throw new ServiceError('unavailable', 'The export was stopped, and the file is as it was.', {
          reason: 'stopped',
        });
      }
    }
    flush();
    fsyncSync(handle);
    renameSync(partial, file);
    return outcome;
  } finally {
    closeSync(handle);
    rmSync(partial, { force: true });
  }
}
