import type { IncomingMessage } from 'node:http';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Problem } from '../views/problem.ts';
import { buildClientReader } from './client.ts';
import { createRateLimit, WINDOW_MS } from './rate-limit.ts';

/** What a client has left, and whether its request is within that. */
export interface Admission {
  readonly isWithin: boolean;
  /** Flat names and values that say so in the answer. */
  readonly headers: readonly string[];
}

/** Counts a request against what its client has left. */
export type Admit = (request: IncomingMessage) => Admission;

/**
 * Opens the limit of requests a minute for each client; a limit of 0 is off, and says nothing. The fields are those of
 * draft-ietf-httpapi-ratelimit-headers-10. `now` is as `createRateLimit` takes it.
 */
export function openAdmission(
  { rateLimit, trustedProxies }: Pick<Config, 'rateLimit' | 'trustedProxies'>,
  now?: () => number,
): Admit {
  if (rateLimit === 0) return () => UNLIMITED;
  const getClient = buildClientReader(trustedProxies);
  const takeQuota = createRateLimit({ limit: rateLimit, ...(now && { now }) });
  const policy = `"client";q=${rateLimit};w=${WINDOW_MS / 1000}`;
  return (request) => {
    const { isWithin, remaining, resetSeconds } = takeQuota(getClient(request));
    const headers = ['RateLimit-Policy', policy, 'RateLimit', `"client";r=${remaining};t=${resetSeconds}`];
    if (!isWithin) headers.push('Retry-After', String(resetSeconds));
    return { isWithin, headers };
  };
}

const UNLIMITED: Admission = { isWithin: true, headers: [] };

/** What a client over its limit is told. */
export const OVER_LIMIT = {
  status: 429,
  code: 'rate_limited',
  detail: 'This client has asked more often than the service answers.',
  hint: 'Wait as many seconds as Retry-After says. For all of the catalogue, /agent/list takes up to 1000 listings a page.',
} as const satisfies Partial<Problem>;

/** Builds the error by which a page is not rendered for a client over its limit. */
export function buildOverLimitError(): ServiceError {
  return new ServiceError('unavailable', OVER_LIMIT.detail, { hint: OVER_LIMIT.hint, reason: OVER_LIMIT.code });
}

/** Says whether that is why. */
export function isOverLimit(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === OVER_LIMIT.code;
}
