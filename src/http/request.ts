import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpBindings } from '@hono/node-server';
import type { MiddlewareHandler } from 'hono';
import { type RequestIdVariables, requestId } from 'hono/request-id';
import type { Logger } from 'pino';
import { type GetClient, getWideNetwork } from './client.ts';

/** Data that the app keeps for a request. When the app is mounted in pages there is no socket, and so no client to count. */
export interface Env {
  Bindings: Partial<HttpBindings>;
  Variables: RequestIdVariables;
}

/** Longest `X-Request-Id` that is accepted, in characters. A longer one is ignored. */
const LONGEST_ID = 128;

const requests = new AsyncLocalStorage<{ id: string; incoming: HttpBindings['incoming'] | undefined }>();

/** Gives each request an id: that in `X-Request-Id`, if it has only letters, digits, `-`, `_` and `=`; else a new UUID. */
export const chooseRequestId: MiddlewareHandler<Env> = requestId({ limitLength: LONGEST_ID });

/** Adds the id to the answer and to the log. `chooseRequestId` adds it only to answers that Hono makes itself. */
export const setRequestId: MiddlewareHandler<Env> = async (c, next) => {
  const id = c.get('requestId');
  await requests.run({ id, incoming: c.env?.incoming }, next);
  c.res.headers.set('X-Request-Id', id);
};

/** Finds the id of the current request; undefined outside of one. */
export function findRequestId(): string | undefined {
  return requests.getStore()?.id;
}

/** Finds Node's object of the current request; undefined outside of one. */
export function findIncoming(): HttpBindings['incoming'] | undefined {
  return requests.getStore()?.incoming;
}

/** Returns the fields that every line of the log carries (`mixin` of pino): the id of the current request. */
export function buildLogFields(): { request_id?: string } {
  const id = findRequestId();
  return id === undefined ? {} : { request_id: id };
}

/**
 * Logs one line for each finished request, at level debug. The query is left out, since it holds what people search for; of the
 * client's address only the network is logged, the first 24 bits of IPv4 or 48 of IPv6.
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
