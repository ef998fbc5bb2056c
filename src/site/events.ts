import { getErrorMessage, isFileError, ServiceError } from '../errors.ts';
import type { Build } from './record.ts';

/** Events of a rebuild while it runs; commands and the server's log render them. Times are in milliseconds. */
export type RebuildEvent =
  /** Another rebuild holds the lock. */
  | { type: 'waiting' }
  /** The pages are compiled, once per code version. */
  | { type: 'compiling'; code_version: string }
  | { type: 'compiled'; code_version: string; ms: number }
  /** Number of pages rendered so far, of those that must be. */
  | { type: 'rendering'; done: number; total: number }
  /** A text that the page code or the compiler wrote to its error output. */
  | { type: 'said'; text: string };

/** The result of a rebuild, and the input of the pages. `unchanged`: the pages already have this catalogue, code and settings. */
export type RebuildResult =
  | { outcome: 'unchanged'; site: Build }
  /** Numbers of pages, and the time in milliseconds. */
  | { outcome: 'written'; site: Build; written: number; removed: number; unchanged: number; ms: number };

export type OnRebuildEvent = (event: RebuildEvent) => void;

/** Describes the step of a rebuild in a sentence; undefined for progress and for text of the compiler. */
export function describeRebuildEvent(event: RebuildEvent): string | undefined {
  switch (event.type) {
    case 'waiting':
      return 'Waiting for another rebuild to end …';
    case 'compiling':
      return 'Compiling the pages (once for each version of the code) …';
    case 'compiled':
      return `Compiled in ${formatSeconds(event.ms)}.`;
    default:
      return undefined;
  }
}

/** Describes the result of a rebuild in a sentence. */
export function describeRebuildResult(result: RebuildResult): string {
  const { revision } = result.site;
  if (result.outcome === 'unchanged') return `Nothing to do: the pages are of revision ${revision} already.`;
  const { written, removed, unchanged, ms } = result;
  const others = [removed > 0 && `${removed} removed`, unchanged > 0 && `${unchanged} unchanged`].filter(Boolean);
  const figures = [`${written} written`, ...others].join(', ');
  return `The pages are of revision ${revision}: ${figures}, in ${formatSeconds(ms)}.`;
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Returns the error of a failed rebuild, with what to do about it. `folder` is where it was writing. */
export function asRebuildError(error: unknown, folder: string): ServiceError {
  if (error instanceof ServiceError) return error;
  if (['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].some((code) => isFileError(error, code))) {
    return new ServiceError('unavailable', `The disk that holds ${folder} is full.`, {
      hint: 'Free some space and rebuild again; the pages that are there keep being served.',
      reason: 'disk_full',
      cause: error,
    });
  }
  if (
    ['EACCES', 'EROFS', 'EPERM', 'ENOTDIR', 'EEXIST', 'SQLITE_CANTOPEN', 'SQLITE_READONLY'].some((code) =>
      isFileError(error, code),
    )
  ) {
    return new ServiceError('unavailable', `${folder} cannot be written to: ${getErrorMessage(error)}.`, {
      hint: 'Give this user the right to write there, or set SITE to another folder.',
      reason: 'not_writable',
      cause: error,
    });
  }
  return new ServiceError('internal', `The rebuild failed: ${getErrorMessage(error)}.`, {
    hint: 'The pages that are there keep being served.',
    reason: 'rebuild_failed',
    details: { stack: error instanceof Error ? error.stack : undefined },
    cause: error,
  });
}
