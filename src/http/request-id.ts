import { AsyncLocalStorage } from 'node:async_hooks';
import type { MiddlewareHandler } from 'hono';
import { requestId } from 'hono/request-id';
import type { Env } from './env.ts';

/** Longest id that a client may give its request, in characters; of a longer one the service takes no notice. */
const LONGEST_ID = 128;

const requests = new AsyncLocalStorage<string>();

/** Gives each request an id: the one in `X-Request-Id` if that is letters, digits, `-`, `_` and `=` alone, else a new UUID. */
export const chooseRequestId: MiddlewareHandler<Env> = requestId({ limitLength: LONGEST_ID });

/** Names the request in its answer, since `chooseRequestId` does so only in those that Hono makes itself, and in the log. */
export const nameRequest: MiddlewareHandler<Env> = async (c, next) => {
  const id = c.get('requestId');
  await requests.run(id, next);
  c.res.headers.set('X-Request-Id', id);
};

/** Finds the id of the request that is being answered; undefined outside of one. */
export function findRequestId(): string | undefined {
  return requests.getStore();
}

/** Returns what each line of the log carries besides its own fields (`mixin` of pino): the request that it is about. */
export function buildLogFields(): { request_id?: string } {
  const id = findRequestId();
  return id === undefined ? {} : { request_id: id };
}
