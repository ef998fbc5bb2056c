import { Hono } from 'hono';
import { ServiceError } from '../errors.ts';
import { buildStrangerRefusal } from '../mcp/gate.ts';
import { createMcp } from '../mcp/server.ts';
import type { Reading } from '../snapshot/reading.ts';
import { PATHS } from '../views/links.ts';
import { createAgentChanges } from './agent-changes.ts';
import { createAgentCheck } from './agent-check.ts';
import { createAgentList } from './agent-list.ts';
import { createAgentListing } from './agent-listing.ts';
import { createAgentReceipt } from './agent-receipt.ts';
import { createChangesFeed } from './changes-feed.ts';
import { createConventions } from './conventions.ts';
import { createDiscoveryList, createDiscoverySearch } from './discovery.ts';
import { createFullGuide } from './full-guide.ts';
import { createOpenapi } from './openapi.ts';
import { buildPreflightHeaders } from './preflight.ts';
import { buildProblem, buildProblemResponse, NOTHING_HERE } from './problem.ts';
import { PUBLIC_HEADERS } from './public-headers.ts';
import { createSitemaps } from './sitemaps.ts';

/** The sitemaps, by any number. */
const SITEMAP_ROUTE = '/:file{sitemap-[1-9][0-9]{0,5}\\.xml}';

/**
 * Creates the live routes as one app, to be mounted by any server (architecture, decision 6). `onError` is told of failures
 * that are the service's own fault.
 */
export function createLive({ reading, onError }: { reading: Reading; onError?: (error: unknown) => void }): Hono {
  const app = new Hono({ strict: true });
  const serveOpenapi = createOpenapi(reading);
  const serveList = createAgentList(reading);
  const serveListing = createAgentListing(reading);
  const serveChanges = createAgentChanges(reading);
  const serveReceipt = createAgentReceipt(reading);
  const { serveFields, serveChallenge } = createAgentCheck(reading);
  const serveDiscoveryList = createDiscoveryList(reading);
  const serveDiscoverySearch = createDiscoverySearch(reading);
  const serveChangesFeed = createChangesFeed(reading);
  const serveFullGuide = createFullGuide(reading);
  const { serveIndex, serveSitemap } = createSitemaps(reading);
  const conventions = createConventions(reading);
  const serveMcp = createMcp({ reading, ...(onError && { onError }) });

  app.get(PATHS.openapi, ({ req }) => serveOpenapi(req.raw));
  app.get(PATHS.agentList, ({ req }) => serveList(req.raw));
  app.get(PATHS.agentChanges, ({ req }) => serveChanges(req.raw));
  app.get(PATHS.agentCheck, ({ req }) => serveFields(req.raw));
  app.post(PATHS.agentCheck, ({ req }) => serveChallenge(req.raw));
  app.get('/agent/listings/:slug', ({ req }) => serveListing(req.raw, req.param('slug')));
  app.get('/agent/receipts/:id', ({ req }) => serveReceipt(req.raw, req.param('id')));
  app.get(PATHS.discoveryResources, ({ req }) => serveDiscoveryList(req.raw));
  app.get(PATHS.discoverySearch, ({ req }) => serveDiscoverySearch(req.raw));
  app.get(PATHS.changesFeed, ({ req }) => serveChangesFeed(req.raw));
  app.get(PATHS.guideFull, ({ req }) => serveFullGuide(req.raw));
  app.get(PATHS.sitemapIndex, ({ req }) => serveIndex(req.raw));
  app.get(SITEMAP_ROUTE, ({ req }) => serveSitemap(req.raw, Number(/\d+/.exec(req.path)?.[0])));
  for (const [path, serve] of conventions) app.get(path, ({ req }) => serve(req.raw));
  app.post(PATHS.mcp, async ({ req }) => publish(await serveMcp(req.raw)));

  for (const path of [
    PATHS.openapi,
    PATHS.agentList,
    PATHS.agentChanges,
    PATHS.agentListing(':slug'),
    PATHS.agentReceipt(':id'),
    PATHS.discoveryResources,
    PATHS.discoverySearch,
    PATHS.changesFeed,
    PATHS.guideFull,
    PATHS.sitemapIndex,
    SITEMAP_ROUTE,
    ...conventions.keys(),
  ])
    refuseOtherMethods(app, path, 'GET, HEAD');
  refuseOtherMethods(app, PATHS.agentCheck, 'GET, HEAD, POST');
  refuseOtherMethods(app, PATHS.mcp, 'POST', buildStrangerRefusal(reading.site.baseUrl));
  app.notFound(() => buildProblem(NOTHING_HERE));
  app.onError((error) => {
    if (!(error instanceof ServiceError) || error.code === 'internal') onError?.(error);
    return buildProblemResponse(error);
  });
  return app;
}

/** Answers a preflight, unless `refuse` does, and any method but the allowed ones with 405. */
function refuseOtherMethods(
  app: Hono,
  path: string,
  methods: string,
  refuse?: (request: Request) => Response | undefined,
): void {
  const allow = `${methods}, OPTIONS`;
  app.options(path, ({ req }) => {
    const refusal = refuse?.(req.raw);
    if (refusal) return refusal;
    const headers = buildPreflightHeaders(allow, req.header('Access-Control-Request-Headers'));
    return new Response(null, { status: 204, headers });
  });
  app.all(path, ({ req }) =>
    buildProblem(
      { status: 405, code: 'method_not_allowed', detail: `${req.method} is not answered here.`, hint: `Use ${allow}.` },
      { Allow: allow },
    ),
  );
}

/** Opens an answer to readers of any origin. */
function publish(response: Response): Response {
  for (const [name, value] of Object.entries(PUBLIC_HEADERS)) response.headers.set(name, value);
  return response;
}
