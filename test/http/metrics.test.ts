import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../src/http/server.ts';
import { openMetricsListener } from '../../src/metrics/listener.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { makeFolder } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { breakPublished, breakReading } from './broken.ts';
import { callTool, findSample, readSamples, serveWithMetrics } from './metrics.ts';
import { ask, serveSiteFixture } from './running.ts';

it('are served on an address of their own, and on no other', async () => {
  const server = await serveWithMetrics();
  const { status, headers } = await ask({ url: server.metricsUrl }, '/metrics');
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect((await ask(server, '/metrics')).status).toBe(404);
  for (const path of ['/', '/healthz', '/agent/list']) {
    expect((await ask({ url: server.metricsUrl }, path)).status).toBe(404);
  }
  expect((await ask({ url: server.metricsUrl }, '/metrics', { method: 'POST' })).status).toBe(404);
});

it('are not served unless a port is set', async () => {
  const server = await serveSiteFixture({ written: false });
  expect(server.metricsUrl).toBeUndefined();
  expect((await ask(server, '/metrics')).status).toBe(404);
});

it('say that their port is in use, and leave nothing open', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = String(typeof address === 'object' ? address?.port : '');
  const fixture = await makeSiteFixture(makeFolder(), { settings: { METRICS_PORT: port } });
  await expect(serveSiteFixture({ fixture, written: false })).rejects.toMatchObject({
    reason: 'port_in_use',
    hint: expect.stringContaining('METRICS_PORT'),
  });
});

it('count requests by pattern and class of status, with time and size, and unknown paths as one', async () => {
  const server = await serveWithMetrics();
  for (const path of ['/api/api-1', '/api/api-2?x=1', '/api/none', '/a', '/b/c', '/agent/list', '/agent/list?limit=x'])
    await ask(server, path);
  const page = await ask(server, '/llms.txt');
  const samples = await readSamples(server);
  const count = (route: string, status: string) =>
    findSample(samples, 'catalogue_http_requests_total', { route, status });
  expect(count('/api/{slug}', '2xx')).toBe(2);
  expect(count('/api/{slug}', '4xx')).toBe(1);
  expect(count('other', '4xx')).toBe(2);
  expect(count('/agent/list', '2xx')).toBe(1);
  expect(count('/agent/list', '4xx')).toBe(1);
  expect(findSample(samples, 'catalogue_http_request_duration_seconds_count', { route: '/api/{slug}' })).toBe(3);
  const seconds = findSample(samples, 'catalogue_http_request_duration_seconds_sum', { route: '/api/{slug}' });
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(60);
  const bytes = findSample(samples, 'catalogue_http_response_size_bytes_sum', { route: '/llms.txt' });
  expect(bytes).toBeGreaterThan(page.body.length);
  expect(bytes).toBeLessThan(page.body.length + 4096);
  const labels = samples.flatMap((line) => /route="([^"]*)"/.exec(line)?.[1] ?? []);
  expect(labels.filter((label) => /api-1|none|secret/.test(label))).toEqual([]);
});

