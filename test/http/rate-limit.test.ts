import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { limitRate } from '../../src/http/rate-limit.ts';
import type { Env } from '../../src/http/request.ts';
import { makeFolder } from '../builders.ts';
import { makeWritten } from '../site/rebuilding.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { ask, serveSiteFixture } from './running.ts';

/** Serves with a limit and a clock of its own, behind proxies on loopback, so that a test can be many clients. */
async function serveLimited(
  limit: number,
  { settings = { TRUSTED_PROXIES: 'loopback' } as Record<string, string>, written = false } = {},
) {
  const clock = { now: 1000 };
  const all = { RATE_LIMIT: String(limit), ...settings };
  const fixture = written
    ? await makeWritten(makeFolder(), all)
    : await makeSiteFixture(makeFolder(), { settings: all });
  const server = await serveSiteFixture({ fixture, written: false, now: () => clock.now });
  const get = (path: string, client = '203.0.113.1', method = 'GET') =>
    ask(server, path, { method, headers: { 'X-Forwarded-For': client } });
  return { clock, server, get };
}

describe('the rate limit', () => {
  it('says what is left, refuses more with when to come back, and begins anew after a minute', async () => {
    const { clock, get } = await serveLimited(6);
    for (const left of [4, 2, 0]) {
      const answer = await get('/agent/list?limit=1');
      expect([answer.status, answer.headers['ratelimit-policy'], answer.headers.ratelimit]).toEqual([
        200,
        '"client";q=6;w=60',
        `"client";r=${left};t=60`,
      ]);
      expect(answer.headers).not.toHaveProperty('retry-after');
    }
    clock.now += 20_500;
    const refused = await get('/agent/changes');
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'retry-after': '40',
      ratelimit: '"client";r=0;t=40',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringMatching(/RateLimit,RateLimit-Policy,Retry-After/),
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    expect(JSON.parse(refused.text)).toMatchObject({
      status: 429,
      code: 'rate_limited',
      title: 'Too Many Requests',
      hint: expect.stringContaining('Retry-After'),
    });
    clock.now += 39_499;
    expect((await get('/agent/list')).headers).toMatchObject({ 'retry-after': '1' });
    clock.now += 1;
    expect(await get('/agent/list')).toMatchObject({ status: 200, headers: { ratelimit: '"client";r=4;t=60' } });
  });

  it('is of each client alone, and no forged header makes another of a client that no proxy vouches for', async () => {
    const trusting = await serveLimited(2);
    for (const client of ['203.0.113.1', '203.0.113.2', '2001:db8::1']) {
      expect((await trusting.get('/agent/list', client)).status).toBe(200);
    }
    expect((await trusting.get('/agent/list', '2001:db8::2')).status).toBe(429);
    expect((await trusting.get('/agent/list', '198.51.100.7, 203.0.113.2')).status).toBe(429);

    const open = await serveLimited(2, { settings: {} });
    expect((await open.get('/agent/list', '203.0.113.1')).status).toBe(200);
    expect((await open.get('/agent/list', '203.0.113.2')).status).toBe(429);
  });

  it('is of a whole /64 of IPv6, and of no more', async () => {
    const { get } = await serveLimited(4);
    const ask = async (address: string) => (await get('/agent/list', address)).status;
    // Two of weight 2 each.
    expect([await ask('2001:db8::1'), await ask('2001:db8::2'), await ask('2001:db8::3')]).toEqual([200, 200, 429]);
    expect(await ask('2001:db8:0:1::1')).toBe(200);
  });

  it('counts each request by its weight, whatever its status, preflights and missing assets too, and no asset or sign of life', async () => {
    const { get } = await serveLimited(100, { written: true });
    const asset = /\/_astro\/[\w.-]+\.css/.exec((await get('/', '203.0.113.2')).text)?.[0] ?? '';
    let left = 100;
    for (const [path, method, weight] of [
      ['/agent/list', 'OPTIONS', 2],
      ['/healthz', 'GET', 0],
      [asset, 'GET', 0],
      ['/_astro/none.css', 'GET', 1],
      ['/readyz', 'GET', 1],
      ['/', 'GET', 1],
      ['/', 'HEAD', 1],
      ['/api/api-1', 'GET', 1],
      ['/api/none', 'GET', 1],
      ['/llms.txt', 'GET', 1],
      ['/agent/list?q=price', 'GET', 2],
      ['/agent/list?limt=1', 'GET', 2],
      ['/search?q=price', 'GET', 2],
      ['/v2/x402/discovery/search?query=price', 'GET', 2],
      ['/agent/none', 'GET', 1],
      ['/openapi.json', 'GET', 10],
      ['/llms-full.txt', 'HEAD', 10],
      ['/sitemap-1.xml', 'GET', 10],
      ['/pictures/none.png', 'GET', 10],
    ] as const) {
      left -= weight;
      const { headers } = await get(path, undefined, method);
      expect([path, headers.ratelimit]).toEqual([path, weight === 0 ? undefined : `"client";r=${left};t=60`]);
    }
  });

  it('holds for pages, and for what no answer is made of', async () => {
    const { server, get } = await serveLimited(2, { written: true });
    await server.fixture.put([77], 'new');
    await server.catchUp();
    expect(await get('/api/api-77')).toMatchObject({ status: 200, headers: { ratelimit: '"client";r=1;t=60' } });
    expect(await get('/api/api-1')).toMatchObject({ status: 200, headers: { ratelimit: '"client";r=0;t=60' } });
    for (const path of ['/', '/api/api-77', '/none', '/pictures/_service.png', '/mcp']) {
      const refused = await get(path, undefined, path === '/mcp' ? 'POST' : 'GET');
      expect([path, refused.status, JSON.parse(refused.text).code, refused.headers['retry-after']]).toEqual([
        ...[path, 429, 'rate_limited', '60'],
      ]);
    }
    expect((await get('/', undefined, 'OPTIONS')).status).toBe(429);
    expect((await get('/_astro/none.css')).status).toBe(429);
    expect((await get('/healthz')).status).toBe(200);
    expect(server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it('holds for MCP, whose clients are told', async () => {
    const { server } = await serveLimited(4, { settings: { BASE_URL: 'http://localhost:4321' } });
    const connect = async () => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.url)));
      return client;
    };
    const client = await connect();
    await expect(client.listTools()).rejects.toThrow(/429|rate_limited/);
    await client.close();
  });

  it('is off at 0', async () => {
    const { get } = await serveLimited(0);
    expect((await get('/agent/list')).headers).not.toHaveProperty('ratelimit');
  });
});

