import { type ErrorCode, getErrorMessage, ServiceError } from '../errors.ts';
import { isFileError } from './folders.ts';
import type { ReleaseHeader } from './release.ts';

/** Events of a rebuild while it runs; commands and the server's log render them. Times are in milliseconds. */
export type RebuildEvent =
  /** Another rebuild holds the lock. */
  | { type: 'waiting' }
  /** The pages are compiled, once per code version. */
  | { type: 'compiling'; code_version: string }
  | { type: 'compiled'; code_version: string; ms: number }
  /** Number of pages rendered so far, of those that must be. */
  | { type: 'rendering'; done: number; total: number }
  /** Something of an earlier release turned out damaged, and is made again. */
  | { type: 'mending'; damage: string }
  /** Something that the page code or the compiler wrote to its error output. */
  | { type: 'said'; text: string };

/** The result of a rebuild. `unchanged`: the current release is of this catalogue, revision, code and settings. */
export type RebuildResult =
  | { outcome: 'unchanged'; release: ReleaseHeader }
  | { outcome: 'released'; release: ReleaseHeader; rendered: number; linked: number; ms: number };

export type OnRebuildEvent = (event: RebuildEvent) => void;

/** Describes the step of a rebuild in a sentence; undefined for progress and for somebody else's words. */
export function describeRebuildEvent(event: RebuildEvent): string | undefined {
  switch (event.type) {
    case 'waiting':
      return 'Waiting for another rebuild to end …';
    case 'compiling':
      return 'Compiling the pages (once for each version of the code) …';
    case 'compiled':
      return `Compiled in ${formatSeconds(event.ms)}.`;
    case 'mending':
      return `${event.damage} It is made again.`;
    default:
      return undefined;
  }
}

/** Describes the result of a rebuild in a sentence. */
export function describeRebuildResult(result: RebuildResult): string {
  const { id, revision } = result.release;
  if (result.outcome === 'unchanged') return `Nothing to do: release ${id} is of revision ${revision} already.`;
  const { rendered, linked, ms } = result;
  const kept = linked === 0 ? '' : `, ${linked} unchanged`;
  return `Released ${id} of revision ${revision}: ${rendered} pages rendered${kept}, in ${formatSeconds(ms)}.`;
}

function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** A failure as plain data, to be handed from one process or thread to another. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason: string;
  readonly hint?: string;
  readonly details: Record<string, unknown>;
}

/** Returns anything thrown in a rebuild as plain data. `folder` is where it was writing. */
export function getFailure(error: unknown, folder: string): Failure {
  const { code, message, reason, hint, details } = asServiceError(error, folder);
  return { code, message, reason, ...(hint !== undefined && { hint }), details };
}

/** Builds the error that a failure was. */
export function buildFailureError({ code, message, ...options }: Failure): ServiceError {
  return new ServiceError(code, message, options);
}

function asServiceError(error: unknown, folder: string): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isFileError(error, 'ENOSPC') || isFileError(error, 'EDQUOT')) {
    return new ServiceError('unavailable', `The disk that holds ${folder} is full.`, {
      hint: 'Free some space and rebuild again; the last release keeps serving meanwhile.',
      reason: 'disk_full',
      cause: error,
    });
  }
  if (isFileError(error, 'EACCES') || isFileError(error, 'EROFS') || isFileError(error, 'EPERM')) {
    return new ServiceError('unavailable', `${folder} cannot be written to: ${getErrorMessage(error)}.`, {
      hint: 'Give this user the right to write there, or set RELEASES to another folder.',
      reason: 'not_writable',
      cause: error,
    });
  }
  return new ServiceError('internal', `The rebuild failed: ${getErrorMessage(error)}.`, {
    hint: 'The last release keeps serving.',
    reason: 'rebuild_failed',
    details: { stack: error instanceof Error ? error.stack : undefined },
    cause: error,
  });
}
