import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { makeFolder } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { ask, serveSiteFixture, type TestServer } from './running.ts';

async function serve(): Promise<TestServer> {
  return serveSiteFixture({
    written: false,
    fixture: await makeSiteFixture(makeFolder(), { settings: { RATE_LIMIT: '0' } }),
  });
}

function call({ url }: TestServer, args: object, headers: Record<string, string> = {}): Promise<Response> {
  const params = { name: 'search_listings', arguments: args };
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': '2025-11-25',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
}

it('answers the same again to whoever asks the same, and anew at once after a change', async () => {
  const server = await serve();
  const paths = [
    '/openapi.json',
    '/agent/list?q=zebra',
    '/agent/list',
    '/agent/listings/api-1',
    '/discovery/resources',
  ];
  const askAll = (headers = {}) => Promise.all(paths.map((path) => ask(server, path, { headers })));
  const forget = ({ status, headers, text }: Awaited<ReturnType<typeof ask>>) => {
    const { date: _date, 'x-request-id': _id, ...rest } = headers;
    return [status, rest, text.replace(/"generated_at":"[^"]+"/, '')];
  };
  const [first, again] = [await askAll(), await askAll()];
  expect(again.map(forget)).toEqual(first.map(forget));
  const [packed, packedAgain] = [
    await askAll({ 'Accept-Encoding': 'gzip' }),
    await askAll({ 'Accept-Encoding': 'gzip' }),
  ];
  expect(packedAgain.map(({ headers }) => headers['content-encoding'])).toEqual(
    first.map(({ body }) => (body.length >= 1024 ? 'gzip' : undefined)),
  );
  expect(packedAgain.map(({ headers }) => headers.etag)).toEqual(packed.map(({ headers }) => headers.etag));

  for (let round = 0; round < 20; round += 1) {
    await server.fixture.put([1], `zebra number${round}`);
    await server.catchUp();
    const next = await askAll();
    expect(next.map(({ text }) => text.includes(`zebra number${round}`))).toEqual(paths.map(() => true));
    expect(await (await call(server, { q: `number${round}` })).text()).toContain(`zebra number${round}`);
  }
});

it('says when it was made: for as long as it is given again, hardly any time passes', async () => {
  const server = await serve();
  const getTime = async () => Date.parse(JSON.parse((await ask(server, '/agent/list')).text).catalogue.generated_at);
  for (let round = 0; round < 5; round += 1) {
    const before = Date.now();
    expect(await getTime()).toBeGreaterThan(before - 1100);
    await sleep(30);
  }
});

it('gives nobody an answer to what another may ask and he may not', async () => {
  const server = await serve();
  const [allowed, again] = [await call(server, { q: 'first' }), await call(server, { q: 'first' })];
  expect([allowed.status, again.status]).toEqual([200, 200]);
  expect(await again.text()).toBe(await allowed.text());
  const [other, stranger, wrong] = await Promise.all([
    call(server, { q: 'first' }, { 'MCP-Protocol-Version': '1999-01-01' }),
    call(server, { q: 'first' }, { Accept: 'text/html' }),
    call(server, { q: 'first', colour: 'red' }),
  ]);
  expect([other.status, stranger.status]).toEqual([400, 406]);
  expect(await wrong.text()).toContain('There is no argument');
});

it('survives a message that breaks off', async () => {
  const server = await serve();
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{"json',
  );
  await sleep(50);
  socket.destroy();
  await sleep(50);
  expect((await call(server, { q: 'first' })).status).toBe(200);
  expect(server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
