import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discoverOriginSchema } from '@agentcash/discovery';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { withBazaar } from '@x402/extensions/bazaar';
import createClient from 'openapi-fetch';
import { onTestFinished } from 'vitest';
import { openCoinbase } from '../coinbase.ts';
import { CLIENTS, type Connected } from '../mcp/clients.ts';
import type { Door, Found } from './paying-agent.ts';

/** A client of the field, by its package: what it finds, and by what it checks before it pays. */
export interface FieldClient extends Pick<Door, 'find'> {
  readonly name: string;
  /** The package that is asked through, whose version the table has; undefined for plain HTTP. */
  readonly packageName?: string;
  /** Missing where the client knows no check. */
  readonly check?: Door['check'];
}

const INSPECTOR = join(import.meta.dirname, '../mcp/inspector-calls.ts');

/** Opens every client that npm has at the address of a catalogue. */
export async function openClients(url: string): Promise<FieldClient[]> {
  const [first, second] = [await CLIENTS['1.x client']?.(new URL(`${url}/mcp`)), await connectSecond(url)];
  if (!first) throw new Error('there is no 1.x client');
  return [
    { name: 'plain HTTP, by llms.txt alone', ...openGuide(url) },
    { name: 'openapi-fetch', packageName: 'openapi-fetch', ...openFetch(url) },
    { name: 'MCP client', packageName: '@modelcontextprotocol/client', ...openTools(second, 'structured') },
    { name: 'MCP client 1.x', packageName: '@modelcontextprotocol/sdk', ...openTools(first, 'structured') },
    {
      name: 'MCP client that reads content alone',
      packageName: '@modelcontextprotocol/client',
      ...openTools(second, 'text'),
    },
    { name: 'MCP Inspector, command line', packageName: '@modelcontextprotocol/inspector', ...openInspector(url) },
    { name: 'x402 SDK, withBazaar', packageName: '@x402/extensions', ...openBazaar(url) },
    { name: 'Coinbase CDP SDK', packageName: '@coinbase/cdp-sdk', ...(await openCdp(url)) },
    { name: 'AgentCash discovery', packageName: '@agentcash/discovery', ...openAgentCash(url) },
    { name: 'ARD, POST /search', ...openRegistry(url) },
  ];
}

function connectSecond(url: string): Promise<Connected> {
  const connect = CLIENTS['2.x client, 2026 protocol'];
  if (!connect) throw new Error('there is no 2.x client');
  return connect(new URL(`${url}/mcp`));
}

async function readJson<Answer>(url: string | URL, init?: RequestInit): Promise<Answer> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`${url}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

const post = <Answer>(url: string, body: object) =>
  readJson<Answer>(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

interface Listed {
  slug: string;
  route: {
    method: string;
    url: string;
    description: string;
    offers: { network: string; price_usdc: number }[];
    input: string;
    example: unknown;
    outputs: string[];
  };
}

function readListed(listing: Listed | undefined): Found {
  if (!listing) throw new Error('nothing was found');
  const { slug, route } = listing;
  return {
    slug,
    method: route.method,
    url: route.url,
    price_usdc: String(route.offers[0]?.price_usdc),
    needed: JSON.stringify(route),
  };
}

/** Knows nothing but the guide: it reads where to search and where to check, as addresses that stand in it. */
function openGuide(url: string): Door {
  const readGuide = async () => await (await fetch(`${url}/llms.txt`)).text();
  return {
    async find(request) {
      const [, path = ''] = /GET https?:\/\/[^/]+(\/\S+?)\{words\}/.exec(await readGuide()) ?? [];
      const { listings } = await readJson<{ listings: Listed[] }>(`${url}${path}${encodeURIComponent(request)}`);
      return readListed(listings[0]);
    },
    async check(question) {
      const [, path = ''] = /`POST` it as JSON .* to `https?:\/\/[^/]+(\/[^`]+)`/.exec(await readGuide()) ?? [];
      return await post(`${url}${path}`, question);
    },
  };
}

/** The part of our document's types that is used here; `openapi-typescript` makes the whole in another test. */
interface Paths {
  '/agent/list': {
    get: {
      parameters: { query: { q: string; limit: number } };
      responses: { 200: { content: { 'application/json': { listings: Listed[] } } } };
    };
  };
  '/agent/check': {
    post: {
      requestBody: { content: { 'application/json': object } };
      responses: { 200: { content: { 'application/json': Awaited<ReturnType<Door['check']>> } } };
    };
  };
}

function openFetch(url: string): Door {
  const client = createClient<Paths>({ baseUrl: url });
  return {
    async find(request) {
      const { data } = await client.GET('/agent/list', { params: { query: { q: request, limit: 3 } } });
      return readListed(data?.listings[0]);
    },
    async check(question) {
      const { data } = await client.POST('/agent/check', { body: question });
      if (!data) throw new Error('the check answers nothing');
      return data;
    },
  };
}

interface Item {
  slug: string;
  method: string;
  url: string;
  price_usdc: string;
}

const readItem = (item: Item | undefined): Found => {
  if (!item) throw new Error('nothing was found');
  const { slug, method, url, price_usdc } = item;
  return { slug, method, url, price_usdc: price_usdc.split(' ')[0] ?? '', needed: JSON.stringify(item) };
};

