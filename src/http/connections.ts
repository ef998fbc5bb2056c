import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getNetwork } from './client.ts';

/** Connections that a client may have open at once; a browser opens six. */
const MAX_PER_CLIENT = 100;

/** Connections in all. */
const MAX_CONNECTIONS = 4000;

/** Requests that may wait on one connection for the one in progress. */
const MAX_WAITING = 15;

/** How long a connection may carry nothing, and how long an answer may take to its last byte; milliseconds. */
const IDLE_MS = 30_000;
const ANSWER_MS = 180_000;

/**
 * Limits the connections of a server: in all, and of each client but trusted proxies, which stand for many. One on which
 * nothing moves is closed. Node counts connections in all alone.
 */
export function limitConnections(server: Server, isTrustedProxy: (address: string) => boolean): void {
  const open = new Map<string, number>();
  server.maxConnections = MAX_CONNECTIONS;
  server.timeout = IDLE_MS;
  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? '';
    const client = getNetwork(peer, 64);
    const count = (open.get(client) ?? 0) + 1;
    if (count > MAX_PER_CLIENT && !isTrustedProxy(peer)) {
      socket.destroy();
      return;
    }
    open.set(client, count);
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
  });
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
