import { type ErrorCode, getErrorMessage, ServiceError } from '../errors.ts';
import { isFileError } from './folders.ts';

/** A failure as plain data, to be handed from one process or thread to another. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reason: string;
  readonly hint?: string;
  readonly details: Record<string, unknown>;
}

/** Gives anything thrown in a rebuild as plain data. `folder` is where it was writing. */
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
