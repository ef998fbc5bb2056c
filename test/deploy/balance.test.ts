import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openListener } from '../../src/http/listening.ts';
import { makeFolder } from '../builders.ts';
import { ask, serveSiteFixture } from '../http/running.ts';
import { findNginx, startNginxOf } from '../nginx.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { readDeployed } from './tools.ts';

const nginx = findNginx();

it('nginx shares requests between two servers, names them, and answers on while one of them is gone', async (context) => {
  if (!nginx) return context.skip('no nginx: install nginx-light');
  const [first, second] = [await serve(), await serve()];
  const front = await balance(nginx, first, second);
  const listIds = (server: typeof first) =>
    server.logged.flatMap(({ msg, request_id }) => (msg === 'request' ? [String(request_id)] : []));

  for (let number = 0; number < 20; number += 1) {
    const { status, headers } = await ask(front, '/agent/list', { headers: { 'X-Request-Id': `mine-${number}` } });
    expect([status, headers['x-request-id']]).toEqual([200, `mine-${number}`]);
  }
  await expect.poll(() => [...listIds(first), ...listIds(second)].filter((id) => /^mine-/.test(id)).length).toBe(20);
  for (const server of [first, second]) expect(listIds(server).length).toBeGreaterThan(0);
  const named = await ask(front, '/healthz', { headers: { 'X-Request-Id': 'not plain' } });
  expect(named.headers['x-request-id']).toMatch(/^[\da-f]{32}$/);

  await first.close();
  for (let number = 0; number < 10; number += 1) expect(await askBoth(front)).toEqual([200, 200, 200]);
});

it('nginx asks another server where one is only starting, also what was posted', async (context) => {
  if (!nginx) return context.skip('no nginx: install nginx-light');
  const { config } = await makeSiteFixture(makeFolder(), { count: 0 });
  const starting = await openListener(config);
  onTestFinished(() => starting.drain(0));
  expect((await ask(starting, '/agent/list')).status).toBe(503);
  const front = await balance(nginx, starting, await serve());
  for (let number = 0; number < 10; number += 1) expect(await askBoth(front)).toEqual([200, 200, 200]);
});

it.for(['nginx.conf', 'balance.conf'])(
  '%s limits what one client may take, an IPv6 one by its /64',
  async (name, context) => {
    if (!nginx) return context.skip('no nginx: install nginx-light');
    let holds = true;
    const server = createServer((request, response) => {
      if (request.url !== '/held' || !holds) response.end('ok');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    onTestFinished(() => server.closeAllConnections());
    await once(server, 'listening');
    const upstream = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const site = readDeployed(name).replaceAll(/(?:server-[12]|127\.0\.0\.1):4321/g, upstream);
    // The test is many clients.
    const configured = `set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;\n${site}`;
    const front = await startNginxOf(nginx, makeFolder(), configured, { limited: true });
    onTestFinished(front.stop);
    const get = async (client: string, path = '/') =>
      (await ask(front, path, { headers: { 'X-Forwarded-For': client } })).status;
    const getAll = async (count: number, getClient: (at: number) => string) =>
      Map.groupBy(await Promise.all(Array.from({ length: count }, (_, at) => get(getClient(at)))), (status) => status);

    // In turns of fewer than may be open at once.
    const refused: number[] = [];
    for (let turn = 0; turn < 15; turn += 1) {
      const answers = await getAll(50, (at) => `2001:db8::${(50 * turn + at).toString(16)}`);
      refused.push(answers.get(429)?.length ?? 0);
    }
    expect(refused.slice(0, 12)).toEqual(Array.from({ length: 12 }, () => 0));
    expect(refused.at(-1)).toBeGreaterThan(0);
    expect([await get('2001:db8:0:1::1'), await get('203.0.113.1')]).toEqual([200, 200]);

    const held = Array.from({ length: 100 }, () => get('203.0.113.2', '/held').catch(() => 0));
    await expect.poll(() => get('203.0.113.2')).toBe(429);
    expect(await get('203.0.113.3')).toBe(200);
    // nginx asks again where a connection was closed.
    holds = false;
    server.closeAllConnections();
    await Promise.all(held);
  },
);

async function serve() {
  const settings = { TRUSTED_PROXIES: 'loopback', BASE_URL: 'http://127.0.0.1' };
  return serveSiteFixture({
    fixture: await makeSiteFixture(makeFolder(), { settings }),
    written: false,
    level: 'debug',
  });
}

/** Starts nginx in front of two servers, until the test is over. */
async function balance(peer: string, ...servers: { url: string }[]) {
  const [first = '', second = ''] = servers.map(({ url }) => new URL(url).host);
  const configured = readDeployed('balance.conf').replace('server-1:4321', first).replace('server-2:4321', second);
  const front = await startNginxOf(peer, makeFolder(), configured);
  onTestFinished(front.stop);
  return front;
}

/** Calls a tool twice, so that each server has its turn, and asks for a document. Gives the status of each. */
async function askBoth(front: { url: string }): Promise<number[]> {
  const params = { name: 'catalogue_summary', arguments: {} };
  const init = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
  const posted = [await fetch(`${front.url}/mcp`, init), await fetch(`${front.url}/mcp`, init)];
  return [...posted, await ask(front, '/agent/list')].map(({ status }) => status);
}
