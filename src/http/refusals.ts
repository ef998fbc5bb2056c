import type { Context, MiddlewareHandler } from 'hono';
import { PATHS } from '../views/links.ts';
import { matchPath } from '../views/routes.ts';
import { READ_AND_POST } from './endpoints/define.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { loadMcp } from './endpoints/mcp.ts';
import { buildProblem, MALFORMED, MALFORMED_ADDRESS } from './problem.ts';
import type { Env } from './request.ts';

/** Returns the path of a request as it was sent, still encoded. */
function getRawPath({ req }: Context): string {
  // Skips the scheme and the host.
  const local = req.url.slice(req.url.indexOf('/', 8));
  const end = local.indexOf('?');
  return end < 0 ? local : local.slice(0, end);
}

/** Refuses an address whose path has broken percent-encoding, or contains control characters or backslashes, plain or encoded. */
export const refuseMalformed: MiddlewareHandler<Env> = async (c, next) =>
  isMalformed(getRawPath(c)) ? buildProblem(MALFORMED_ADDRESS) : next();

/** Refuses a second Host header: Node keeps the first, and a proxy in front may have used the other (RFC 9112, section 3.2). */
export const refuseSecondHost: MiddlewareHandler<Env> = async (c, next) => {
  const names = c.env?.incoming?.rawHeaders.filter((_, at) => at % 2 === 0) ?? [];
  return names.filter((name) => name.toLowerCase() === 'host').length > 1 ? buildProblem(MALFORMED) : next();
};

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

const READ: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** The paths that take other methods than `READ`, with their methods. */
const OTHERS = new Map<string, readonly string[]>([
  ...ENDPOINTS.flatMap(({ path, allow }) => (allow ? [[path, allow] as const] : [])),
  [PATHS.submit, READ_AND_POST],
  [PATHS.submissions, READ_AND_POST],
  [PATHS.submission('{id}'), READ_AND_POST],
  [PATHS.providersCheck, ['POST', 'OPTIONS']],
]);

/** Lists the methods that a path takes. */
export function listMethods(path: string): readonly string[] {
  return OTHERS.get(matchPath(path).route) ?? READ;
}

/** Adds the `Allow` header to answers to OPTIONS, preflights included. */
export const setAllowHeader: MiddlewareHandler<Env> = (c, next) => {
  if (c.req.method === 'OPTIONS') c.header('Allow', listMethods(c.req.path).join(', '));
  return next();
};

/** Refuses all other methods with 405. (`hono/method-not-allowed` looks at the routes of the app, and pages have none.) */
export const refuseOtherMethods: MiddlewareHandler<Env> = async (c, next) => {
  const methods = listMethods(c.req.path);
  if (methods.includes(c.req.method)) return next();
  const allow = methods.join(', ');
  const refusal = { status: 405, code: 'method_not_allowed', detail: `${c.req.method} is not answered here.` };
  return buildProblem({ ...refusal, hint: `Use ${allow}.` }, { Allow: allow });
};

/** Refuses MCP requests that a page of another site may have sent to a service on its reader's machine. */
export function preventDnsRebinding(baseUrl: string): MiddlewareHandler<Env> {
  let findRefusal: ((request: Request) => Response | undefined) | undefined;
  return async (c, next) => {
    findRefusal ??= (await loadMcp()).buildStrangerRefusal(baseUrl);
    return findRefusal(c.req.raw) ?? next();
  };
}
