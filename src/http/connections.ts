import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buildProblemBody, type Problem } from '../views/problem.ts';
import { type GetClient, getNetwork, listNetworks } from './client.ts';
import { MALFORMED_ADDRESS } from './problem.ts';

/** Connections that a client may have open at once; a browser opens six. */
const MAX_PER_CLIENT = 100;

/** Connections in all. */
const MAX_CONNECTIONS = 4000;

/** Requests that may wait on one connection for the one in progress. */
const MAX_WAITING = 15;

/** Longest time for which a connection may carry nothing, and for an answer to its last byte; milliseconds. */
const IDLE_MS = 30_000;
const ANSWER_MS = 180_000;

/**
 * Limits the connections of a server: of each client but trusted proxies, which stand for many, and in all: beyond `max` the
 * network that has most loses its oldest one. One on which nothing moves is closed, unless its answer is still being made.
 */
export function limitConnections(
  server: Server,
  isTrustedProxy: (address: string) => boolean,
  max = MAX_CONNECTIONS,
): void {
  const open = new Map<string, Set<Socket>>();
  let count = 0;
  server.timeout = IDLE_MS;
  server.on('request', ({ socket }, response) => {
    // While nothing waits for the reader, the silence is our own.
    response.on('timeout', () => {
      if (response.writableLength > 0) socket.destroy();
    });
  });
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? '';
    const networks = isTrustedProxy(peer) ? [] : listNetworks(getNetwork(peer, 64));
    if (networks.some(({ name, times }) => (open.get(name)?.size ?? 0) >= MAX_PER_CLIENT * times)) {
      socket.destroy();
      return;
    }
    count += 1;
    for (const { name } of networks) open.set(name, (open.get(name) ?? new Set()).add(socket));
    socket.once('close', () => {
      count -= 1;
      for (const { name } of networks) {
        open.get(name)?.delete(socket);
        if (open.get(name)?.size === 0) open.delete(name);
      }
    });
    if (count <= max) return;
    const largest = [...open.values()].reduce((one, other) => (other.size > one.size ? other : one), new Set());
    const oldest = [...largest].find(({ destroyed }) => !destroyed);
    (oldest ?? socket).destroy();
  });
}

/**
 * Starts one request in a turn of the event loop, of each client in its turn: many at once of one client hold up the others
 * for no longer than one.
 */
export function takeTurns(answer: RequestListener, getClient: GetClient): RequestListener {
  const waiting = new Map<string, [IncomingMessage, ServerResponse][]>();
  const startNext = () => {
    const [[client, queue] = ['', []]] = waiting;
    const [next, ...others] = queue;
    waiting.delete(client);
    if (others.length > 0) waiting.set(client, others);
    if (waiting.size > 0) setImmediate(startNext);
    if (next && !next[0].socket.destroyed) answer(...next);
  };
  return (request, response) => {
    const client = getClient(request);
    const queue = waiting.get(client) ?? [];
    if (waiting.size === 0) setImmediate(startNext);
    waiting.set(client, queue);
    queue.push([request, response]);
  };
}

/**
 * Answers the requests of one connection one after the other. Node hands over all that came in one packet at once, however
 * many they are. Of more than `MAX_WAITING` that wait the rest is dropped, and the connection closed after the last answer:
 * a client sends those again over another (RFC 9112, section 9.3.2). A reader who takes minutes for an answer is cut off.
 */
export function answerInOrder(answer: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();
  const start = (queue: [IncomingMessage, ServerResponse][], request: IncomingMessage, response: ServerResponse) => {
    const cutOff = setTimeout(() => request.socket.destroy(), ANSWER_MS).unref();
    response.once('close', () => {
      clearTimeout(cutOff);
      const next = queue.shift();
      // Other connections get their turn first.
      if (next && !request.socket.destroyed) setImmediate(start, queue, ...next);
      else waiting.delete(request.socket);
    });
    answer(request, response);
  };
  return (request, response) => {
    const queue = waiting.get(request.socket);
    if (!queue) {
      const first: [IncomingMessage, ServerResponse][] = [];
      waiting.set(request.socket, first);
      start(first, request, response);
    } else if (queue.length < MAX_WAITING) {
      queue.push([request, response]);
    } else {
      queue.at(-1)?.[1].setHeader('Connection', 'close');
    }
  };
}

type Refusal = Pick<Problem, 'status' | 'code' | 'detail'> & { hint: string };

/** The problem of a request that is not HTTP, or that could be read in two ways. */
export const MALFORMED: Refusal = {
  status: 400,
  code: 'malformed_request',
  detail: 'The request is not HTTP as this server reads it.',
  hint: 'Send HTTP/1.1 with one Host header, and percent-encode what is not ASCII in the address.',
};

/** Headers of an answer from outside the app. */
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
 * connection. Node itself gives only a status, and does not name the commonest mistake, an address with letters that
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
    // Earlier requests are answered first.
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
