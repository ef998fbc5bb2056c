import { errors } from 'undici';
import { type ErrorCode, getErrorMessage, ServiceError } from '../errors.ts';
import type { Refusal, RefusalReason } from './address.ts';

/**
 * Why a fetch gave no answer. Besides the refusals of the address itself:
 * `name_not_resolved`: no addresses. `refused`: nobody takes the connection. `tls`: no trustworthy encryption.
 * `disconnected`: the connection broke before the answer was whole. `timeout`, `too_large`, `too_many_redirects`: a
 * limit. `held_up`: our own event loop was not free to listen for long enough, so nobody knows whether the other side
 * answered. `redirected`: a redirect where none is accepted. `malformed`: not HTTP, or a content coding that cannot be
 * undone. `bad_request`: our own request cannot be sent. `aborted`: the caller stopped it. `closed`: the client is
 * closed. `bad_status`, `bad_json`: answers of the JSON reader.
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

/** Builds the failure of a host: what it did, and the system's or OpenSSL's own word for why (`ECONNREFUSED`). */
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

/** What the HTTP library's codes mean here. */
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
 * Turns what the HTTP library threw for one exchange into our failure; a failure of our own passes unchanged. Before
 * anything was sent it was opening the connection, so what no code names is the system's refusal or that of TLS; later
 * it is a broken connection.
 */
export function getFetchFailure(error: unknown, host: string, wasSent: boolean): ServiceError {
  if (error instanceof ServiceError) return error;
  // The parser's errors say what they are by class alone: undici leaves their codes undefined.
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
  // undici gives this name to addresses that did not answer, too; the system's own error is then its cause.
  const isUndicis = error instanceof errors.ConnectTimeoutError;
  if (isUndicis && error.cause === undefined) {
    return buildFetchFailure('held_up', 'This process was too busy to open a connection.');
  }
  const cause = isUndicis ? error.cause : error;
  // Several addresses that all failed are one AggregateError; a connection broken in the handshake has another
  // `syscall`.
  const isTcp =
    cause instanceof AggregateError || (cause instanceof Error && 'syscall' in cause && cause.syscall === 'connect');
  if (!isTcp) return buildHostFailure('tls', host, 'offers no trustworthy TLS', cause);
  const reason = getCode(cause) === 'ETIMEDOUT' ? 'timeout' : 'refused';
  return buildHostFailure(reason, host, 'does not take connections', cause);
}

function getCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
