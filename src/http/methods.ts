import type { MiddlewareHandler } from 'hono';
import { PATHS } from '../views/links.ts';
import type { Env } from './env.ts';
import { buildProblem } from './problem.ts';

/** Questions that are too long for an address are posted. */
const POSTED: Readonly<Record<string, readonly string[]>> = {
  [PATHS.mcp]: ['POST', 'OPTIONS'],
  [PATHS.agentCheck]: ['GET', 'HEAD', 'POST', 'OPTIONS'],
};

/** Lists the methods that a path is asked by. */
export function listMethods(path: string): string[] {
  return [...(POSTED[path] ?? ['GET', 'HEAD', 'OPTIONS'])];
}

/**
 * Refuses any other method with 405. (`hono/method-not-allowed` asks the routes of an app, and pages are none: there are as
 * many as listings.)
 */
export const refuseOtherMethods: MiddlewareHandler<Env> = async (c, next) => {
  const methods = listMethods(c.req.path);
  const allow = methods.join(', ');
  if (c.req.method === 'OPTIONS') c.header('Allow', allow);
  if (methods.includes(c.req.method)) return next();
  const refusal = { status: 405, code: 'method_not_allowed', detail: `${c.req.method} is not answered here.` };
  return buildProblem({ ...refusal, hint: `Use ${allow}.` }, { Allow: allow });
};
