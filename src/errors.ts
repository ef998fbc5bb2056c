/**
 * The kind of failure, from the caller's point of view. Each delivery (problem+json, exit code) translates these once.
 * `bad_input`: the caller can mend it. `not_found`: nothing there. `gone`: was there, now a tombstone. `conflict`:
 * somebody else holds it. `refused`: a rule forbids it. `unavailable`: try again later. `internal`: our fault.
 */
export type ErrorCode = 'bad_input' | 'not_found' | 'gone' | 'conflict' | 'refused' | 'unavailable' | 'internal';

interface ErrorOptionsWithHint {
  /** The reader's next step: one sentence. */
  hint?: string;
  /** A finer reason than the code, as a stable snake_case word (`timeout`, `blocked_address` …). */
  reason?: string;
  /** Further machine-readable members of the answer, e.g. the valid parameter names. */
  details?: Record<string, unknown>;
  cause?: unknown;
}

/** The one error the service throws on purpose. The message is one sentence without a trailing hint. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly reason: string;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, options: ErrorOptionsWithHint = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ServiceError';
    this.code = code;
    this.hint = options.hint;
    this.reason = options.reason ?? code;
    this.details = options.details ?? {};
  }
}

/** Says whether the service threw an error on purpose. Pages are compiled by themselves, with a class of their own. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof ServiceError || (error instanceof Error && error.name === 'ServiceError');
}

/** Gives the text of anything thrown, for messages that quote a failure of other code. */
export function getErrorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Says whether something thrown is an error of the system with a code: `ENOENT`. */
export function isFileError(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
