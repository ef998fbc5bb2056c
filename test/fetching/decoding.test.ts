import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GuardedClient } from '../../src/fetching/client.ts';
import { type Outside, openOutside } from './outside.ts';

const TEXT = 'The same text again and again. '.repeat(1000);
const BOMB = Buffer.alloc(30_000_000);
const bodies = new Map<string, { coding: string | string[]; body: Uint8Array }>();
const gzipped = gzipSync(TEXT);
const gzippedBomb = gzipSync(BOMB);

/** Brotli's best level takes seconds for a bomb. */
const QUICKLY = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

bodies.set('/gzip', { coding: 'gzip', body: gzipped });
bodies.set('/x-gzip', { coding: 'X-GZIP', body: gzipped });
bodies.set('/two-members', {
  coding: 'gzip',
  body: Buffer.concat([gzipSync(TEXT.slice(0, 99)), gzipSync(TEXT.slice(99))]),
});
bodies.set('/deflate', { coding: 'deflate', body: deflateSync(TEXT) });
bodies.set('/deflate-raw', { coding: 'deflate', body: deflateRawSync(TEXT) });
bodies.set('/br', { coding: 'br', body: brotliCompressSync(TEXT) });
bodies.set('/zstd', { coding: 'zstd', body: zstdCompressSync(TEXT) });
bodies.set('/identity', { coding: 'identity', body: Buffer.from(TEXT) });
bodies.set('/stacked', { coding: 'deflate, gzip', body: gzipSync(deflateSync(TEXT)) });
bodies.set('/stacked-lines', { coding: ['br', 'gzip'], body: gzipSync(brotliCompressSync(TEXT)) });

bodies.set('/bomb/gzip', { coding: 'gzip', body: gzippedBomb });
bodies.set('/bomb/deflate', { coding: 'deflate', body: deflateSync(BOMB) });
bodies.set('/bomb/br', { coding: 'br', body: brotliCompressSync(BOMB, QUICKLY) });
bodies.set('/bomb/zstd', { coding: 'zstd', body: zstdCompressSync(BOMB) });
bodies.set('/bomb/stacked', { coding: 'gzip, gzip', body: gzipSync(gzippedBomb) });
bodies.set('/bomb/inner', { coding: 'gzip, gzip', body: gzipSync(Buffer.concat([gzipSync('x'), BOMB])) });
bodies.set('/bomb/members', {
  coding: 'gzip',
  body: Buffer.concat(Array.from({ length: 100 }, () => gzipSync(BOMB.subarray(0, 50_000)))),
});

bodies.set('/bad/cut', { coding: 'gzip', body: gzipped.subarray(0, -20) });
bodies.set('/bad/damaged', {
  coding: 'gzip',
  body: Buffer.concat([gzipped.subarray(0, 30), Buffer.alloc(20, 7), gzipped.subarray(50)]),
});
bodies.set('/bad/plain', { coding: 'gzip', body: Buffer.from(TEXT) });
bodies.set('/bad/plain-br', { coding: 'br', body: Buffer.from(TEXT) });
bodies.set('/bad/plain-zstd', { coding: 'zstd', body: Buffer.from(TEXT) });
bodies.set('/bad/unknown', { coding: 'snappy', body: Buffer.from(TEXT) });
bodies.set('/bad/three', { coding: 'gzip, gzip, gzip', body: gzipSync(gzipSync(gzipped)) });
bodies.set('/bad/many', { coding: Array.from({ length: 50 }, () => 'gzip'), body: gzipped });

// One raw block, "x", in a frame that claims a window of 128 MB.
bodies.set('/bad/zstd-window', { coding: 'zstd', body: Buffer.from('28b52ffd008809000078', 'hex') });

let outside: Outside;
let client: GuardedClient;

beforeAll(async () => {
  outside = await openOutside((request, _raw, response) => {
    const { coding, body } = bodies.get(request.url) ?? { coding: 'gzip', body: new Uint8Array() };
    response.setHeader('content-encoding', coding).end(request.method === 'HEAD' ? undefined : body);
  });
  client = outside.openClient({ limits: { decodedBytes: 1_000_000 } });
});
afterAll(() => outside.close());

const listPaths = (bad: string) => [...bodies.keys()].filter((path) => path.startsWith(bad));

describe('an encoded body', () => {
  it.each([...bodies.keys()].filter((path) => !/^\/(bomb|bad)\//.test(path)))('is decoded: %s', async (path) => {
    const response = await client.fetch(outside.url(path));
    expect(Buffer.from(response.body).toString()).toBe(TEXT);
    expect(response.receivedBytes).toBe(bodies.get(path)?.body.byteLength);
  });

  it.each(listPaths('/bomb/'))('that decodes to more than the limit is refused: %s', async (path) => {
    await expect(client.fetch(outside.url(path))).rejects.toMatchObject({
      reason: 'too_large',
      details: { sent: true },
    });
  });

  it('that decodes to more than the limit is cut if that is allowed, and returned as far as wanted', async () => {
    const cut = await client.fetch(outside.url('/bomb/gzip'), { isCutAllowed: true });
    expect([cut.body.byteLength, cut.isCut]).toEqual([1_000_000, true]);
    const some = await client.fetch(outside.url('/br'), { getWantedBytes: () => 500 });
    expect([Buffer.from(some.body).toString(), some.isCut]).toEqual([TEXT.slice(0, 500), true]);
    const inner = client.fetch(outside.url('/bomb/stacked'), { isCutAllowed: true });
    expect((await inner).body.byteLength).toBe(1_000_000);
  });

  it.each(listPaths('/bad/'))('that does not match its header is malformed: %s', async (path) => {
    await expect(client.fetch(outside.url(path))).rejects.toMatchObject({ reason: 'malformed' });
  });

  it('may claim a zstd window of 8 MB and no more', async () => {
    bodies.set('/zstd-8-mb', { coding: 'zstd', body: Buffer.from('28b52ffd006809000078', 'hex') });
    expect(Buffer.from((await client.fetch(outside.url('/zstd-8-mb'))).body).toString()).toBe('x');
  });

  it('that is empty or missing is no failure', async () => {
    expect((await client.fetch(outside.url('/empty'))).body).toHaveLength(0);
    expect((await client.fetch(outside.url('/gzip'), { method: 'HEAD' })).body).toHaveLength(0);
  });

  it('is requested only in codings that can be decoded', async () => {
    await client.fetch(outside.url('/gzip'));
    expect(outside.received.at(-1)?.headers['accept-encoding']).toBe('gzip, deflate, br, zstd');
  });
});
