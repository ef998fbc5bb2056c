import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { answerInOrder, limitConnections } from '../../src/http/connections.ts';
import { makeFolder } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { ask, serveSiteFixture } from './running.ts';

/** Serves without a rate limit: what holds here holds for clients that stay within it. */
const serve = async () =>
  serveSiteFixture({
    fixture: await makeSiteFixture(makeFolder(), { settings: { RATE_LIMIT: '0' } }),
    written: false,
  });

/** Opens a connection from one of loopback's addresses, each of which is another client. */
async function open(url: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Gives all that comes over a connection until it is closed. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('utf8')) text += chunk;
  return text;
}

const listBodies = (text: string) => text.split(/(?=HTTP\/1\.1 )/).map((answer) => answer.split('\r\n\r\n')[1] ?? '');
const write = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('one client', () => {
  it('that sends 600 requests in one packet is answered 16, in their order, and others meanwhile', async () => {
    const { url } = await serve();
    const socket = await open(url);
    const paths = Array.from({ length: 600 }, (_, at) => `/agent/list?limit=${at + 1}`);
    socket.write(paths.map(write).join(''));
    const flood = readAll(socket);
    for (let time = 0; time < 5; time += 1) expect((await ask({ url }, '/agent/listings/api-1')).status).toBe(200);
    const limits = listBodies(await flood).map((body) => JSON.parse(body).filters.limit);
    expect(limits).toEqual(Array.from({ length: 16 }, (_, at) => at + 1));
  });

  it('that sends a few at once is answered all, and the connection stays', async () => {
    const { url } = await serve();
    const socket = await open(url);
    const paths = ['/agent/list?limit=1', '/healthz', '/agent/list?limit=2', '/agent/none', '/agent/list?limit=3'];
    socket.write(paths.map(write).join(''));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    await expect.poll(() => text.match(/HTTP\/1\.1 /g)?.length).toBe(paths.length);
    await expect.poll(() => text).toContain('"limit":3');
    expect(text.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(-3))).toEqual(['200', '200', '200', '404', '200']);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await once(socket, 'close');
    expect(text.match(/"alive":true/g)).toHaveLength(2);
  });

  it('has 100 connections at most, and leaves room for others', async () => {
    const { url } = await serve();
    const sockets = await Promise.all(Array.from({ length: 130 }, () => open(url, '127.0.0.9')));
    await expect.poll(() => sockets.filter((socket) => socket.closed).length).toBe(30);
    const other = await open(url, '127.0.0.10');
    other.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await readAll(other)).toContain('"alive":true');
    // Whoever closes one may open another.
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(async () => {
        const again = await open(url, '127.0.0.9');
        again.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        return readAll(again).catch(() => '');
      })
      .toContain('"alive":true');
  });
});

describe('a connection on which nothing moves', () => {
  const SHORT_MS = 50;
  /** Serves an answer that is longer than the system keeps for its reader, and one that comes late. */
  const listen = async () => {
    const server = createServer(({ url, socket }, response) => {
      socket.setTimeout(SHORT_MS);
      if (url === '/large') response.end(Buffer.alloc(64 * 1024 * 1024));
      else socket.once('timeout', () => setImmediate(() => response.end('late')));
    });
    limitConnections(server, () => false);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  };

  it('stays while its answer is still being made', async () => {
    const { url } = await listen();
    expect(await (await fetch(`${url}/late`)).text()).toBe('late');
  });

  it('is cut off where its reader does not take the answer', async () => {
    const { server, url } = await listen();
    const reader = await open(url);
    reader.pause().write(write('/large'));
    const [{ socket }, response] = await once(server, 'request');
    await once(socket, 'close');
    expect(response.writableFinished).toBe(false);
  });

  it.each([
    ['half a request', 'GET /late HTTP/1.1\r\nHost'],
    ['none', ''],
  ])('is cut off where it brings %s', async (_name, sent) => {
    const { server, url } = await listen();
    server.timeout = SHORT_MS;
    const reader = await open(url);
    reader.write(sent);
    expect(await readAll(reader)).toBe('');
  });
});

