/** The live app as a server answers by it. It takes longer to load than all that pages need, so it is loaded after these. */
import { ServerResponse } from 'node:http';
import { getRequestListener, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Logger } from 'pino';
import { openVersion } from '../catalogue/write.ts';
import { ServiceError } from '../errors.ts';
import { createLive } from '../live/app.ts';
import { findPieces } from '../live/joined.ts';
import { buildProblem, buildProblemResponse } from '../live/problem.ts';
import type { Reading } from '../snapshot/reading.ts';
import { createAnswerStore } from './answer-store.ts';
import { type AnswerLive, openLiveAnswers } from './live-answers.ts';

/** Opens the live app; `headers` are flat names and values that every answer carries. */
export function openLive({
  reading,
  logger,
  headers,
}: {
  reading: Reading;
  logger: Logger;
  headers: readonly string[];
}): AnswerLive {
  let readings = 0;
  const now = () => {
    readings += 1;
    return reading.now();
  };
  const app = createLive({ reading: { ...reading, now }, onError: (error) => logLiveError(logger, error) });
  return openLiveAnswers({
    live: getRequestListener((request, { outgoing }) => sendPieces(app.fetch(request), outgoing), {
      hostname: 'localhost',
      errorHandler: (error) => answerBroken(logger, error),
    }),
    headers,
    store: createAnswerStore(openVersion(reading.catalogue), () => readings),
  });
}

/** Sends an answer that is in pieces; gives what the listener then has to do, with any other the answer itself. */
function sendPieces(answer: Response | Promise<Response>, outgoing: unknown): Response | Promise<Response> {
  if (answer instanceof Promise) return answer.then((response) => sendPieces(response, outgoing));
  const pieces = findPieces(answer);
  if (!pieces || !(outgoing instanceof ServerResponse)) return answer;
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
  outgoing.cork();
  for (const piece of pieces) outgoing.write(piece);
  outgoing.uncork();
  outgoing.end();
  return RESPONSE_ALREADY_SENT;
}

/** What a reader did wrong is the reader's affair; only our own failures are logged as errors. */
function logLiveError(logger: Logger, error: unknown): void {
  const isOurs = !(error instanceof ServiceError) || error.code === 'internal' || error.code === 'unavailable';
  if (isOurs) logger.error({ err: error }, 'a live route failed');
}

/** Answers what the live app does not get to see as a request, such as one with a broken Host. */
function answerBroken(logger: Logger, error: unknown): Response {
  if (error instanceof RequestError) {
    return buildProblem({
      status: 400,
      code: 'malformed_request',
      detail: 'The request is malformed.',
      hint: 'Send one Host header that names a host.',
    });
  }
  logLiveError(logger, error);
  return buildProblemResponse(error);
}
