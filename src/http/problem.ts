import { type ErrorCode, ServiceError } from '../errors.ts';
import { PATHS } from '../views/links.ts';
import { buildProblemBody, type Problem } from '../views/problem.ts';

const STATUS: Readonly<Record<ErrorCode, number>> = {
  bad_input: 400,
  not_found: 404,
  gone: 410,
  conflict: 409,
  refused: 403,
  unavailable: 503,
  internal: 500,
};

/** The problem of an address at which there is nothing. */
export const NOTHING_HERE = {
  status: 404,
  code: 'not_found',
  detail: 'There is nothing at this address.',
  hint: `${PATHS.openapi} describes every endpoint, and ${PATHS.agentList}?q=… searches the catalogue.`,
} as const satisfies Partial<Problem>;

/** The problem of a page while none are compiled or written. */
export const NO_PAGES = {
  status: 503,
  code: 'no_pages',
  detail: 'The pages are not built yet.',
  hint: 'Try again in a moment; the operator runs npm run rebuild.',
  retry_after_seconds: 5,
} as const;

/** The problem of a malformed address. */
export const MALFORMED_ADDRESS = {
  status: 400,
  code: 'malformed_address',
  detail: 'The address is malformed.',
  hint: 'Percent-encode what is not ASCII (as UTF-8), spaces and "%" itself; curl -G --data-urlencode "q=…" does.',
} as const;

/** The problem of a request that is not HTTP, or that could be read in two ways. */
export const MALFORMED = {
  status: 400,
  code: 'malformed_request',
  detail: 'The request is not HTTP as this server reads it.',
  hint: 'Send HTTP/1.1 with one Host header, and percent-encode what is not ASCII in the address.',
} as const;

/**
 * Answers an error as `application/problem+json` (RFC 9457): the one translation of errors for HTTP. An error that was not thrown
 * on purpose becomes `internal`, without its text. A failure of ours has `requestId`, under which the log has its cause.
 */
export function buildProblemResponse(error: unknown, requestId?: string): Response {
  const known =
    error instanceof ServiceError
      ? error
      : new ServiceError('internal', 'Something went wrong on our side.', { hint: 'Try again in a moment.' });
  return buildProblem({
    status: STATUS[known.code],
    code: known.reason,
    detail: known.message,
    ...(known.hint && { hint: known.hint }),
    ...known.details,
    ...(STATUS[known.code] >= 500 && requestId && { request_id: requestId }),
  });
}

/** Answers with a problem built from its members. Type, title and `Retry-After` are derived from them. */
export function buildProblem(
  members: Pick<Problem, 'status' | 'code' | 'detail'> & Record<string, unknown>,
  headers: Record<string, string> = {},
): Response {
  const { retry_after_seconds: wait } = members;
  return new Response(JSON.stringify(buildProblemBody(members)), {
    status: members.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(wait !== undefined && { 'Retry-After': String(wait) }),
      ...headers,
    },
  });
}
