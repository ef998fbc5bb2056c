import { Hono } from 'hono';
import type { Reading } from '../snapshot/reading.ts';
import { PATHS } from '../views/links.ts';
import { createAgentList } from './agent-list.ts';
import { createAgentListing } from './agent-listing.ts';
import { createOpenapi } from './openapi.ts';
import { buildProblem, buildProblemResponse } from './problem.ts';

/** Headers by which any page or agent may read the documents from a browser: all of them are public. */
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, X-Catalogue-Revision, Link, Retry-After',
};

/** Says whether a path is answered live, per request, rather than by a page. */
export function isLivePath(pathname: string): boolean {
  return pathname === PATHS.openapi || pathname === PATHS.mcp || pathname.startsWith('/agent/');
}

/** Creates the live routes as one app, to be mounted by any server (architecture, decision 6). */
export function createLive({ reading, onError }: { reading: Reading; onError?: (error: unknown) => void }): Hono {
  const app = new Hono({ strict: true });
  const serveOpenapi = createOpenapi(reading);
  const serveList = createAgentList(reading);
  const serveListing = createAgentListing(reading);

  app.use(async (context, next) => {
    await next();
    for (const [name, value] of Object.entries(CORS)) context.res.headers.set(name, value);
  });
  app.get(PATHS.openapi, ({ req }) => serveOpenapi(req.raw));
  app.get(PATHS.agentList, ({ req }) => serveList(req.raw));
  app.get('/agent/listings/:slug', ({ req }) => serveListing(req.raw, req.param('slug')));

  for (const path of [PATHS.openapi, PATHS.agentList, PATHS.agentListing(':slug')])
    refuseOtherMethods(app, path, 'GET, HEAD');
  app.notFound(() =>
    buildProblem({
      status: 404,
      code: 'not_found',
      detail: 'There is nothing at this address.',
      hint: `${PATHS.openapi} describes every endpoint.`,
    }),
  );
  app.onError((error) => {
    onError?.(error);
    return buildProblemResponse(error);
  });
  return app;
}

/** Answers a preflight, and any method but the allowed ones with 405. */
function refuseOtherMethods(app: Hono, path: string, methods: string): void {
  const allow = `${methods}, OPTIONS`;
  app.options(path, ({ req }) => {
    const asked = req.header('Access-Control-Request-Headers');
    const headers = { 'Access-Control-Allow-Methods': allow, 'Access-Control-Max-Age': '86400', Allow: allow };
    return new Response(null, {
      status: 204,
      headers: asked
        ? { ...headers, 'Access-Control-Allow-Headers': asked, Vary: 'Access-Control-Request-Headers' }
        : headers,
    });
  });
  app.all(path, ({ req }) =>
    buildProblem(
      { status: 405, code: 'method_not_allowed', detail: `${req.method} is not answered here.`, hint: `Use ${allow}.` },
      { Allow: allow },
    ),
  );
}
