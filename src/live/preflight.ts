import { PUBLIC_HEADERS } from './public-headers.ts';

/** How long a browser may remember the answer to a preflight, in seconds. */
const MAX_AGE_SECONDS = 24 * 60 * 60;

/**
 * Builds the headers that answer a preflight (Fetch standard, "CORS-preflight request"): pages of any origin may use the
 * allowed methods, with whatever headers they ask for.
 */
export function buildPreflightHeaders(allow: string, asked: string | undefined): Record<string, string> {
  return {
    ...PUBLIC_HEADERS,
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
    Allow: allow,
    ...(asked && { 'Access-Control-Allow-Headers': asked, Vary: 'Access-Control-Request-Headers' }),
  };
}
