import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, shareServer } from './running.ts';

// Without a rate limit: what holds here holds for clients that stay within it.
const getServer = shareServer();

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

const write = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

describe('one client', () => {
  it('that sends a few at once is answered all, and the connection stays', async () => {
    const { url } = getServer();
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

  it('has 1,000 answers over one connection, the last of which says that there are no more', async () => {
    const { url } = getServer();
    const socket = await open(url);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.write(write('/healthz').repeat(1001));
    await expect
      .poll(() => text.match(/HTTP\/1\.1 \d+/g)?.slice(998))
      .toEqual([...['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 503']]);
    expect(text.split(/(?=HTTP\/1\.1 )/)[999]).toMatch(/^connection: close\r$/im);
  });

  it('has 100 connections at most, and leaves room for others', async () => {
    const { url } = getServer();
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

describe('a body', () => {
  const HEAD = 'POST /agent/check HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

  it.each([
    ['with a broken chunk', 'Transfer-Encoding: chunked\r\n\r\n4\r\n{"ur\r\nZZ\r\n', false],
    ['with a chunk that is longer than it says', 'Transfer-Encoding: chunked\r\n\r\n2\r\n{"url"\r\n', false],
    ['that ends early', 'Content-Length: 100\r\n\r\n{"url":', true],
  ])('%s is refused at once', async (_name, rest, isLast) => {
    const { url, logged } = getServer();
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.write(`${HEAD}${rest}`);
    if (isLast) socket.end();
    expect((await readAll(socket)).slice(9, 12)).toBe('400');
    expect(logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});

describe('an odd request', () => {
  it('for an address of thousands of slashes, or of a name too long for a file, is one for what is not there', async () => {
    const { url, logged } = getServer();
    const paths = [`/_astro/${'/'.repeat(15_000)}x`, `/${'/'.repeat(15_000)}x`, `/_astro/${'a'.repeat(300)}.css`];
    for (const path of [...paths, `/api/${'a'.repeat(5000)}`]) {
      const { status, text } = await ask({ url }, path);
      expect([404, 503]).toContain(status);
      expect(text).toMatch(/not_found|no_pages|<!DOCTYPE html>/i);
    }
    expect(logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });

  it('behind others ends the connection, and is never answered before them', async () => {
    const { url, logged } = getServer();
    const socket = await open(url);
    socket.write(`${write('/openapi.json')}GARBAGE\r\n\r\n`);
    expect(['', 'HTTP/1.1 200']).toContain((await readAll(socket)).slice(0, 12));
    expect((await ask({ url }, '/healthz')).status).toBe(200);
    expect(logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  });
});