/** Bytes that are in use once what is not has been let go. */
function getHeap(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('the count of requests', () => {
  /** Gives what takes a request of a client, and says whether it was within the limit. */
  const openLimit = (options: { limit: number; maxClients?: number; now?: () => number }) => {
    const app = new Hono<Env & { Bindings: { client: string } }>();
    app.use(limitRate({ ...options, getClient: (incoming) => String(incoming) }));
    app.get('/', (c) => c.text(''));
    return async (client: string) => (await app.request('/', {}, { incoming: client })).status === 200;
  };

  it('forgets clients whose window is over, and of too many those that asked longest ago', async () => {
    let now = 0;
    const isWithin = openLimit({ limit: 1, now: () => now, maxClients: 4 });
    const ask = async (clients: string[]) => {
      const answers: boolean[] = [];
      for (const client of clients) answers.push(await isWithin(client));
      return answers;
    };
    expect(await ask(['a', 'b', 'c', 'd'])).toEqual([true, true, true, true]);
    expect(await ask(['a', 'b', 'c', 'd'])).toEqual([false, false, false, false]);
    expect(await ask(['e', 'd', 'a'])).toEqual([true, false, true]);
    for (now = 60_000; now <= 300_000; now += 60_000) expect(await ask(['e', 'd'])).toEqual([true, true]);
  });

  it('costs no memory beyond its bound, however many ask', async () => {
    const isWithin = openLimit({ limit: 600, maxClients: 1000 });
    for (let n = 0; n < 1000; n += 1) await isWithin(`first ${n}`);
    const before = getHeap();
    for (let n = 0; n < 30_000; n += 1) await isWithin(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    expect(getHeap() - before).toBeLessThan(2 * 1024 * 1024);
  });
});
