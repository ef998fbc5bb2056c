import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { type RequestIdVariables, requestId } from 'hono/request-id';
import type { Logger } from 'pino';
import { type GetClient, getWideNetwork } from './client.ts';

/** Data that a request carries through the app. Mounted in pages there is no socket, and so no client to count. */
export interface Env {
  Bindings: Partial<HttpBindings>;
  Variables: RequestIdVariables;
}

/** Longest id that a client may give its request, in characters; of a longer one the service takes no notice. */
const LONGEST_ID = 128;

const requests = new AsyncLocalStorage<{ id: string; incoming: HttpBindings['incoming'] | undefined }>();

/** Gives each request an id: the one in `X-Request-Id` if that is letters, digits, `-`, `_` and `=` alone, else a new UUID. */
export const chooseRequestId: MiddlewareHandler<Env> = requestId({ limitLength: LONGEST_ID });

/** Names the request in its answer, since `chooseRequestId` does so only in those that Hono makes itself, and in the log. */
export const nameRequest: MiddlewareHandler<Env> = async (c, next) => {
  const id = c.get('requestId');
  await requests.run({ id, incoming: c.env?.incoming }, next);
  c.res.headers.set('X-Request-Id', id);
};

/** Finds the id of the request that is being answered; undefined outside of one. */
export function findRequestId(): string | undefined {
  return requests.getStore()?.id;
}

/** Finds the request that is being answered, as Node has it; undefined outside of one. */
export function findIncoming(): HttpBindings['incoming'] | undefined {
  return requests.getStore()?.incoming;
}

/** Returns what each line of the log carries besides its own fields (`mixin` of pino): the request that it is about. */
export function buildLogFields(): { request_id?: string } {
  const id = findRequestId();
  return id === undefined ? {} : { request_id: id };
}

/**
 * Logs one line for each request when it is over, at level debug. Queries are left out, since they hold what people search
 * for, and of the client's address no more than its network is logged: the first 24 bits of IPv4, 48 of IPv6.
 */
export function logRequests(logger: Logger, getClient: GetClient): MiddlewareHandler<Env> {
  if (!logger.isLevelEnabled('debug')) return (_c, next) => next();
  return (c, next) => {
    const started = performance.now();
    const { incoming, outgoing } = c.env;
    outgoing?.once('close', () => {
      const ms = Math.round(10 * (performance.now() - started)) / 10;
      logger.debug(
        {
          request_id: c.get('requestId'),
          client: incoming && getWideNetwork(getClient(incoming)),
          method: c.req.method,
          path: c.req.path,
          status: outgoing.statusCode,
          ms,
          complete: outgoing.writableFinished,
        },
        'request',
      );
    });
    return next();
  };
}
