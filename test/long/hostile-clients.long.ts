import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { openWorld, readUsage, startProgram, startService } from '../../scripts/bench/world.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { makeDeclaration, makeFolder, makeRoute } from '../builders.ts';
import { ANY_CLOCK } from '../new-catalogue.ts';
import { findNginx, startNginxOf } from '../nginx.ts';
import { declareListings } from '../written.ts';
import type { Asked } from './hostile-clients/asker.ts';

const LISTINGS = 10_000;
const SEARCHES = 200_000;

/** Searches that a client may make within a minute. */
const SEARCHES_EACH = 300;
const MB = 1024 * 1024;
/** Most memory of the server under all of these searches, in MB. */
const MEMORY_MAX = 500;

/** Asks as another client does, one request after the other, until `work` is over; gives milliseconds of each. */
async function askBeside(url: string, work: Promise<unknown>): Promise<number[]> {
  const pool = new Pool(url, { connections: 1, localAddress: '127.0.0.77' });
  const times: number[] = [];
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  for (let time = 0; !isOver || time < 30; time += 1) {
    const started = performance.now();
    const { statusCode, body } = await pool.request({ path: `/agent/list?limit=${1 + (time % 50)}`, method: 'GET' });
    await body.dump();
    expect(statusCode).toBe(200);
    times.push(performance.now() - started);
    // Within the rate limit.
    await sleep(250);
  }
  await over;
  await pool.close();
  return times.sort((a, b) => a - b);
}

const format = (times: readonly number[]) =>
  `median ${times[times.length >> 1]?.toFixed(1)} ms, 95 % ${times[Math.floor(times.length * 0.95)]?.toFixed(1)} ms, most ${times.at(-1)?.toFixed(1)} ms`;

/** Opens a connection. Rejects if the server resets it, as one does that takes no more. */
async function open(url: string, localAddress: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

it('nothing that clients do stops the others or fills the memory', async () => {
  const folder = makeFolder();
  const world = await openWorld({ folder, rounds: 1, tell: () => undefined }, LISTINGS);
  // Limited as by default.
  const { url, pid, stop } = await startService({ env: { ...world.env, RATE_LIMIT: undefined } }, '--no-rebuild');
  onTestFinished(stop);
  await expect
    .poll(async () => (await fetch(`${url}/agent/list`)).status, { timeout: 120_000, interval: 2000 })
    .toBe(200);
  const getMemory = () => (readUsage(pid).rss ?? 0) / MB;
  // What a server has once everything was asked for.
  for (const path of ['/openapi.json', '/llms-full.txt', '/agent/list?q=weather'])
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) await (await fetch(url + path, { headers })).text();
  let asked = 0;
  /** Searches so many times, for another thing each time; gives how often the answer was another than 200. */
  const search = async (pool: Pool, times: number) => {
    let refused = 0;
    for (let time = 0; time < times; time += 1) {
      asked += 1;
      const path = `/agent/list?limit=1&q=weather+w${asked}`;
      const { statusCode, body } = await pool.request({ path, method: 'GET' });
      await body.dump();
      if (statusCode !== 200) refused += 1;
    }
    return refused;
  };
  /** Searches so many times as one client over eight connections; gives how many were refused. */
  const flood = async (times: number) => {
    const pool = new Pool(url, { connections: 8 });
    const refused = await Promise.all(Array.from({ length: 8 }, () => search(pool, times / 8)));
    await pool.close();
    return refused.reduce((sum, count) => sum + count);
  };
  // A heap grows with the first load until it has its size; what leaks grows with each.
  await flood(SEARCHES);
  const idle = await askBeside(url, sleep(10_000));
  const before = getMemory();
  console.log(`idle: ${format(idle)}; ${before.toFixed(0)} MB`);

  let refused = 0;
  const flooded = flood(SEARCHES).then((count) => {
    refused = count;
  });
  const beside = await askBeside(url, flooded);
  const after = getMemory();
  console.log(
    `${SEARCHES} different searches of one client: ${format(beside)}; ${refused} refused; ${after.toFixed(0)} MB`,
  );

  let clients = 0;
  const enough = asked + SEARCHES;
  const searchAsMany = async () => {
    while (asked < enough) {
      clients += 1;
      const localAddress = `127.1.${clients >> 8}.${clients & 255}`;
      const pool = new Pool(url, { connections: 1, localAddress });
      expect(await search(pool, SEARCHES_EACH)).toBe(0);
      await pool.close();
    }
  };
  const besideMany = await askBeside(url, Promise.all(Array.from({ length: 8 }, searchAsMany)));
  const most = getMemory();
  console.log(`as many of ${clients} clients: ${format(besideMany)}; ${most.toFixed(0)} MB`);
  expect([after - before, most - after].filter((growth) => growth >= 60)).toEqual([]);
  expect(most).toBeLessThan(MEMORY_MAX);
}, 1_800_000);

