import type { MiddlewareHandler } from 'hono';
import { ENDPOINTS } from './endpoints/index.ts';
import type { Env } from './env.ts';
import { buildProblem } from './problem.ts';

const READ: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

/** The methods of the paths that are asked by others, too. */
const OTHERS = new Map(ENDPOINTS.flatMap(({ path, allow }) => (allow ? [[path, allow] as const] : [])));

/** Lists the methods that a path is asked by. */
export function listMethods(path: string): readonly string[] {
  return OTHERS.get(path) ?? READ;
}

/** Names the methods to a client that asks for them, or for a preflight. */
export const nameMethods: MiddlewareHandler<Env> = (c, next) => {
  if (c.req.method === 'OPTIONS') c.header('Allow', listMethods(c.req.path).join(', '));
  return next();
};

/**
 * Refuses any other method with 405. (`hono/method-not-allowed` asks the routes of an app, and pages are none: there are as
 * many as listings.)
 */
export const refuseOtherMethods: MiddlewareHandler<Env> = async (c, next) => {
  const methods = listMethods(c.req.path);
  if (methods.includes(c.req.method)) return next();
  const allow = methods.join(', ');
  const refusal = { status: 405, code: 'method_not_allowed', detail: `${c.req.method} is not answered here.` };
  return buildProblem({ ...refusal, hint: `Use ${allow}.` }, { Allow: allow });
};
