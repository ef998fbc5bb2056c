import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type GuardedClient, openGuardedClient } from '../../../src/fetching/client.ts';

export interface PageRequest {
  limit: number;
  offset: number;
  /** Requests served before this one. */
  count: number;
  url: URL;
}

export interface FeedServer {
  address: string;
  client: GuardedClient;
  requests: PageRequest[];
}

/** Serves a feed on loopback for one test. The answer is a page as JSON, or whatever is written to the response. */
export async function serveFeed(
  answer: (request: PageRequest, response: ServerResponse) => unknown,
): Promise<FeedServer> {
  const requests: PageRequest[] = [];
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://feed');
    const [limit, offset] = ['limit', 'offset'].map((name) => Number(url.searchParams.get(name)));
    const request = { limit: limit ?? 0, offset: offset ?? 0, count: requests.length, url };
    requests.push(request);
    const page = answer(request, response);
    if (page !== undefined && !response.writableEnded) response.end(JSON.stringify(page));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'test' });
  onTestFinished(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${port}/discovery/resources`, client, requests };
}

/** A row of a feed, told apart by its number. */
export function makeRow(number: number): { resource: string } {
  return { resource: `https://api.tides.example/${number}` };
}

export function makeRows(count: number, from = 0): { resource: string }[] {
  return Array.from({ length: count }, (_, index) => makeRow(from + index));
}