/** Hands on one part of each answer, as hosts do, and drops the other. */
function openTools(client: Connected, part: 'structured' | 'text'): Door {
  const call = async <Answer>(name: string, args: Record<string, unknown>): Promise<Answer> => {
    const { isError, text, structured } = await client.call(name, args);
    if (isError) throw new Error(text);
    return part === 'text' ? JSON.parse(text) : (structured as Answer);
  };
  return {
    find: async (request) =>
      readItem((await call<{ listings: Item[] }>('search_listings', { q: request })).listings[0]),
    check: (question) => call('check_payment_terms', question),
  };
}

/** Sends each argument as JSON where it is JSON: a number as a number. */
function openInspector(url: string): Door {
  const call = async (name: string, given: readonly string[]) => {
    const home = await mkdtemp(join(tmpdir(), 'inspector-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const args = given.flatMap((arg) => ['--tool-arg', arg]);
    const line = [`${url}/mcp`, '--method', 'tools/call', '--tool-name', name, ...args];
    const env = { ...process.env, HOME: home, BASE_URL: '' };
    const printed = await new Promise<string>((done, fail) => {
      execFile(process.execPath, [INSPECTOR, JSON.stringify([line])], { env }, (error, stdout, stderr) =>
        error ? fail(new Error(stderr)) : done(stdout.split('\u001e')[0] ?? ''),
      );
    });
    return JSON.parse(printed).structuredContent;
  };
  return {
    async find(request) {
      const { listings } = await call('search_listings', [`q=${request}`, 'max_price_usdc=0.01', 'limit=3']);
      return readItem(listings[0]);
    },
    check: ({ url: called, method, challenge }) =>
      call('check_payment_terms', [`url=${called}`, `method=${method}`, `challenge=${JSON.stringify(challenge)}`]),
  };
}

interface Resource {
  resource: string;
  accepts?: readonly { amount?: unknown }[];
  extensions?: Record<string, unknown>;
}

function readResource(found: Resource | undefined): Found {
  if (!found) throw new Error('nothing was found');
  const { info } = Object(found.extensions?.['agent-payable']);
  const { method } = Object(found.extensions?.bazaar).info.input;
  const price = Number(found.accepts?.[0]?.amount) / 1_000_000;
  return { slug: info.slug, method, url: found.resource, price_usdc: String(price), needed: JSON.stringify(found) };
}

export function openBazaar(url: string): Pick<Door, 'find'> {
  const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url })).extensions;
  return {
    find: async (request) =>
      readResource((await bazaar.search({ query: request, network: 'eip155:8453' })).resources[0]),
  };
}

/** Finds by its discovery, and checks by the MCP server that it knows. */
async function openCdp(url: string): Promise<Door> {
  const client = await openCoinbase(url);
  return {
    async check(question) {
      const params = { name: 'check_payment_terms', arguments: question };
      const { result } = await client.postX402DiscoveryMcp({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      return result.structuredContent;
    },
    async find(request) {
      const narrowed = {
        network: 'base',
        scheme: 'exact',
        maxUsdPrice: '0.01',
        extensions: ['bazaar', 'agent-payable'],
      };
      const { resources } = await client.searchX402Resources({ query: request, ...narrowed });
      const best = readResource(resources[0]);
      const { host } = new URL(best.url);
      const [{ payTo }] = resources[0].accepts;
      const others = [
        await client.searchX402Resources({ urlSubstring: host, tags: ['tools'], limit: 20 }),
        await client.listX402DiscoveryMerchant({ payTo, limit: 100 }),
        { resources: (await client.listX402DiscoveryResources({ type: 'http', limit: 100, offset: 0 })).items },
      ];
      for (const { resources: listed } of others)
        if (!listed.some(({ resource }: Resource) => resource === best.url))
          throw new Error(`${best.url} is not listed`);
      const { resources: curated } = await client.searchX402Resources({ query: request, curatedOnly: true });
      if (curated.length > 0) throw new Error('nothing was paid for, and something is curated');
      return best;
    },
  };
}

/** Reads from our document which endpoints we have; the search among them answers. */
function openAgentCash(url: string): Pick<Door, 'find'> {
  return {
    async find(request) {
      const found = await discoverOriginSchema({ target: url });
      if (!found.found) throw new Error(found.message ?? found.cause);
      const search = found.endpoints.find(({ summary }) => /search/i.test(summary));
      const { listings } = await readJson<{ listings: Listed[] }>(
        `${url}${search?.path}?${new URLSearchParams({ q: request })}`,
      );
      return readListed(listings[0]);
    },
  };
}

interface Entry {
  metadata: { slug: string; route_method: string; route_url: string; route_price_usdc: string };
}

function openRegistry(url: string): Pick<Door, 'find'> {
  return {
    async find(request) {
      const { results } = await post<{ results: Entry[] }>(`${url}/search`, { query: { text: request } });
      const [best] = results;
      if (!best) throw new Error('nothing was found');
      const { slug, route_method: method, route_url, route_price_usdc } = best.metadata;
      return {
        slug,
        method,
        url: route_url,
        price_usdc: route_price_usdc.split(' ')[0] ?? '',
        needed: JSON.stringify(best),
      };
    },
  };
}
