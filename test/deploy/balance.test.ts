import { expect, it, onTestFinished } from 'vitest';
import { findPeer, startNginxOf } from '../../scripts/bench/peers.ts';
import { makeFolder } from '../builders.ts';
import { ask, serveShelf } from '../http/running.ts';
import { makeShelf } from '../release/shelf.ts';
import { readDeployed } from './tools.ts';

const nginx = findPeer('nginx');

it('nginx shares requests between two servers, names them, and answers on while one of them is gone', async (context) => {
  if (!nginx) return context.skip('there is no nginx on the path, so its configuration was not tried');
  const serve = () =>
    serveShelf({
      shelf: makeShelf(makeFolder(), { settings: { TRUSTED_PROXIES: 'loopback' } }),
      released: false,
      level: 'debug',
    });
  const [first, second] = [await serve(), await serve()];
  const configured = readDeployed('balance.conf')
    .replace('server-1:4321', new URL(first.url).host)
    .replace('server-2:4321', new URL(second.url).host);
  const front = await startNginxOf(nginx, makeFolder(), configured);
  onTestFinished(front.stop);
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
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'catalogue_summary', arguments: {} } };
  for (let number = 0; number < 10; number += 1) {
    expect((await ask(front, '/agent/list')).status).toBe(200);
    const posted = await fetch(`${front.url}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify(call),
    });
    // What the server makes of a name that is not its own is its affair: it answers.
    expect(posted.status).toBeLessThan(500);
  }
});
