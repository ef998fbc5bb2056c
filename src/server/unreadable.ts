import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { PUBLIC_HEADERS } from '../live/public-headers.ts';
import { buildProblemBody, type Problem } from '../views/problem.ts';
import { MALFORMED_ADDRESS } from './target.ts';

type Refusal = Pick<Problem, 'status' | 'code' | 'detail'> & { hint: string };

/** What a request is told that is no HTTP, or that could be read in two ways. */
export const MALFORMED: Refusal = {
  status: 400,
  code: 'malformed_request',
  detail: 'The request is not HTTP as this server reads it.',
  hint: 'Send HTTP/1.1 with one Host header, and percent-encode what is not ASCII in the address.',
};

/** What a request is told that Node's parser gives up on, by the code of its error. */
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
 * Answers requests that cannot be read, which no other code gets to see, as `application/problem+json` and ends their
 * connection. By itself Node would give a status alone, and the commonest mistake, an address with letters that are not
 * ASCII, would be told nothing. `headers` are those of every answer.
 */
export function answerUnreadable(server: Server, headers: readonly string[]): void {
  const last = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => last.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const answering = last.get(socket);
    const isMidAnswer = answering?.headersSent === true && !answering.writableFinished;
    if (error.code === 'ECONNRESET' || !socket.writable || isMidAnswer) {
      socket.destroy(error);
      return;
    }
    socket.end(buildMessage(REFUSALS[error.code ?? ''] ?? MALFORMED, headers), () => socket.destroy());
  });
}

/** Builds a whole HTTP answer (RFC 9112, section 2.1): there is no response object to write it with. */
function buildMessage(refusal: Refusal, headers: readonly string[]): string {
  const problem = buildProblemBody(refusal);
  const body = JSON.stringify(problem);
  const fields = [
    ...headers,
    ...Object.entries(PUBLIC_HEADERS).flat(),
    ...['Cache-Control', 'no-store', 'Content-Type', 'application/problem+json'],
    ...['Content-Length', String(Buffer.byteLength(body)), 'Connection', 'close'],
  ];
  const lines = fields.flatMap((name, at) => (at % 2 === 0 ? `${name}: ${fields[at + 1]}` : []));
  return [`HTTP/1.1 ${problem.status} ${problem.title}`, ...lines, '', body].join('\r\n');
}
