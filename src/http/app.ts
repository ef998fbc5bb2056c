import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { ServiceError } from '../errors.ts';
import type { OnToolCall } from '../mcp/server.ts';
import type { Following } from '../published/live-file.ts';
import type { Reading } from '../published/reading.ts';
import { listPaths, PATHS } from '../views/links.ts';
import { ENDPOINTS } from './endpoints/index.ts';
import { addMcpRoute } from './endpoints/mcp.ts';
import {
  addCorsHeaders,
  addLinkHeader,
  allowBadgeStyle,
  announceDeprecation,
  answerPreflights,
  EXPOSED,
  keepPrivate,
  secure,
  setAgeHeader,
} from './headers.ts';
import type { IntakeGate } from './intake.ts';
import { buildProblem, buildProblemResponse, NOTHING_HERE } from './problem.ts';
import {
  preventDnsRebinding,
  refuseMalformed,
  refuseOtherMethods,
  refuseSecondHost,
  setAllowHeader,
} from './refusals.ts';
import { chooseRequestId, type Env, setRequestId } from './request.ts';

/** The sources of the app's answers. All but `reading` are left out when the app runs without a server of its own. */
export interface Service {
  readonly reading: Reading;
  /** Logs failures that are our own fault. */
  readonly onError?: (error: unknown) => void;
  /** Called for each call of an MCP tool. */
  readonly onToolCall?: OnToolCall | undefined;
  readonly logRequests?: MiddlewareHandler<Env>;
  readonly limitRate?: MiddlewareHandler<Env>;
  /** Tells for how long changes of the catalogue have not reached readers. */
  readonly following?: Pick<Following, 'getReadAt' | 'findAge'>;
  /** True if providers may be on this machine. */
  readonly allowPrivateNetworks?: boolean;
  /** Passes requests on to the intake; undefined if there is no intake. */
  readonly intake?: IntakeGate | undefined;
  /** Adds the routes that monitoring reads. */
  readonly addHealth?: (app: Hono<Env>) => void;
  /** Adds the server's routes besides documents. Returns the handler of pages, which gets every request that no route answers. */
  readonly addPages?: (app: Hono<Env>) => (c: Context<Env>) => Response | Promise<Response>;
}

/** Creates the app, with all steps from a request to its answer in order. */
export function createApp(service: Service): Hono<Env> {
  const { reading, onError, onToolCall, logRequests = pass, limitRate = pass, allowPrivateNetworks = false } = service;
  const { baseUrl } = reading.site;
  const app = new Hono<Env>();
  app.use(chooseRequestId);
  app.use(setRequestId);
  app.use(logRequests);
  app.use('/badge/*', allowBadgeStyle);
  app.use(`${PATHS.submit}/*`, keepPrivate);
  app.use(secure(baseUrl, allowPrivateNetworks));
  app.use(announceDeprecation(baseUrl));
  app.use(addLinkHeader(baseUrl));
  app.use(setAgeHeader(service.following));
  app.use(refuseSecondHost);
  for (const path of listPaths(PATHS.mcp)) app.use(path, preventDnsRebinding(baseUrl));
  app.use(setAllowHeader);
  app.use(addCorsHeaders);
  app.use(refuseMalformed);
  app.use(refuseOtherMethods);
  app.use(limitRate);
  app.use(answerPreflights);
  service.addHealth?.(app);
  service.intake?.addRoutes(app);
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

  for (const { mount } of ENDPOINTS) mount?.({ app, reading });
  addMcpRoute(app, { reading, onError, onToolCall, checkProvider: service.intake?.check });
  app.notFound(service.addPages?.(app) ?? (() => buildProblem(NOTHING_HERE)));
  app.onError((error, c) => {
    if (isOurs(error) && !c.req.raw.signal.aborted) onError?.(error);
    return buildProblemResponse(error, c.get('requestId'));
  });
  return app;
}

const pass: MiddlewareHandler<Env> = (_c, next) => next();

/** Returns true if a failure is our own. Only those are logged as errors; mistakes of readers are not. */
function isOurs(error: unknown): boolean {
  return !(error instanceof ServiceError) || error.code === 'internal';
}