it('an answer that is never made, and all that waits behind it, is cut off after three minutes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = createServer(answerInOrder(() => undefined));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const reader = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  reader.write(write('/') + write('/'));
  const [{ socket }] = await once(server, 'request');
  vi.advanceTimersByTime(179_999);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(socket.destroyed).toBe(true);
  expect(await readAll(reader)).toBe('');
});

describe('a server that is full', () => {
  it('closes a connection of the client that has most, the oldest one, and takes the new one', async () => {
    const server = createServer((_request, response) => response.end('ok'));
    limitConnections(server, (address) => address.endsWith('.99'), 12);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const openMany = async (count: number, address: string) => {
      const sockets: Socket[] = [];
      for (let at = 0; at < count; at += 1) sockets.push(await open(url, address));
      return sockets;
    };
    const few = await openMany(2, '127.0.0.12');
    const many = await openMany(6, '127.0.0.11');
    const proxies = await openMany(4, '127.0.0.99');
    for (const address of ['127.0.0.13', '127.0.0.14', '127.0.0.15']) {
      const other = await open(url, address);
      other.write(write('/').replace('\r\n\r\n', '\r\nConnection: keep-alive\r\n\r\n'));
      const [answer] = await once(other, 'data');
      expect(String(answer)).toContain('200 OK');
    }
    await expect.poll(() => many.map(({ closed }) => closed)).toEqual([true, true, true, false, false, false]);
    expect([...few, ...proxies].map(({ closed }) => closed)).not.toContain(true);
  });
});

describe('a body', () => {
  const HEAD = 'POST /agent/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

  it.each([
    ['with a broken chunk', 'Transfer-Encoding: chunked\r\n\r\n4\r\n{"ur\r\nZZ\r\n', false],
    ['with a chunk that is longer than it says', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{"url"\r\n', false],
    ['that ends early', 'Content-Length: 100\r\n\r\n{"url":', true],
  ])('%s is refused at once, behind what was asked before', async (_name, rest, isLast) => {
    const { url, logged } = await serve();
    for (const before of ['', write('/agent/list?limit=1')]) {
      const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
      onTestFinished(() => void socket.destroy());
      socket.write(`${before}${HEAD}${rest}`);
      if (isLast) socket.end();
      const answers = (await readAll(socket)).split(/(?=HTTP\/1\.1 \d{3} )/).map((answer) => answer.slice(9, 12));
      expect(answers).toEqual(before === '' ? ['400'] : ['200', '400']);
    }
    expect(logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});

describe('an odd request', () => {
  it('for an address of thousands of slashes, or of a name too long for a file, is one for what is not there', async () => {
    const { url, logged } = await serve();
    const paths = [`/_astro/${'/'.repeat(15_000)}x`, `/${'/'.repeat(15_000)}x`, `/_astro/${'a'.repeat(300)}.css`];
    for (const path of [...paths, `/api/${'a'.repeat(5000)}`]) {
      const { status, text } = await ask({ url }, path);
      expect([404, 503]).toContain(status);
      expect(text).toMatch(/not_found|no_pages|<!DOCTYPE html>/i);
    }
    expect(logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it('behind others is refused once these are answered whole', async () => {
    const { url } = await serve();
    const socket = await open(url);
    const asked = Array.from({ length: 10 }, () => write('/openapi.json'));
    socket.write(`${asked.join('')}GARBAGE\r\n\r\n`);
    const answers = (await readAll(socket)).split(/(?=HTTP\/1\.1 \d{3} )/);
    expect(answers.map((answer) => answer.slice(9, 12))).toEqual([...asked.map(() => '200'), '400']);
    for (const answer of answers) expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toBeTypeOf('object');
  });
});
