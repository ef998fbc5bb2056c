import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Config } from '../config.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { isFileError } from '../site/folders.ts';
import { buildClientReader, buildProxyCheck } from './client.ts';
import { answerInOrder, answerUnreadable, limitConnections, MALFORMED, sendProblem, takeTurns } from './connections.ts';

/**
 * Limits on one connection, in milliseconds and bytes. Whether they are kept is only looked at every so often, by Node's
 * own choice every 30 seconds, which would make the 10 of the head 40.
 */
export const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 1000,
  maxHeaderSize: 16_384,
  /** Bytes of an answer that wait in memory for a slow reader. */
  highWaterMark: 16_384,
};

/** Longest time for requests in flight once the server has to stop. */
const GRACE_MS = 3000;

/** Time in which a connection may then still begin its first request, and between closings of idle ones. */
const FIRST_REQUEST_MS = 500;
const IDLE_CHECK_MS = 50;

/** A port that is taken. Until there is something to serve, every request is answered with 503. */
export interface Listener {
  readonly server: Server;
  /** Address at which it listens. */
  readonly url: string;
  readonly drain: Drain;
  /** Answers requests from now on. */
  serve(answer: RequestListener): void;
}

const STARTING = {
  status: 503,
  code: 'starting',
  detail: 'The service is being set up.',
  hint: 'Try again in a few seconds.',
} as const;

/** Takes the port, before anything else is done that takes time. Throws as `listen` does. */
export async function openListener(config: Config): Promise<Listener> {
  let answer: RequestListener = (_request, response) => sendProblem(response, STARTING, { 'Retry-After': '3' });
  const server = createServer(LIMITS);
  const drain = openDrain(server);
  answerUnreadable(server);
  limitConnections(server, buildProxyCheck(config.trustedProxies));
  const answerNext: RequestListener = (request, response) =>
    hasSecondHost(request) ? sendProblem(response, MALFORMED) : answer(request, response);
  server.on('request', answerInOrder(takeTurns(answerNext, buildClientReader(config.trustedProxies))));
  await listen(server, config);
  return {
    server,
    url: getUrl(server),
    drain,
    serve: (next) => {
      answer = next;
    },
  };
}

/** Node keeps the first of two Host headers, and a proxy before it may have kept the other (RFC 9112, section 3.2). */
function hasSecondHost({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1;
}

/** Listens where the settings say. Throws `conflict` for a port in use and `bad_input` for an address that is not ours. */
export async function listen(server: Server, { host, port }: Config): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(buildListenError(error, host, port)));
    server.listen({ host, port }, resolve);
  });
}

/** Gives the address at which a server listens. */
export function getUrl(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return '';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

/** Stops a server; resolves when its last connection is closed. */
export type Drain = (graceMs?: number) => Promise<void>;

/**
 * Opens the way to stop a server without failing anybody, before it gets its first request: it takes no new connection,
 * lets requests in flight finish and tells each client that its connection ends with the answer. What is not done in
 * time is cut off. Node itself counts a connection that has not brought a request yet as neither idle nor busy, and one
 * whose answer was handed over as idle, however much of it its reader has still to get.
 */
export function openDrain(server: Server): Drain {
  /** Connections, with the answer that was begun last; until a first request there is none. */
  const connections = new Map<Socket, ServerResponse | undefined>();
  /** Bytes that a connection had brought when its last answer was sent; with more, its next request is on its way. */
  const readBefore = new WeakMap<ServerResponse, number>();
  let isDraining = false;
  server.on('connection', (socket) => {
    connections.set(socket, undefined);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    connections.set(socket, response);
    response.once('finish', () => readBefore.set(response, socket.bytesRead));
    if (isDraining) response.setHeader('Connection', 'close');
  });
  server.closeIdleConnections = () => {
    for (const [socket, response] of connections) {
      if (response?.writableFinished && readBefore.get(response) === socket.bytesRead) socket.destroy();
    }
  };
  return async (graceMs = GRACE_MS) => {
    isDraining = true;
    for (const response of connections.values()) {
      if (response && !response.headersSent) response.setHeader('Connection', 'close');
    }
    const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    const closeUnused = setTimeout(() => {
      for (const [socket, response] of connections) if (!response) socket.destroy();
    }, FIRST_REQUEST_MS);
    const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    clearInterval(closeIdle);
    clearTimeout(closeUnused);
    clearTimeout(cutOff);
  };
}

function buildListenError(error: Error, host: string, port: number): ServiceError {
  if (isFileError(error, 'EADDRINUSE')) {
    return new ServiceError('conflict', `Port ${port} on ${host} is in use by another program.`, {
      hint: 'Stop that one, or set PORT to another port.',
      reason: 'port_in_use',
      cause: error,
    });
  }
  return new ServiceError('bad_input', `The service cannot listen on ${host}:${port}: ${getErrorMessage(error)}.`, {
    hint: 'Set HOST to an address of this machine, and PORT to one this user may open.',
    reason: 'cannot_listen',
    cause: error,
  });
}