/** Sends 20 times 600 requests, each time in one packet. */
async function pipeline(url: string, client: string): Promise<void> {
  const requests = Array.from(
    { length: 600 },
    (_, at) => `GET /agent/list?limit=${at + 1} HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  for (let time = 0; time < 20; time += 1) {
    const socket = await open(url, client);
    socket.write(requests.join(''));
    socket.resume();
    await Promise.race([once(socket, 'close').catch(() => undefined), sleep(3000)]);
    socket.destroy();
  }
}

/** Asks for a large document over as many connections as a client may have, and reads ten bytes of each in ten seconds. */
async function readSlowly(url: string, client: string): Promise<void> {
  const readers = Array.from({ length: 100 }, async () => {
    const socket = await open(url, client).catch(() => undefined);
    if (!socket) return;
    socket.pause();
    socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
    for (let time = 0; time < 3 && !socket.destroyed; time += 1) {
      await sleep(10_000);
      socket.read(10);
    }
    socket.destroy();
  });
  await Promise.all(readers);
}

/** Asks as much in ten seconds as one client may over all the connections that it may have. */
async function useLimit(url: string, client: string): Promise<void> {
  const pool = new Pool(url, { connections: 90, localAddress: client });
  const end = performance.now() + 10_000;
  const ask = async () => {
    for (let at = 0; performance.now() < end; at += 1) {
      const { body } = await pool.request({ path: `/agent/list?limit=50&q=weather+w${at}`, method: 'GET' });
      await body.dump();
    }
  };
  await Promise.all(Array.from({ length: 90 }, ask));
  await pool.close();
}

it('what one client does is hardly felt by another behind nginx', async (context) => {
  const nginx = findNginx();
  if (!nginx) return context.skip('no nginx: install nginx-light');
  const world = await openWorld({ folder: makeFolder(), rounds: 1, tell: () => undefined }, LISTINGS);
  const env = { ...world.env, RATE_LIMIT: undefined, TRUSTED_PROXIES: '127.0.0.1' };
  const server = await startService({ env }, '--no-rebuild');
  onTestFinished(server.stop);
  await expect
    .poll(async () => (await fetch(`${server.url}/agent/list`)).status, { timeout: 120_000, interval: 2000 })
    .toBe(200);
  const configured = readFileSync(new URL('../../scripts/deploy/nginx.conf', import.meta.url), 'utf8')
    .replace('127.0.0.1:4321', new URL(server.url).host)
    .replace('root /srv/catalogue/site', `root ${world.config.siteDir}`);
  const front = await startNginxOf(nginx, makeFolder(), configured, { limited: true });
  onTestFinished(front.stop);
  await sleep(5000);
  const attacks = { 'nothing else': () => sleep(5000), pipeline, readSlowly, useLimit };
  for (const [number, [attack, run]] of Object.entries(attacks).entries()) {
    // Within the limit of nginx. Each attack is of a client who has its whole limit left.
    const measure = (url: string, network: string) => askHealthBeside(url, run(url, `${network}.${number + 1}`), 150);
    const [alone, fronted] = [await measure(server.url, '127.0.1'), await measure(front.url, '127.0.2')];
    const memory = (readUsage(server.pid).rss ?? 0) / MB;
    console.log(`${attack}: alone ${format(alone)}; behind nginx ${format(fronted)}; ${memory.toFixed(0)} MB`);
    expect([attack, (fronted[Math.floor(fronted.length * 0.95)] ?? 0) <= 50]).toEqual([attack, true]);
  }
}, 600_000);

/** Pieces of addresses and of requests, sound and not. */
const PIECES = {
  method: ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'TRACE', 'get', 'GE T', ''],
  path: [
    '/',
    '/api/',
    '/agent/list',
    '/agent/listings/',
    '/mcp',
    '/search',
    '/compare',
    '/receipts/',
    '/provider/',
    '/_astro/',
    '/pictures/',
    '/category/',
    '/discovery/resources',
    '/.new/',
    '/site.sqlite',
    '/openapi.json',
  ],
  tail: [
    '',
    'x',
    '..',
    '../..',
    '%2e%2e%2f',
    '..%5c',
    '%00',
    '%ff',
    '%zz',
    '.html',
    '.md',
    '.br',
    '//',
    '\\',
    '?q=',
    '?limit=-1',
    '?limit=1e9',
    '?cursor=AAAA',
    '?q=%F0%9F%92%A9',
    '?a=1&a=2',
    '#x',
    '__proto__',
    'constructor',
    'a'.repeat(3000),
    'é',
  ],
  version: ['HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', 'HTTP', ''],
  header: [
    'Host: x',
    'Host: x\r\nHost: y',
    'Host:',
    'Content-Length: 5',
    'Content-Length: -1',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
    'Accept: text/markdown',
    'Accept: \u0001',
    'Accept-Encoding: br;q=2, *;q=0',
    'If-None-Match: *',
    'If-None-Match: "',
    'Range: bytes=9-1',
    'Expect: 100-continue',
    'Upgrade: websocket\r\nConnection: Upgrade',
    'X-Request-Id: \u00e9',
    'X-Forwarded-For: ::1, x',
    `X: ${'y'.repeat(20_000)}`,
  ],
  body: ['', '{}', '5\r\nhello\r\n0\r\n\r\n', 'ZZ\r\n', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', '\u0000'],
} as const;

it('9,800 odd requests are answered by no failure of ours, and crash nothing', async () => {
  const world = await openWorld({ folder: makeFolder(), rounds: 1, tell: () => undefined }, 100);
  const server = await startService({ env: { ...world.env, RATE_LIMIT: '0' } }, '--no-rebuild');
  onTestFinished(server.stop);
  await expect
    .poll(async () => (await fetch(`${server.url}/agent/list`)).status, { timeout: 120_000, interval: 2000 })
    .toBe(200);
  const seed = Date.now() % 1_000_000;
  const random = createRandom(seed);
  const draw = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const counts = new Map<string, number>();
  const failed: string[] = [];
  /** Draws what is usual mostly, so that most requests are read to their end. */
  const drawMostly = (usual: string, others: readonly string[]) => (random() < 0.85 ? usual : draw(others));
  const send = async () => {
    const target = `${draw(PIECES.path)}${draw(PIECES.tail)}${draw(PIECES.tail)}`;
    const others = Array.from({ length: Math.floor(random() * 2) }, () => draw(PIECES.header));
    const headers = [drawMostly('Host: x', PIECES.header), ...others];
    const text = `${drawMostly('GET', PIECES.method)} ${target} ${drawMostly('HTTP/1.1', PIECES.version)}\r\n${headers.join('\r\n')}\r\n\r\n${drawMostly('', PIECES.body)}`;
    const socket = await open(server.url, '127.0.0.4');
    socket.end(text);
    let answer = '';
    const read = async () => {
      for await (const chunk of socket.setEncoding('latin1')) answer ||= String(chunk);
    };
    await Promise.race([read().catch(() => undefined), sleep(15_000)]);
    socket.destroy();
    const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'none';
    counts.set(status, (counts.get(status) ?? 0) + 1);
    if (status === '500') failed.push(text);
  };
  let sent = 0;
  const work = async () => {
    while (sent < 9800) {
      sent += 1;
      await send();
    }
  };
  await Promise.all(Array.from({ length: 20 }, work));
  console.log(`seed ${seed}: ${[...counts].map(([status, count]) => `${count} times ${status}`).join(', ')}`);
  expect(failed).toEqual([]);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
}, 600_000);

/** Asks `/healthz` as another client does, until `work` is over, with a rest in between; gives milliseconds of each answer. */
async function askHealthBeside(url: string, work: Promise<unknown>, restMs = 10): Promise<number[]> {
  const pool = new Pool(url, { connections: 1, localAddress: '127.0.0.77' });
  const times: number[] = [];
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const started = performance.now();
    const { statusCode, body } = await pool.request({ path: '/healthz', method: 'GET' });
    await body.dump();
    expect(statusCode).toBe(200);
    times.push(performance.now() - started);
    await sleep(restMs);
  }
  await over;
  await pool.close();
  return times.sort((a, b) => a - b);
}

/** Builds a call over MCP. */
function buildCall(method: string, params: object): Asked {
  return { path: '/mcp', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) };
}

/** Lists as many requests as a client may make in a minute. */
function listAsked(build: (at: number) => Asked): Asked[] {
  return Array.from({ length: 600 }, (_, at) => build(at));
}

it('no listing of thousands of routes keeps others waiting', async () => {
  const folder = makeFolder();
  const world = await openWorld({ folder, rounds: 1, tell: () => undefined }, 100);
  // The synthetic catalogue was made at a time that is always the same.
  const opened = { identity: 'large', at: new Date().toISOString() };
  const catalogue = await openCatalogue(world.config.catalogueAddress, opened, ANY_CLOCK);
  const routes = Array.from({ length: 5000 }, (_, number) =>
    makeRoute({
      path: `/v1/items/${number}/lookup`,
      description: `Looks up the item ${number} and answers with its price, its name and where it is sold.`,
      input_schema: { type: 'object', properties: { symbol: { type: 'string', description: 'Symbol of the thing' } } },
      output_schema: { type: 'object', properties: { price: { type: 'number' }, name: { type: 'string' } } },
    }),
  );
  await declareListings(
    catalogue,
    [makeDeclaration({ slug: 'large', base_url: 'https://large.example.com', routes })],
    new Date().toISOString(),
  );
  await catalogue.close();
  const { url, stop } = await startService({ env: { ...world.env, RATE_LIMIT: undefined } });
  onTestFinished(stop);
  const read = async (path: string) => (await fetch(url + path)).text();
  await vi.waitUntil(async () => (await read('/api/large')).startsWith('<!DOCTYPE html>'), { timeout: 60_000 });
  // What a server loads when it has nothing else to do is loaded.
  await sleep(5000);
  console.log(`idle: ${format(await askHealthBeside(url, sleep(5000)))}`);

  /** Asks all that a client may within its minute, over as many connections as it may have. Gives how often which status came. */
  const askAll = async (requests: readonly Asked[], localAddress: string) => {
    const file = new URL('./hostile-clients/asker.ts', import.meta.url);
    const [statuses] = await once(new Worker(file, { workerData: { url, requests, localAddress } }), 'message');
    const counts = Map.groupBy(statuses as number[], (status) => status);
    return [...counts].map(([status, all]) => `${all.length} times ${status}`).join(', ');
  };
  // What the machine itself keeps waiting: a server that does nothing, in a process of its own.
  const idle = new URL('./hostile-clients/idle-server.ts', import.meta.url);
  const control = await startProgram(idle, []);
  onTestFinished(control.stop);
  const documents: Asked[] = [];
  for (let limit = 500, cursor = ''; documents.length < 600; limit -= 1) {
    const next = /"next_cursor":"([^"]+)/.exec(await read(`/agent/listings/large?limit=${limit}${cursor}`))?.[1];
    cursor = next === undefined ? '' : `&cursor=${next}`;
    for (const query of [`?limit=${limit - 100}`, `?limit=${limit - 101}${cursor}`])
      documents.push({ path: `/agent/listings/large${query}` });
  }
  const getPath = (at: number) => `/v1/items/${at}/lookup`;
  const kinds: Record<string, readonly Asked[]> = {
    'parts of the details': documents,
    Markdown: listAsked((at) => ({ path: `/api/large.md?page=${1 + (at % 10)}` })),
    'pages of routes': listAsked((at) => ({ path: `/api/large/get${getPath(at).replaceAll('/', '-')}` })),
    comparisons: listAsked((at) => {
      const names = [at, at + 600, at + 1200, at + 1800].map((one) => `large GET ${getPath(one)}`);
      return { path: `/compare?${new URLSearchParams(names.map((name) => ['routes', name]))}` };
    }),
    'calls of get_listing': listAsked((at) =>
      buildCall('tools/call', { name: 'get_listing', arguments: { slug: 'large', routes_offset: at } }),
    ),
    'the resource of it': listAsked(() => buildCall('resources/read', { uri: 'catalogue://listing/large' })),
  };
  for (const [at, [kind, requests]] of Object.entries(kinds).entries()) {
    let came = '';
    const asked = askAll(requests, `127.0.2.${at + 1}`).then((statuses) => {
      came = statuses;
    });
    const started = performance.now();
    const [times, controls] = await Promise.all([askHealthBeside(url, asked), askHealthBeside(control.url, asked)]);
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `${kind}, ${came} in ${seconds.toFixed(1)} s: /healthz of another client ${format(times)}; an idle server beside it ${format(controls)}`,
    );
    // A comparison and a call of a tool weigh two requests.
    const isHeavy = kind === 'comparisons' || requests[0]?.body !== undefined;
    expect(came).toBe(isHeavy ? '300 times 200, 300 times 429' : '600 times 200');
    expect(times[times.length >> 1]).toBeLessThan(50);
  }
}, 600_000);
