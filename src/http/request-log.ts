import type { MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { type GetClient, getNetwork } from './client.ts';
import type { Env } from './env.ts';

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
          client: incoming && getNetwork(getClient(incoming).replace(/\/\d+$/, ''), 48, 24),
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
