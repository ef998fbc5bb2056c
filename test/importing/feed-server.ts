import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import { listen } from '../fetching/outside.ts';

/** Makes a raw item of a feed, in the shape of protocol version 2. */
export function makeItem(host: string, path = '/v1/things', overrides: Record<string, unknown> = {}): object {
  return {
    resource: `https://${host}${path}`,
    type: 'http',
    x402Version: 2,
    lastUpdated: '2026-11-10T08:00:00.000Z',
    accepts: [
      {
        scheme: 'exact',
        network: NETWORKS.base.id,
        asset: NETWORKS.base.usdc,
        amount: '5000',
        payTo: '0x3333333333333333333333333333333333333333',
        maxTimeoutSeconds: 60,
        description: `What ${host} knows about things.`,
      },
    ],
    ...overrides,
  };
}

/** Makes items of as many hosts, so that each becomes a listing of its own. */
export function makeItems(count: number): object[] {
  return Array.from({ length: count }, (_, i) => makeItem(`host${String(i).padStart(4, '0')}.provider-of-tests.com`));
}

type Answer = (request: IncomingMessage, response: ServerResponse, page: { offset: number; limit: number }) => void;

/** Serves a feed on loopback. `answer` is asked for each page; the offsets asked for are kept. */
export async function serveFeed(answer: Answer): Promise<{ address: string; offsets: number[] }> {
  const offsets: number[] = [];
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams;
    const page = { offset: Number(query.get('offset')), limit: Number(query.get('limit')) };
    offsets.push(page.offset);
    answer(request, response, page);
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  return { address: `http://127.0.0.1:${port}/discovery/resources`, offsets };
}

/** Answers the pages of a list of items, which may be another at each request. */
export function answerPages(getItems: () => readonly object[]): Answer {
  return (_request, response, { offset, limit }) => {
    const items = getItems();
    const pagination = { limit, offset, total: items.length };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ x402Version: 2, items: items.slice(offset, offset + limit), pagination }));
  };
}
