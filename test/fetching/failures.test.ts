import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { buildCertificate } from './certificate.ts';
import { joinOutside, listen, type Outside, openOutside } from './outside.ts';

const DAY_MS = 86_400_000;
const open: { close: () => Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function keep<T extends { close: () => Promise<void> }>(one: T): T {
  open.push(one);
  return one;
}

/** A TLS server with a valid certificate that answers every request with the given bytes, and then may hang up. */
async function openSpeaker(answer: string, hangUp = true): Promise<{ outside: Outside; roots: string }> {
  const certificate = buildCertificate({ names: ['provider.example'] });
  const server = createTlsServer(certificate, (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => (hangUp ? socket.end(answer) : socket.write(answer)));
  });
  return { outside: keep(joinOutside(await listen(server))), roots: certificate.cert };
}

describe('a connection', () => {
  it.each([
    ['by an unknown authority', { names: ['provider.example'] }, false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['for another name', { names: ['other.example'] }, true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'that has expired',
      { names: ['provider.example'], notBefore: new Date(0), notAfter: new Date(DAY_MS) },
      true,
      'CERT_HAS_EXPIRED',
    ],
    [
      'not yet valid',
      {
        names: ['provider.example'],
        notBefore: new Date(Date.now() + DAY_MS),
        notAfter: new Date(Date.now() + 2 * DAY_MS),
      },
      true,
      'CERT_NOT_YET_VALID',
    ],
  ])('with a certificate %s is not used', async (_what, options, isTrusted, word) => {
    const certificate = buildCertificate(options);
    const server = createHttpsServer(certificate, (_request, response) => response.end());
    const outside = keep(joinOutside(await listen(server)));
    const client = outside.openClient({ network: { trustedRoots: isTrusted ? certificate.cert : undefined } });
    await expect(client.fetch(outside.url())).rejects.toMatchObject({
      reason: 'tls',
      message: `The host provider.example offers no trustworthy TLS (${word}).`,
      details: { host: 'provider.example', sent: false },
    });
    await expect.poll(() => outside.getOpenCount()).toBe(0);
  });

  it('to a bare address must have that address in its certificate', async () => {
    const { cert, key } = buildCertificate({ names: ['127.0.0.1'] });
    const server = createHttpsServer({ cert, key }, (_request, response) => response.end());
    const { port } = keep(await listen(server, '0.0.0.0'));
    const network = { trustedRoots: cert };
    const client = keep(openGuardedClient({ allowPrivateNetworks: true, userAgent: 'test-agent/1', network }));
    expect((await client.fetch(`https://127.0.0.1:${port}/`)).status).toBe(200);
    await expect(client.fetch(`https://127.0.0.2:${port}/`)).rejects.toMatchObject({ reason: 'tls' });
  });

  it('to a server without TLS, or that hangs up during TLS, fails in TLS', async () => {
    const plain = keep(joinOutside(await listen(createHttpServer((_request, response) => response.end()))));
    await expect(plain.openClient().fetch(plain.url())).rejects.toMatchObject({
      reason: 'tls',
      details: { sent: false },
    });
    const rude = keep(
      joinOutside(await listen(createTcpServer((socket) => socket.once('data', () => socket.destroy())))),
    );
    await expect(rude.openClient().fetch(rude.url())).rejects.toMatchObject({ reason: 'tls' });
  });

  it('whose TLS handshake gets no answer ends with the connect time limit', async () => {
    const mute = keep(joinOutside(await listen(createTcpServer((socket) => socket.resume()))));
    const client = mute.openClient({ limits: { connectMs: 100 } });
    await expect(client.fetch(mute.url())).rejects.toMatchObject({ reason: 'timeout', details: { sent: false } });
    await expect.poll(() => mute.getOpenCount()).toBe(0);
  });

  it('that is still being opened is closed with the client', async () => {
    const mute = keep(joinOutside(await listen(createTcpServer((socket) => socket.resume()))));
    const client = mute.openClient();
    const running = expect(client.fetch(mute.url())).rejects.toMatchObject({ reason: 'closed' });
    await expect.poll(() => mute.getOpenCount()).toBe(1);
    await client.close();
    await running;
    await expect.poll(() => mute.getOpenCount()).toBe(0);
  });

  it('without a listener is refused', async () => {
    const gone = joinOutside(await listen(createTcpServer()));
    const client = keep(gone.openClient());
    await gone.close();
    const again = keep(gone.openClient());
    await expect(again.fetch(gone.url())).rejects.toMatchObject({
      reason: 'refused',
      code: 'unavailable',
      message: 'The host provider.example does not take connections (ECONNREFUSED).',
      details: { sent: false },
    });
    await expect(client.fetch(gone.url())).rejects.toMatchObject({ reason: 'closed' });
  });
});

describe('an answer', () => {
  it.each([
    ['of another protocol', 'malformed', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['with a broken header', 'malformed', 'HTTP/1.1 200 OK\r\nbad header\r\n\r\n'],
    ['with two lengths', 'malformed', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc'],
    [
      'with a length and chunks',
      'malformed',
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['with a bad chunk', 'malformed', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['that breaks off', 'disconnected', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['that breaks off in its head', 'disconnected', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['that never comes', 'disconnected', ''],
    [
      'that switches protocols',
      'disconnected',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
  ])('%s is reported as %s', async (_what, reason, answer) => {
    const { outside, roots } = await openSpeaker(answer);
    const client = outside.openClient({ network: { trustedRoots: roots } });
    await expect(client.fetch(outside.url())).rejects.toMatchObject({ reason, details: { sent: true } });
    await expect.poll(() => outside.getOpenCount()).toBe(0);
  });

  it('keeps repeated headers and bytes beyond ASCII', async () => {
    const head =
      'HTTP/1.1 200 OK\r\nset-cookie: a=1\r\nset-cookie: b=2\r\nx-name: caf\u00e9\r\nx-emoji: \ud83d\ude00\r\n__proto__: x\r\n';
    const { outside, roots } = await openSpeaker(`${head}content-length: 0\r\n\r\n`);
    const response = await outside.openClient({ network: { trustedRoots: roots } }).fetch(outside.url());
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(Buffer.from(response.headers.get('x-name') ?? '', 'latin1').toString()).toBe('café');
    expect(Buffer.from(response.headers.get('x-emoji') ?? '', 'latin1').toString()).toBe('😀');
  });
});

describe('a request', () => {
  it('that may not be sent is refused before any connection, without quoting values', async () => {
    const outside = keep(await openOutside((_request, _raw, response) => response.end()));
    const client = outside.openClient();
    const bad = [
      { headers: { Host: 'secret.example' } },
      { headers: { 'Transfer-Encoding': 'chunked' } },
      { headers: { 'Content-Length': '7' } },
      { headers: { 'x-a': 'secret\r\nx-b: secret' } },
      { headers: { 'x-a': 'secret\ud83d\ude00' } },
      { headers: { 'x a': 'secret' } },
      { method: 'CONNECT' },
      { method: 'trace' },
      { method: 'GET / HTTP/1.1\r\nx: secret\r\n' },
    ];
    for (const init of bad) {
      const failure = await client.fetch(outside.url('/?secret'), init).catch((error: unknown) => error);
      expect(failure).toMatchObject({ reason: 'bad_request', code: 'bad_input', details: { sent: false } });
      expect(String(failure)).not.toContain('secret');
    }
    expect(outside.getConnectionCount()).toBe(0);
  });

  it('arrives as given, with our user agent', async () => {
    const outside = keep(await openOutside((_request, _raw, response) => response.writeHead(402).end('pay')));
    const body = new TextEncoder().encode('{"a":"ä"}');
    const headers = { 'Content-Type': 'application/json', 'X-PAYMENT': 'signed' };
    const response = await outside
      .openClient()
      .fetch(new URL(outside.url('/v1/x?q=1#f')), { method: 'post', headers, body });
    expect(response).toMatchObject({ status: 402, url: outside.url('/v1/x?q=1'), redirects: [], receivedBytes: 3 });
    expect(outside.received).toMatchObject([
      {
        method: 'POST',
        url: '/v1/x?q=1',
        body: '{"a":"ä"}',
        headers: { 'x-payment': 'signed', 'user-agent': 'test-agent/1' },
      },
    ]);
  });
});

describe('a client that may use private networks', () => {
  it('reaches http on loopback within all other limits', async () => {
    const server = createHttpServer((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/' });
      response.end('x'.repeat(50));
    });
    const listening = keep(await listen(server));
    const client = keep(
      openGuardedClient({ allowPrivateNetworks: true, userAgent: 'test-agent/1', limits: { bodyBytes: 50 } }),
    );
    for (const host of ['127.0.0.1', 'localhost']) {
      expect((await client.fetch(`http://${host}:${listening.port}/`)).receivedBytes).toBe(50);
    }
    await expect(client.fetch(`http://127.0.0.1:${listening.port}/away`)).rejects.toMatchObject({
      reason: 'blocked_address',
    });
    const small = { limits: { bodyBytes: 49 } };
    await expect(client.fetch(`http://127.0.0.1:${listening.port}/`, small)).rejects.toMatchObject({
      reason: 'too_large',
    });
  });
});