it('count the bytes of each answer of a connection by itself', async () => {
  const server = await serveWithMetrics();
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const head = `Host: ${hostname}:${port}\r\n`;
  socket.write(`GET /healthz HTTP/1.1\r\n${head}\r\n`);
  let said = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(socket, 'data');
  socket.write(`GET /robots.txt HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
  await once(socket, 'close');
  const samples = await readSamples(server);
  const sum = (route: string) => findSample(samples, 'catalogue_http_response_size_bytes_sum', { route }) ?? 0;
  expect(sum('/healthz')).toBeGreaterThan(100);
  expect(sum('/healthz') + sum('/robots.txt')).toBe(Buffer.byteLength(said));
});

it('count what a client does not wait for as aborted', async () => {
  const server = await serveWithMetrics();
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const types = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream';
  socket.write(`POST /mcp HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${types}\r\nContent-Length: 10\r\n\r\n{`);
  const countOpen = async () => findSample(await readSamples(server), 'catalogue_http_requests_in_flight', {});
  await expect.poll(countOpen).toBe(1);
  socket.resetAndDestroy();
  const count = async () =>
    findSample(await readSamples(server), 'catalogue_http_requests_total', { route: '/mcp', status: 'aborted' });
  await expect.poll(count).toBe(1);
  expect(await countOpen()).toBe(0);
});

it('say which revision readers see, which the pages are of, and how the process is', async () => {
  const server = await serveWithMetrics();
  await server.fixture.put([90], 'new');
  await server.catchUp();
  const samples = await readSamples(server);
  const read = (name: string, labels = {}) => findSample(samples, name, labels);
  expect(read('catalogue_published_revision')).toBe(2);
  expect(read('catalogue_pages_revision')).toBe(1);
  expect(read('catalogue_published_revised_timestamp_seconds')).toBe(Date.parse('2026-11-20T12:00:04.000Z') / 1000);
  expect(read('catalogue_pages_made_timestamp_seconds')).toBeGreaterThan(0);
  expect(read('catalogue_published_listings', { state: 'live' })).toBe(9);
  expect(read('catalogue_published_listings', { state: 'verified' })).toBe(0);
  expect(read('catalogue_ready')).toBe(1);
  expect(read('catalogue_following')).toBe(1);
  expect(read('catalogue_following_failing_seconds')).toBe(0);
  expect(read('catalogue_missing', { code: 'not_following' })).toBe(0);
  expect(read('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
  expect(read('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
});

it('leave out what is not known, and say what is missing', async () => {
  const server = await serveWithMetrics();
  rmSync(getSitePaths(server.fixture.config.siteDir).record);
  const isMissing = async () => findSample(await readSamples(server), 'catalogue_missing', { code: 'no_pages' });
  await expect.poll(isMissing).toBe(1);
  const samples = await readSamples(server);
  expect(findSample(samples, 'catalogue_pages_revision', {})).toBeUndefined();
  expect(findSample(samples, 'catalogue_ready', {})).toBe(0);
});

it('say for how long following has failed, once it does', async () => {
  const server = await serveWithMetrics();
  const mend = breakPublished(server.fixture);
  await server.fixture.put([1], 'second');
  const read = async (name: string) => findSample(await readSamples(server), name, {});
  await expect.poll(() => read('catalogue_following')).toBe(0);
  await expect.poll(() => read('catalogue_following_failing_seconds')).toBeGreaterThan(0.5);
  expect(await read('catalogue_ready')).toBe(1);
  mend();
  await expect.poll(() => read('catalogue_following')).toBe(1);
  expect(await read('catalogue_following_failing_seconds')).toBe(0);
});

it.each<[string, () => Promise<string>, number | undefined]>([
  [
    'at once',
    () => {
      throw new Error('broken');
    },
    500,
  ],
  ['later', () => Promise.reject(new Error('broken')), 500],
  // What is no text fails only when it is sent, after the head.
  ['after the head', () => Promise.resolve({} as string), undefined],
])('end an answer that fails, and nothing else: %s', async (_, fail, status) => {
  let read = fail;
  const failures: unknown[] = [];
  const listener = await openMetricsListener(
    { host: '127.0.0.1', port: 0 },
    { readMetrics: () => read(), onError: (error) => failures.push(error) },
  );
  onTestFinished(() => listener.close());
  const answer = await ask(listener, '/metrics').catch(() => undefined);
  expect([answer?.status, failures.length]).toEqual([status, 1]);
  read = () => Promise.resolve('one 1\n');
  expect((await ask(listener, '/metrics')).text).toBe('one 1\n');
});

it('count calls of MCP by tool, and tools that there are not as one', async () => {
  const server = await serveWithMetrics();
  for (const [name, args] of [
    ['catalogue_summary', {}],
    ['search_listings', { q: 'title' }],
    ['search_listings', { nonsense: 1 }],
    ['made_up_1', {}],
    ['made_up_2', {}],
  ] as const)
    await callTool(server, name, args);
  const samples = await readSamples(server);
  const count = (tool: string, outcome: string) => findSample(samples, 'catalogue_mcp_calls_total', { tool, outcome });
  expect(count('catalogue_summary', 'answered')).toBe(1);
  expect(count('search_listings', 'answered')).toBe(1);
  expect(count('search_listings', 'refused')).toBe(1);
  expect(count('other', 'refused')).toBe(2);
  expect(samples.join('\n')).not.toContain('made_up');
});

it('tell failures of ours from what a caller of MCP can correct', async () => {
  const server = await serveWithMetrics();
  await ask(server, '/agent/list');
  breakReading(server.fixture);
  await callTool(server, 'search_listings', { q: 'title' });
  const samples = await readSamples(server);
  const labels = { tool: 'search_listings', outcome: 'failed' };
  expect(findSample(samples, 'catalogue_mcp_calls_total', labels)).toBe(1);
});

it('are stopped with the server', async () => {
  const fixture = await makeSiteFixture(makeFolder(), { settings: { METRICS_PORT: '0' } });
  const { pino } = await import('pino');
  const server = await startServer({ config: fixture.config, logger: pino({ level: 'silent' }) });
  await server.close();
  await expect(fetch(server.metricsUrl ?? '')).rejects.toThrow();
});
