import type { MiddlewareHandler } from 'hono';
import { LRUCache } from 'lru-cache';
import { PATHS } from '../views/links.ts';
import { ASSET_ROUTE, matchPath } from '../views/routes.ts';
import type { GetClient } from './client.ts';
import { buildProblem } from './problem.ts';
import type { Env } from './request.ts';

/** The window in which a client's requests are counted, in milliseconds. It starts with the client's first request. */
const WINDOW_MS = 60_000;

/** Most clients that are counted at a time, at some 300 bytes each. The least recent ones are dropped. */
const MAX_CLIENTS = 100_000;

/** Routes by the weight of their requests; all others weigh 1. Requests of weight 0 cause no reading and no work. */
const WEIGHTED: Readonly<Record<number, readonly string[]>> = {
  0: [PATHS.health],
  2: [PATHS.search, PATHS.compare, PATHS.discoverySearch, PATHS.agentList, PATHS.mcp],
  10: [
    ...[PATHS.openapi, PATHS.guideFull, PATHS.download],
    ...[PATHS.sitemapIndex, PATHS.sitemap('{part}'), PATHS.servicePicture, PATHS.picture('{slug}')],
  ],
};
const WEIGHTS = new Map(
  Object.entries(WEIGHTED).flatMap(([weight, routes]) => routes.map((route) => [route, Number(weight)] as const)),
);

/** The problem of a client over its limit. */
const OVER_LIMIT = {
  status: 429,
  code: 'rate_limited',
  detail: 'This client has asked more often than the service answers.',
  hint: `Wait as many seconds as Retry-After says. For all of the catalogue, ${PATHS.agentList} takes up to 1000 listings a page.`,
} as const;

interface Window {
  count: number;
  readonly endsAt: number;
}

/**
 * Limits the requests of each client in a minute, each by its weight. A limit of 0 turns this off, headers included. The header
 * fields are those of draft-ietf-httpapi-ratelimit-headers-10. `now` returns milliseconds of a clock that never goes backwards.
 * Unlike the limiters on npm, which keep every client for its minute, this one bounds the number of clients.
 */
export function limitRate({
  limit,
  getClient,
  now = () => performance.now(),
  maxClients = MAX_CLIENTS,
}: {
  limit: number;
  getClient: GetClient;
  now?: (() => number) | undefined;
  maxClients?: number;
}): MiddlewareHandler<Env> {
  const windows = new LRUCache<string, Window>({ max: maxClients });
  const policy = `"client";q=${limit};w=${WINDOW_MS / 1000}`;
  return async (c, next) => {
    const { route } = matchPath(c.req.path);
    const weight = WEIGHTS.get(route) ?? 1;
    // An app that is mounted without a socket has no client.
    const client = c.env?.incoming ? getClient(c.env.incoming) : undefined;
    if (limit === 0 || weight === 0 || client === undefined) return next();
    // An asset counts only if it does not exist.
    const isAsset = route === ASSET_ROUTE;
    if (isAsset) await next();
    if (isAsset && c.res.status !== 404) return;
    const time = now();
    const known = windows.get(client);
    const window = known && known.endsAt > time ? known : { count: 0, endsAt: time + WINDOW_MS };
    if (window !== known) windows.set(client, window);
    window.count += weight;
    const left = limit - window.count;
    const seconds = String(Math.ceil((window.endsAt - time) / 1000));
    if (left < 0) {
      // Otherwise Hono would merge the headers of the existing answer into this one.
      c.res = undefined;
      c.res = buildProblem(OVER_LIMIT, { 'Retry-After': seconds });
    } else if (!isAsset) await next();
    c.res.headers.set('RateLimit-Policy', policy);
    c.res.headers.set('RateLimit', `"client";r=${Math.max(0, left)};t=${seconds}`);
  };
}
