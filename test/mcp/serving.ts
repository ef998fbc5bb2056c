import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { onTestFinished } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { createApp } from '../../src/http/app.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import type { Reading } from '../../src/published/reading.ts';
import type { Site } from '../../src/views/site.ts';
import { makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { makeRecorded } from '../recorded.ts';

export { recordAll } from '../recorded.ts';

const SITE: Site = {
  baseUrl: 'http://localhost:4321',
  serviceTitle: 'Agent-Payable APIs',
  contactName: 'Maintainers',
  contactUrl: 'http://localhost:4321',
};

export interface ServedMcp {
  url: URL;
  catalogue: Catalogue;
  reading: Reading;
  /** What the service reported as its own fault. */
  errors: unknown[];
}

/**
 * Serves a catalogue of these declarations over real HTTP on loopback until the test is over, by the whole app: older clients
 * also open a stream by GET, and take any other refusal than its 405 for a broken connection.
 */
export async function serveMcp(declarations: readonly Declaration[], site: Partial<Site> = {}): Promise<ServedMcp> {
  const catalogue = await makeRecorded(declarations);
  const reading = await openTestReading(catalogue, { site: { ...SITE, ...site }, now: () => new Date(NOW) });
  onTestFinished(() => reading.close());
  const errors: unknown[] = [];
  const app = createApp({ reading, onError: (error) => errors.push(error) });
  const url = await listen(getRequestListener(app.fetch));
  return { url: new URL('/mcp', url), catalogue, reading, errors };
}

/** Asks one thing in today's protocol, as the bytes on the wire; the last message that comes back. */
export async function ask(url: URL, method: string, params: object = {}): Promise<ReturnType<typeof JSON.parse>> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const named = 'uri' in params ? params.uri : 'name' in params ? params.name : undefined;
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    ...(typeof named === 'string' && { 'Mcp-Name': named }),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
  const text = await (await fetch(url, { method: 'POST', headers, body })).text();
  return JSON.parse(text.startsWith('{') ? text : (text.trim().split('\ndata: ').at(-1) ?? ''));
}

async function listen(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

const CATEGORIES = ['Data', 'Finance', 'Intelligence', 'Tools', 'Verification'] as const;

/** Makes the declaration of the n-th of many listings: its category, price and network follow from its number. */
export function makeNumbered(n: number): Declaration {
  const number = String(n).padStart(3, '0');
  const networks = n % 3 === 0 ? (['base', 'solana'] as const) : (['base'] as const);
  return makeDeclaration({
    source: { kind: 'manifest', name: `numbered-${number}.yaml`, observed_at: '2026-11-01T00:00:00.000Z' },
    base_url: `https://api-${number}.numbered-provider.com`,
    slug: `numbered-${number}`,
    title: `Numbered API ${number}`,
    tagline: `Answers questions about the number ${number} and its neighbours.`,
    provider_name: n % 2 === 0 ? 'Even Provider' : 'Odd Provider',
    category: CATEGORIES[n % CATEGORIES.length] ?? null,
    routes: [
      makeRoute({
        path: '/v1/answer',
        terms: networks.map((network) => makeTerms({ network, amount: (n + 1) * 1000 })),
      }),
    ],
  });
}

/** Makes the declarations of so many listings. */
export function makeMany(count: number): Declaration[] {
  return Array.from({ length: count }, (_, n) => makeNumbered(n));
}
