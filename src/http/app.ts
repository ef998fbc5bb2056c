import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { cors } from 'hono/cors';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { secureHeaders } from 'hono/secure-headers';
import { ServiceError } from '../errors.ts';
import type { OnToolCall } from '../mcp/server.ts';
import type { Following } from '../published/follow.ts';
import type { Reading } from '../published/reading.ts';
import { getFileVersion } from '../published/state.ts';
import { buildLinkHeader } from '../views/conventions.ts';
import { PATHS } from '../views/links.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { loadMcp } from './endpoints/mcp.ts';
import type { Env } from './env.ts';
import { announceLeaving } from './leaving.ts';
import { listMethods, nameMethods, refuseOtherMethods } from './methods.ts';
import { buildProblem, buildProblemResponse, NOTHING_HERE } from './problem.ts';
import { chooseRequestId, nameRequest } from './request-id.ts';
import { type Answer, createResponseCache } from './response-cache.ts';
import { admitBadgeStyle, buildSecurityHeaders } from './security-headers.ts';
import { refuseMalformed } from './target.ts';

/** Headers that pages of any site may read. */
const EXPOSED = [
  'ETag',
  'X-Catalogue-Revision',
  'X-Catalogue-Age',
  'X-Request-Id',
  'Link',
  'Deprecation',
  'Sunset',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
];

/** How long a browser may remember the answer to a preflight, in seconds. */
const PREFLIGHT_SECONDS = 24 * 60 * 60;

/** What the app answers from; all but `reading` only where it has a server of its own. */
export interface Service {
  readonly reading: Reading;
  /** Logs failures that are our own. */
  readonly onError?: (error: unknown) => void;
  /** Hears of each call of an MCP tool. */
  readonly onToolCall?: OnToolCall | undefined;
  readonly logRequests?: MiddlewareHandler<Env>;
  readonly limitRate?: MiddlewareHandler<Env>;
  /** Knows for how long changes of the catalogue have not reached readers. */
  readonly following?: Pick<Following, 'getHeardAt' | 'findAge'>;
  /** Whether providers may be on this machine. */
  readonly allowPrivateNetworks?: boolean;
  /** Names the release that pages are served from, for the cache. */
  readonly getRelease?: () => string;
  /** Adds the routes by which the server is watched. */
  readonly addHealth?: (app: Hono<Env>) => void;
  /** Adds what the server has besides documents; gives the handler of pages, which is asked for what no route answers. */
  readonly addPages?: (app: Hono<Env>, answer: Answer) => (c: Context<Env>) => Response | Promise<Response>;
}

/** Adds the security headers. The pages of listings alone may ask providers. */
function secure(baseUrl: string, allowPrivateNetworks: boolean): MiddlewareHandler<Env> {
  const build = (isAsking: boolean) => secureHeaders(buildSecurityHeaders(baseUrl, { isAsking, allowPrivateNetworks }));
  const [asking, other] = [build(true), build(false)];
  const isListing = (path: string) => path.startsWith(PATHS.listing('')) && !path.endsWith('.md');
  return (c, next) => (isListing(c.req.path) ? asking : other)(c, next);
}

/** Creates the app: the whole of what is done with a request, from first to last. */
export function createApp(service: Service): Hono<Env> {
  const { reading, onError, onToolCall, logRequests = pass, limitRate = pass, allowPrivateNetworks = false } = service;
  const { baseUrl } = reading.site;
  const app = new Hono<Env>();
  app.use(chooseRequestId);
  app.use(nameRequest);
  app.use(logRequests);
  app.use('/badge/*', admitBadgeStyle);
  app.use(secure(baseUrl, allowPrivateNetworks));
  app.use(announceLeaving(baseUrl));
  app.use(linkToService(buildLinkHeader(baseUrl)));
  app.use(nameAge(service));
  app.use(PATHS.mcp, refuseStrangers(baseUrl));
  app.use(nameMethods);
  app.use(letAnySiteRead);
  app.use(refuseMalformed);
  app.use(refuseOtherMethods);
  app.use(limitRate);
  app.use(answerPreflights);
  service.addHealth?.(app);
  app.use(
    etag({
      retainedHeaders: [
        ...RETAINED_304_HEADERS,
        'Access-Control-Allow-Origin',
        'Access-Control-Expose-Headers',
        ...EXPOSED,
      ],
    }),
  );

  const answer = createResponseCache(getVersionReader(service));
  for (const { mount } of ENDPOINTS) mount?.({ app, reading, answer, onError, onToolCall });
  app.notFound(service.addPages?.(app, answer) ?? (() => buildProblem(NOTHING_HERE)));
  app.onError((error, c) => {
    if (isOurs(error) && !c.req.raw.signal.aborted) onError?.(error);
    return buildProblemResponse(error, c.get('requestId'));
  });
  return app;
}

/**
 * Reads what a response depends on besides the request: the published catalogue, and the release. Undefined while the
 * published catalogue cannot be read; pages of the release are served all the same.
 */
function getVersionReader({ reading, getRelease, onError }: Service): () => string | undefined {
  return () => {
    try {
      reading.refresh();
      return `${getFileVersion(reading.published)} ${getRelease?.() ?? ''}`;
    } catch (error) {
      if (isOurs(error)) onError?.(error);
      return undefined;
    }
  };
}

const pass: MiddlewareHandler<Env> = (_c, next) => next();

/** Adds the `Link` header to answers that have none of their own. */
function linkToService(link: string): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    // Of an answer that is there, `c.header` would make a copy.
    if (!c.res.headers.has('Link')) c.res.headers.set('Link', link);
  };
}

/** Adds `X-Catalogue-Age` while the catalogue cannot be followed: for how many seconds it has not been heard of. */
function nameAge({ following }: Service): MiddlewareHandler {
  return async (c, next) => {
    // An answer takes a while, and may be made of what was read before the catalogue was heard again.
    const heardAt = following?.getHeardAt();
    await next();
    const age = following?.findAge(heardAt);
    if (age !== undefined) c.res.headers.set('X-Catalogue-Age', String(Math.floor(age / 1000)));
  };
}

const allowOrigins = cors({
  origin: '*',
  allowMethods: (_, c) => [...listMethods(c.req.path)],
  exposeHeaders: EXPOSED,
  maxAge: PREFLIGHT_SECONDS,
});

/** Lets pages of any site ask. Headers are added to the answer when it is there: `cors` alone makes one that is then copied. */
const letAnySiteRead: MiddlewareHandler<Env> = async (c, next) => {
  await next();
  if (c.req.method !== 'OPTIONS') await allowOrigins(c, async () => undefined);
};

const answerPreflights: MiddlewareHandler<Env> = (c, next) =>
  c.req.method === 'OPTIONS' ? allowOrigins(c, next) : next();

/** Refuses requests for MCP that another site's page may have sent to a service on its reader's machine. */
function refuseStrangers(baseUrl: string): MiddlewareHandler<Env> {
  let findRefusal: ((request: Request) => Response | undefined) | undefined;
  return async (c, next) => {
    findRefusal ??= (await loadMcp()).buildStrangerRefusal(baseUrl);
    return findRefusal(c.req.raw) ?? next();
  };
}

/** What a reader did wrong is the reader's affair; only our own failures are logged as errors. */
function isOurs(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.code === 'internal';
}
