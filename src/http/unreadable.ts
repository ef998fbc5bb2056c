import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { buildProblemBody, type Problem } from '../views/problem.ts';
import { MALFORMED_ADDRESS } from './target.ts';

type Refusal = Pick<Problem, 'status' | 'code' | 'detail'> & { hint: string };

/** The problem of a request that is not HTTP, or that could be read in two ways. */
export const MALFORMED: Refusal = {
  status: 400,
  code: 'malformed_request',
  detail: 'The request is not HTTP as this server reads it.',
  hint: 'Send HTTP/1.1 with one Host header, and percent-encode what is not ASCII in the address.',
};

/** What an answer from outside the app carries. */
export const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'no-store',
  'Content-Type': 'application/problem+json',
  'X-Content-Type-Options': 'nosniff',
};

/** Problems of requests that Node's parser gives up on, by the code of its error. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_INVALID_URL: MALFORMED_ADDRESS,
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers_too_large',
    detail: 'The address and the headers are longer than this server reads.',
    hint: 'Send less than 16 KB of them.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    detail: 'The request did not come whole in time.',
    hint: 'Send it again.',
  },
};

/**
 * Answers requests that Node's parser cannot read, which the app never sees, with `application/problem+json`, and ends their
 * connection. By itself Node gives a status alone, and says nothing of the commonest mistake, an address with letters that
 * are not ASCII.
 */
export function answerUnreadable(server: Server): void {
  /** Answers of a connection that are not finished yet. */
  const unfinished = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', ({ socket }, response) => {
    const answers = unfinished.get(socket) ?? new Set();
    unfinished.set(socket, answers.add(response));
    response.once('close', () => {
      answers.delete(response);
      if (answers.size === 0) socket.emit('answered');
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy(error);
      return;
    }
    const refuse = () => {
      if (socket.writable) socket.end(buildMessage(REFUSALS[error.code ?? ''] ?? MALFORMED), () => socket.destroy());
    };
    const answers = unfinished.get(socket) ?? new Set();
    // One that waits for the rest of its body never gets it.
    for (const answer of answers) if (!answer.req.complete && !answer.headersSent) answers.delete(answer);
    // What was asked before is answered first.
    if (answers.size > 0) socket.once('answered', refuse);
    else refuse();
  });
}

/** Sends a problem where there is no app to do it. */
export function sendProblem(
  response: ServerResponse,
  refusal: Pick<Problem, 'status' | 'code' | 'detail'> & { hint: string },
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify(buildProblemBody(refusal));
  response.writeHead(refusal.status, { ...HEADERS, ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Builds a whole HTTP answer (RFC 9112, section 2.1): there is no response object to write it with. */
function buildMessage(refusal: Refusal): string {
  const problem = buildProblemBody(refusal);
  const body = JSON.stringify(problem);
  const fields = { ...HEADERS, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${problem.status} ${problem.title}`, ...lines, '', body].join('\r\n');
}
