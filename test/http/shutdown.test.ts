import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Agent, createServer, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { drain, LIMITS } from '../../src/http/listening.ts';
import { startServer } from '../../src/http/server.ts';
import { listen } from '../../src/listen.ts';
import { makeFolder } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { ask, serveSiteFixture } from './running.ts';

const silent = pino({ level: 'silent' });

it('finishes what is in flight, takes nothing new, and drops idle connections soon', async () => {
  const server = await serveSiteFixture({ written: false });
  const { port } = new URL(server.url);
  const idle = connect(Number(port), '127.0.0.1');
  idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(idle, 'data');
  const agent = new Agent({ keepAlive: true });
  // A request whose body is still to come is in flight.
  const slow = httpRequest(`${server.url}/mcp`, {
    method: 'POST',
    agent,
    headers: { 'Content-Length': '2', 'Content-Type': 'application/json', Expect: '100-continue' },
  });
  const answered = once(slow, 'response');
  const arrived = once(slow, 'continue');
  slow.write('{');
  await arrived;

  const closing = server.close();
  await once(idle, 'close');
  const refused: string[] = [];
  const knock = async () => {
    const error = await ask(server, '/healthz').then(
      () => ({ code: 'answered' }),
      (failure) => failure,
    );
    refused.push(error.code);
    return error.code;
  };
  await expect.poll(knock).toBe('ECONNREFUSED');
  // A connection at the very moment at which the port is given up is reset.
  expect(refused.filter((code) => code !== 'ECONNRESET' && code !== 'ECONNREFUSED')).toEqual([]);
  slow.end('}');
  const [response] = await answered;
  expect(response.statusCode).toBeLessThan(500);
  response.resume();
  await closing;
});

it('cuts off what does not end in time', async () => {
  const server = createServer(() => undefined);
  await listen(server, { ...(await makeSiteFixture(makeFolder())).config, port: 0 });
  const address = server.address();
  const client = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await sleep(50);
  await drain(server, 100);
  client.destroy();
});

it('says in one sentence that the port is in use, and leaves nothing open', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => {
    other.close();
  });
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const { config } = await makeSiteFixture(makeFolder());
  await expect(startServer({ config: { ...config, port }, logger: silent })).rejects.toMatchObject({
    code: 'conflict',
    reason: 'port_in_use',
    message: `Port ${port} on 127.0.0.1 is in use by another program.`,
    hint: 'Stop that one, or set PORT to another port.',
  });
  await expect(startServer({ config: { ...config, host: '192.0.2.1' }, logger: silent })).rejects.toMatchObject({
    reason: 'cannot_listen',
  });
});

it('soon drops who does not finish the head of a request in time', async () => {
  const server = createServer({ ...LIMITS, headersTimeout: 200 }, () => undefined);
  await listen(server, { ...(await makeSiteFixture(makeFolder())).config, port: 0 });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const client = connect(typeof address === 'object' && address ? address.port : 0, '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  const [answer] = await once(client, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
});

it('refuses a request head that is too large', async () => {
  const server = await serveSiteFixture({ written: false });
  const large = await ask(server, '/', { headers: { 'X-Large': 'x'.repeat(20_000) } });
  expect(large.status).toBe(431);
});

it('leaves no journal of the published catalogue, which the next start would have to read', async () => {
  const { config } = await makeSiteFixture(makeFolder());
  const server = await startServer({ config, logger: silent });
  expect((await ask(server, '/agent/list')).status).toBe(200);
  const journal = `${config.publishedFile}-wal`;
  expect(existsSync(journal)).toBe(true);
  await server.close();
  expect(existsSync(journal)).toBe(false);
});
