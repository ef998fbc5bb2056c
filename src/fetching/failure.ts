import { errors } from 'undici';
import { type ErrorCode, getErrorMessage, ServiceError } from '../errors.ts';
import type { Refusal, RefusalReason } from './address.ts';

/**
 * Reasons why a fetch returned no answer. Besides the refusals of the address: `name_not_resolved`: no addresses.
 * `refused`: the connection is refused. `tls`: no trustworthy encryption. `disconnected`: the connection broke before
 * the answer was complete. `timeout`, `too_large`, `too_many_redirects`: a limit. `held_up`: our own event loop was
 * blocked for too long, so nobody knows whether the other side answered. `redirected`: a redirect that is not followed.
 * `malformed`: not HTTP, or a content coding that cannot be undone. `bad_request`: our own request cannot be sent.
 * `aborted`: the caller stopped it. `closed`: the client is closed. `bad_status`, `bad_json`: answers of the JSON reader.
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

/**
 * Builds the error that fetching throws. The message names at most the host, because paths and queries may contain
 * secrets.
 */
export function buildFetchFailure(
  reason: FetchFailureReason,
  message: string,
  options: { details?: Record<string, unknown>; cause?: unknown } = {},
): ServiceError {
  return new ServiceError(CODES[reason], message, { reason, ...options });
}

/** Builds the failure for an address that was refused before any network access. */
export function buildRefusalFailure(refusal: Refusal): ServiceError {
  return buildFetchFailure(refusal.reason, refusal.message);
}

/** Builds the failure of a host: its fault, and the error code of the system or OpenSSL (`ECONNREFUSED`). */
export function buildHostFailure(
  reason: FetchFailureReason,
  host: string,
  what: string,
  cause?: unknown,
): ServiceError {
  const word = cause instanceof Error && 'code' in cause ? String(cause.code) : getErrorMessage(cause);
  const because = cause === undefined ? '' : ` (${word})`;
  return buildFetchFailure(reason, `The host ${host} ${what}${because}.`, cause === undefined ? {} : { cause });
}

/** The reasons for the error codes of the HTTP library. */
const LIBRARY_REASONS: Record<string, [FetchFailureReason, string]> = {
  UND_ERR_HEADERS_OVERFLOW: ['too_large', 'sent more header bytes than are accepted'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['malformed', 'sent a body of another length than it announced'],
  UND_ERR_INVALID_ARG: ['bad_request', 'cannot be sent such a request'],
  UND_ERR_NOT_SUPPORTED: ['bad_request', 'cannot be sent such a request'],
  UND_ERR_DESTROYED: ['closed', 'was not answered for: the client was closed'],
  UND_ERR_CLOSED: ['closed', 'was not answered for: the client was closed'],
  // The connector's signal ends connections that are still being opened.
  ABORT_ERR: ['closed', 'was not answered for: the client was closed'],
};

/**
 * Turns an error of the HTTP library into our failure; our own failures pass unchanged. An error without a known code is a
 * connection or TLS error before the request was sent, and a broken connection after that.
 */
export function getFetchFailure(error: unknown, host: string, wasSent: boolean): ServiceError {
  if (error instanceof ServiceError) return error;
  // Parser errors are recognised by class, because undici leaves their codes undefined.
  if (error instanceof errors.HTTPParserError) {
    return buildFetchFailure('malformed', `The host ${host} sent something that is not HTTP.`, { cause: error });
  }
  const [reason, what] = LIBRARY_REASONS[getCode(error)] ?? [];
  if (reason) return buildFetchFailure(reason, `The host ${host} ${what}.`, { cause: error });
  if (!wasSent) return buildConnectFailure(error, host);
  return buildFetchFailure(
    'disconnected',
    `The host ${host} closed the connection before its answer was complete (${getErrorMessage(error)}).`,
    { cause: error },
  );
}

function buildConnectFailure(error: unknown, host: string): ServiceError {
  // undici uses this class also for addresses that did not answer; then the system's error is its cause.
  const isUndicis = error instanceof errors.ConnectTimeoutError;
  if (isUndicis && error.cause === undefined) {
    return buildFetchFailure('held_up', 'This process was too busy to open a connection.');
  }
  const cause = isUndicis ? error.cause : error;
  // The error is an AggregateError if several addresses failed. A connection that broke in the TLS handshake has
  // another `syscall`.
  const isTcp =
    cause instanceof AggregateError || (cause instanceof Error && 'syscall' in cause && cause.syscall === 'connect');
  if (!isTcp) return buildHostFailure('tls', host, 'offers no trustworthy TLS', cause);
  const reason = getCode(cause) === 'ETIMEDOUT' ? 'timeout' : 'refused';
  return buildHostFailure(reason, host, 'does not take connections', cause);
}

function getCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
