import type { Context, MiddlewareHandler } from 'hono';
import type { Env } from './env.ts';
import { buildProblem } from './problem.ts';

/** The problem of a malformed address. */
export const MALFORMED_ADDRESS = {
  status: 400,
  code: 'malformed_address',
  detail: 'The address is malformed.',
  hint: 'Percent-encode what is not ASCII (as UTF-8), spaces and "%" itself; curl -G --data-urlencode "q=…" does.',
} as const;

/** Gives the path of a request as it was sent. */
function getRawPath({ req }: Context): string {
  // Behind the scheme and the host.
  const local = req.url.slice(req.url.indexOf('/', 8));
  const end = local.indexOf('?');
  return end < 0 ? local : local.slice(0, end);
}

/** Refuses an address whose path has broken percent-encoding, or control characters or backslashes in any spelling. */
export const refuseMalformed: MiddlewareHandler<Env> = async (c, next) =>
  isMalformed(getRawPath(c)) ? buildProblem(MALFORMED_ADDRESS) : next();

function isMalformed(path: string): boolean {
  if (!path.includes('%')) return path.includes('\\');
  try {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are refused
    return /[\x00-\x1f\x7f\\]/.test(decodeURIComponent(path));
  } catch (error) {
    if (error instanceof URIError) return true;
    throw error;
  }
}
