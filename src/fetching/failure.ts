import { errors } from 'undici';
import { type ErrorCode, getErrorMessage, ServiceError } from '../errors.ts';
import type { Refusal, RefusalReason } from './address.ts';

/**
 * Why a fetch gave no answer. Besides the refusals of the address itself:
 * `name_not_resolved`: no addresses. `refused`: nobody takes the connection. `tls`: no trustworthy encryption.
 * `disconnected`: the connection broke before the answer was whole. `timeout`, `too_large`, `too_many_redirects`: a limit.
 * `held_up`: our own event loop was not free to listen for long enough, so nobody knows whether the other side answered.
 * `redirected`: a redirect where none is accepted. `malformed`: not HTTP, or a content coding that cannot be undone.
 * `bad_request`: our own request cannot be sent. `aborted`: the caller stopped it. `closed`: the client is closed.
 * `bad_status`, `bad_json`: answers of the JSON reader.
 */
export type FetchFailureReason =
  | RefusalReason
  | 'name_not_resolved'
  | 'refused'
  | 'tls'
  | 'disconnected'
  | 'timeout'
  | 'held_up'
  | 'too_large'
  | 'too_many_redirects'
  | 'redirected'
  | 'malformed'
  | 'bad_request'
  | 'aborted'
  | 'closed'
  | 'bad_status'
  | 'bad_json';

const CODES: Record<FetchFailureReason, ErrorCode> = {
  bad_url: 'bad_input',
  not_https: 'refused',
  userinfo: 'refused',
  blocked_address: 'refused',
  blocked_host: 'refused',
  blocked_port: 'refused',
  name_not_resolved: 'unavailable',
  refused: 'unavailable',
  tls: 'unavailable',
  disconnected: 'unavailable',
  timeout: 'unavailable',
  held_up: 'unavailable',
  too_large: 'refused',
  too_many_redirects: 'refused',
  redirected: 'refused',
  malformed: 'unavailable',
  bad_request: 'bad_input',
  aborted: 'unavailable',
  closed: 'internal',
  bad_status: 'unavailable',
  bad_json: 'unavailable',
};

/** Builds the one kind of error that fetching throws. The message names hosts at most: paths and queries hold secrets. */
export function buildFetchFailure(
  reason: FetchFailureReason,
  message: string,
  options: { details?: Record<string, unknown>; cause?: unknown } = {},
): ServiceError {
  return new ServiceError(CODES[reason], message, { reason, ...options });
}

/** Builds the failure for an address that was refused before any network was touched. */
export function buildRefusalFailure(refusal: Refusal): ServiceError {
  return buildFetchFailure(refusal.reason, refusal.message);
}

/** What the HTTP library's codes mean here; all else that ends an exchange is a broken connection. */
const LIBRARY_REASONS: Record<string, [FetchFailureReason, string]> = {
  UND_ERR_HEADERS_OVERFLOW: ['too_large', 'sent more header bytes than are accepted'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['malformed', 'sent a body of another length than it announced'],
  UND_ERR_INVALID_ARG: ['bad_request', 'cannot be sent such a request'],
  UND_ERR_NOT_SUPPORTED: ['bad_request', 'cannot be sent such a request'],
  UND_ERR_DESTROYED: ['closed', 'was not answered for: the client was closed'],
  UND_ERR_CLOSED: ['closed', 'was not answered for: the client was closed'],
};

/** Turns what the HTTP library threw for one exchange into our failure; a failure of our own passes unchanged. */
export function getFetchFailure(error: unknown, host: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const [reason, what] = findLibraryReason(error) ?? [
    'disconnected',
    `closed the connection before its answer was complete (${getErrorMessage(error)})`,
  ];
  return buildFetchFailure(reason, `The host ${host} ${what}.`, { cause: error });
}

function findLibraryReason(error: unknown): [FetchFailureReason, string] | undefined {
  // The parser's errors say what they are by class alone: undici leaves their codes undefined.
  if (error instanceof errors.HTTPParserError) return ['malformed', 'sent something that is not HTTP'];
  return error instanceof Error && 'code' in error ? LIBRARY_REASONS[String(error.code)] : undefined;
}
