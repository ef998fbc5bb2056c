import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../src/server/rate-limit.ts';
import { makeFolder } from '../builders.ts';
import { makeShelf } from '../release/shelf.ts';
import { ask, serveShelf } from './running.ts';

/** Serves with a limit and a clock of its own, behind proxies on loopback, so that a test can be many clients. */
async function serveLimited(
  limit: number,
  { settings = { TRUSTED_PROXIES: 'loopback' } as Record<string, string>, released = false } = {},
) {
  const clock = { now: 1000 };
  const shelf = makeShelf(makeFolder(), { settings: { RATE_LIMIT: String(limit), ...settings } });
  const server = await serveShelf({ shelf, released, now: () => clock.now });
  const get = (path: string, client = '203.0.113.1', method = 'GET') =>
    ask(server, path, { method, headers: { 'X-Forwarded-For': client } });
  return { clock, server, get };
}

describe('the rate limit', () => {
  it('says what is left, refuses more with when to come back, and begins anew after a minute', async () => {
    const { clock, get } = await serveLimited(3);
    for (const left of [2, 1, 0]) {
      const answer = await get('/agent/list?limit=1');
      expect([answer.status, answer.headers['ratelimit-policy'], answer.headers.ratelimit]).toEqual([
        200,
        '"client";q=3;w=60',
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
      'access-control-expose-headers': expect.stringMatching(/RateLimit, RateLimit-Policy, Retry-After/),
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
    expect(await get('/agent/list')).toMatchObject({ status: 200, headers: { ratelimit: '"client";r=2;t=60' } });
  });

  it('is of each client alone, and no forged header makes another of a client that no proxy vouches for', async () => {
    const trusting = await serveLimited(1);
    for (const client of ['203.0.113.1', '203.0.113.2', '2001:db8::1']) {
      expect((await trusting.get('/agent/list', client)).status).toBe(200);
    }
    expect((await trusting.get('/agent/list', '2001:db8::2')).status).toBe(429);
    expect((await trusting.get('/agent/list', '198.51.100.7, 203.0.113.2')).status).toBe(429);

    const open = await serveLimited(1, { settings: {} });
    expect((await open.get('/agent/list', '203.0.113.1')).status).toBe(200);
    expect((await open.get('/agent/list', '203.0.113.2')).status).toBe(429);
  });

  it('counts live answers whatever their status, HEAD too, and no preflight, page at hand or health', async () => {
    const { get } = await serveLimited(4, { released: true });
    for (const [path, method] of [
      ['/agent/list', 'OPTIONS'],
      ['/', 'GET'],
      ['/api/api-1', 'GET'],
      ['/llms.txt', 'GET'],
      ['/healthz', 'GET'],
      ['/readyz', 'GET'],
      ['/none', 'GET'],
    ] as const) {
      expect([path, (await get(path, undefined, method)).headers]).toEqual([
        path,
        expect.not.objectContaining({ ratelimit: expect.anything() }),
      ]);
    }
    for (const [path, method, status] of [
      ['/agent/list', 'HEAD', 200],
      ['/agent/none', 'GET', 404],
      ['/agent/list?limt=1', 'GET', 400],
      ['/mcp', 'GET', 405],
    ] as const) {
      expect([path, (await get(path, undefined, method)).status]).toEqual([path, status]);
    }
    const refused = await get('/agent/list', undefined, 'HEAD');
    expect([refused.status, refused.body.length, refused.headers['retry-after']]).toEqual([429, 0, '60']);
    expect((await get('/', undefined)).status).toBe(200);
    expect((await get('/agent/list', undefined, 'OPTIONS')).status).toBe(204);
    expect((await get('/healthz', undefined)).status).toBe(200);
  });

  it('counts a page that is rendered on demand once', async () => {
    const { server, get } = await serveLimited(2, { released: true });
    server.shelf.put([77], 'new');
    expect(await get('/api/api-77')).toMatchObject({ status: 200, headers: { ratelimit: '"client";r=1;t=60' } });
    expect(await get('/api/api-77')).toMatchObject({ status: 200, headers: { ratelimit: '"client";r=0;t=60' } });
    const refused = await get('/api/api-77');
    expect([refused.status, JSON.parse(refused.text).code, refused.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      '60',
    ]);
    expect(server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it('holds for MCP, whose clients are told', async () => {
    const { server } = await serveLimited(2, { settings: { BASE_URL: 'http://localhost:4321' } });
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
  it('forgets whose window is over, and of too many clients those that asked longest ago', () => {
    let now = 0;
    const take = createRateLimit({ limit: 1, now: () => now, maxClients: 8 });
    const isWithin = (client: string) => take(client).isWithin;
    expect(['a', 'b', 'c', 'd'].map(isWithin)).toEqual([true, true, true, true]);
    expect(['a', 'b', 'c', 'd'].map(isWithin)).toEqual([false, false, false, false]);
    expect(['e', 'f', 'a'].map(isWithin)).toEqual([true, true, false]);
    expect(['g', 'h', 'i', 'j', 'k', 'l'].map(isWithin)).toEqual([true, true, true, true, true, true]);
    expect(['l', 'k', 'b'].map(isWithin)).toEqual([false, false, true]);
    for (now = 60_000; now <= 300_000; now += 60_000) expect(['k', 'l'].map(isWithin)).toEqual([true, true]);
  });

  it('costs no memory beyond its bound whoever asks', () => {
    const take = createRateLimit({ limit: 600, maxClients: 1000 });
    const before = getHeap();
    for (let n = 0; n < 300_000; n += 1) take(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    expect(getHeap() - before).toBeLessThan(4 * 1024 * 1024);
    expect(take('10.4.0.0').remaining).toBe(599);
  });
});
