import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { sendProblem } from './sending.ts';

/** Logs one line for each request when it is over, at level debug. */
export function logRequest(logger: Logger, request: IncomingMessage, response: ServerResponse): void {
  if (!logger.isLevelEnabled('debug')) return;
  const started = performance.now();
  const { method, url } = request;
  response.once('close', () => {
    const ms = Math.round(10 * (performance.now() - started)) / 10;
    logger.debug({ method, url, status: response.statusCode, ms, complete: response.writableFinished }, 'request');
  });
}

/**
 * Answers a request that failed with 500 and an id under which the cause is logged, which the answer itself does not
 * tell. An answer that has begun already is cut off, so that nobody takes it for a whole one.
 */
export function answerFailure(
  { logger, headers }: { logger: Logger; headers: readonly string[] },
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const requestId = randomUUID();
  logger.error({ err: error, request_id: requestId, method: request.method, url: request.url }, 'a request failed');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const detail = 'Something went wrong on our side.';
  const hint = 'Try again in a moment.';
  sendProblem(request, response, { status: 500, code: 'internal', detail, hint, request_id: requestId }, headers);
}
