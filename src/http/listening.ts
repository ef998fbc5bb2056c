import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Config } from '../config.ts';
import { getUrl, listen } from '../listen.ts';
import { buildProblemBody, type Problem } from '../views/problem.ts';
import { buildProxyCheck, getNetwork } from './client.ts';
import { MALFORMED, MALFORMED_ADDRESS } from './problem.ts';

/**
 * Limits on one connection, in milliseconds and bytes. Node checks them only at intervals, by default every 30 seconds, which
 * would turn the 10 seconds for headers into 40.
 */
export const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
};

/** Longest time for which a connection may carry nothing, in milliseconds. A client that does not read is cut off. */
const SILENCE_MS = 60_000;

/** Most requests on one connection; the last answer closes it. nginx has the same limit for connections to servers. */
const MAX_REQUESTS = 1000;

/**
 * Most connections in all, and of one client. Trusted proxies have no limit, since they stand for many clients; a browser opens
 * six.
 */
const MAX_CONNECTIONS = 4000;
const MAX_PER_CLIENT = 100;

/** Longest time for requests in flight once the server stops, and time between closings of idle connections, in milliseconds. */
const GRACE_MS = 3000;
const IDLE_CHECK_MS = 50;

/** A port that is taken. Until `serve` is called, every request is answered with 503. */
export interface Listener {
  /** URL at which it listens. */
  readonly url: string;
  readonly drain: (graceMs?: number) => Promise<void>;
  /** Answers requests from now on. */
  serve(answer: RequestListener): void;
}

type Refusal = Pick<Problem, 'status' | 'code' | 'detail'> & { readonly hint: string };

const STARTING: Refusal = {
  status: 503,
  code: 'starting',
  detail: 'The service is being set up.',
  hint: 'Try again in a few seconds.',
};

/** Takes the port, before any slow work begins. Throws as `listen` does. */
export async function openListener(config: Pick<Config, 'host' | 'port' | 'trustedProxies'>): Promise<Listener> {
  let answer: RequestListener = (_request, response) => sendProblem(response, STARTING, { 'Retry-After': '3' });
  const server = createServer(LIMITS, (request, response) => {
    // While the server stops, the connection of a request ends with its answer.
    if (!server.listening) response.setHeader('Connection', 'close');
    answer(request, response);
  });
  server.timeout = SILENCE_MS;
  server.maxConnections = MAX_CONNECTIONS;
  server.maxRequestsPerSocket = MAX_REQUESTS;
  limitClients(server, buildProxyCheck(config.trustedProxies));
  answerUnreadable(server);
  await listen(server, config);
  return {
    url: getUrl(server),
    drain: (graceMs) => drain(server, graceMs),
    serve: (next) => {
      answer = next;
    },
  };
}

/** Limits the connections of each client but those that `isTrustedProxy` names: one more is closed at once. */
function limitClients(server: Server, isTrustedProxy: (address: string) => boolean): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const peer = socket.remoteAddress ?? '';
    if (isTrustedProxy(peer)) return;
    const client = getNetwork(peer, 64);
    const count = open.get(client) ?? 0;
    if (count >= MAX_PER_CLIENT) {
      socket.destroy();
      return;
    }
    open.set(client, count + 1);
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
  });
}

/**
 * Stops a server: it takes no new connection, lets requests in flight finish, and cuts off what is not done after `graceMs`
 * milliseconds. Resolves when its last connection is closed.
 */
export async function drain(server: Server, graceMs = GRACE_MS): Promise<void> {
  const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(closeIdle);
  clearTimeout(cutOff);
}

/** Headers of an answer from outside the app. */
const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'no-store',
  'Content-Type': 'application/problem+json',
  'X-Content-Type-Options': 'nosniff',
};

/** The problems of requests that Node's parser rejects, by the code of its error. */
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
 * Answers requests that Node's parser cannot read, and the app never sees, with `application/problem+json`, and closes the
 * connection. Node itself only sends a status, and does not name the most common mistake, an address with letters that are not
 * ASCII. If an earlier request of the connection is still being answered, the connection is only closed.
 */
function answerUnreadable(server: Server): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => latest.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const response = latest.get(socket);
    const isBusy = response && !response.writableFinished && (response.req.complete || response.headersSent);
    if (error.code === 'ECONNRESET' || !socket.writable || isBusy) socket.destroy();
    else socket.end(buildMessage(REFUSALS[error.code ?? ''] ?? MALFORMED), () => socket.destroy());
  });
}

/** Sends a problem without the app. */
function sendProblem(response: ServerResponse, refusal: Refusal, headers: Readonly<Record<string, string>>): void {
  const body = JSON.stringify(buildProblemBody(refusal));
  response.writeHead(refusal.status, { ...HEADERS, ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

/** Builds a whole HTTP answer (RFC 9112, section 2.1), for connections without a response object. */
function buildMessage(refusal: Refusal): string {
  const problem = buildProblemBody(refusal);
  const body = JSON.stringify(problem);
  const fields = { ...HEADERS, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${problem.status} ${problem.title}`, ...lines, '', body].join('\r\n');
}
