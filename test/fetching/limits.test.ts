import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GuardedClient } from '../../src/fetching/client.ts';
import { type Outside, openOutside, PUBLIC_ADDRESS } from './outside.ts';

let outside: Outside;
let client: GuardedClient;
/** Bytes that the endless body has written before the connection was cut. */
let written = 0;

const LIMITS = { connectMs: 500, totalMs: 500, headerBytes: 32 * 1024, bodyBytes: 100_000, decodedBytes: 200_000 };

const LATE_MS = 100;

const ANSWERS: Record<string, (response: ServerResponse) => unknown> = {
  '/body/100000': (response) => response.end('x'.repeat(100_000)),
  '/body/100001': (response) => response.setHeader('content-length', 100_001).end('x'.repeat(100_001)),
  '/chunked/100000': async (response) => {
    for (let part = 0; part < 10; part += 1) response.write('x'.repeat(10_000));
    response.end();
  },
  '/endless': async (response) => {
    const chunk = Buffer.alloc(16_384);
    while (!response.destroyed) {
      written += chunk.length;
      if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  },
  '/drip': async (response) => {
    while (!response.destroyed) {
      response.write('x');
      await sleep(20);
    }
  },
  '/late-end': async (response) => {
    response.write('x');
    await sleep(LATE_MS);
    response.end('x');
  },
  '/silent': () => undefined,
  '/headers/24': (response) => response.setHeader('x-fill', 'x'.repeat(24 * 1024)).end('ok'),
  '/headers/40': (response) => response.setHeader('x-fill', 'x'.repeat(40 * 1024)).end('ok'),
  '/interim': async (response) => {
    while (!response.destroyed) {
      response.writeProcessing();
      await sleep(5);
    }
  },
  '/slow-redirect': async (response) => {
    await sleep(200);
    response.writeHead(302, { location: '/slow-redirect' }).end();
  },
  '/big-redirect': (response) => {
    response.writeHead(302, { location: '/body/100000' });
    return ANSWERS['/endless']?.(response);
  },
};

beforeEach(async () => {
  written = 0;
  outside = await openOutside((request, _raw, response) => ANSWERS[request.url]?.(response));
  client = outside.openClient({ limits: LIMITS });
});
afterEach(() => outside.close());

async function expectNothingOpen(): Promise<void> {
  await expect.poll(() => outside.getOpenCount()).toBe(0);
}

describe('an answer', () => {
  it.each(['/body/100000', '/chunked/100000'])('of exactly the limit is taken: %s', async (path) => {
    expect((await client.fetch(outside.url(path))).receivedBytes).toBe(100_000);
  });

  it.each(['/body/100001', '/endless'])('of more bytes is ended while it is read: %s', async (path) => {
    await expect(client.fetch(outside.url(path))).rejects.toMatchObject({ reason: 'too_large', code: 'refused' });
    await expectNothingOpen();
    // The rest of an endless body stays in the buffers of two sockets.
    expect(written).toBeLessThan(20_000_000);
  });

  it('obeys the limits of its own call', async () => {
    const options = { limits: { bodyBytes: 50_000 } };
    await expect(client.fetch(outside.url('/body/100000'), options)).rejects.toMatchObject({ reason: 'too_large' });
    expect((await client.fetch(outside.url('/body/100001'), { limits: { bodyBytes: 200_000 } })).status).toBe(200);
  });

  it('keeps as much of its body as its status wants, and counts the rest', async () => {
    const getWantedBytes = (status: number) => (status === 200 ? 10 : 0);
    const response = await client.fetch(outside.url('/chunked/100000'), { getWantedBytes });
    expect([response.body.byteLength, response.receivedBytes, response.isCut]).toEqual([10, 100_000, true]);
    expect((await client.fetch(outside.url('/body/100000'), { getWantedBytes: () => 0 })).body).toHaveLength(0);
    await expect(client.fetch(outside.url('/endless'), { getWantedBytes })).rejects.toMatchObject({
      reason: 'too_large',
    });
  });

  it('says how long it took from the request to its last byte, without opening the connection', async () => {
    const { elapsedMs } = await client.fetch(outside.url('/late-end'));
    expect(elapsedMs).toBeGreaterThanOrEqual(LATE_MS - 1);
    const slow = outside.openClient({ network: { resolve: () => sleep(LATE_MS, [PUBLIC_ADDRESS]) } });
    const started = performance.now();
    const answer = await slow.fetch(outside.url('/body/100000'));
    expect(answer.elapsedMs).toBeLessThanOrEqual(performance.now() - started - LATE_MS + 1);
  });

  it('to HEAD has no body, whatever length it announces', async () => {
    const response = await client.fetch(outside.url('/body/100001'), { method: 'HEAD' });
    expect([response.headers.get('content-length'), response.body.byteLength]).toEqual(['100001', 0]);
  });

  it.each(['/silent', '/drip', '/interim', '/slow-redirect'])('that takes too long is ended: %s', async (path) => {
    const started = performance.now();
    await expect(client.fetch(outside.url(path))).rejects.toMatchObject({ reason: 'timeout', details: { sent: true } });
    expect(performance.now() - started).toBeGreaterThan(450);
    await expectNothingOpen();
  });

  it('may have headers over 16 KB up to the limit', async () => {
    expect((await client.fetch(outside.url('/headers/24'))).headers.get('x-fill')).toHaveLength(24 * 1024);
    const failing = client.fetch(outside.url('/headers/40', 'other.provider.example'));
    await expect(failing).rejects.toMatchObject({ reason: 'too_large' });
    // The first connection is kept.
    await expect.poll(() => outside.getOpenCount()).toBe(1);
  });

  it('that redirects is read only up to its headers', async () => {
    expect((await client.fetch(outside.url('/big-redirect'))).receivedBytes).toBe(100_000);
    expect(written).toBeLessThan(20_000_000);
  });
});

describe('a fetch', () => {
  it('takes a challenge of 100 KB in a header within the default limits', async () => {
    const open = await openOutside((_request, _raw, response) => {
      response
        .setHeader('payment-required', 'x'.repeat(100 * 1024))
        .writeHead(402)
        .end();
    });
    expect((await open.openClient().fetch(open.url())).headers.get('payment-required')).toHaveLength(100 * 1024);
    await open.close();
  });

  it('stops with its signal: before it begins, while it waits, while it reads', async () => {
    const already = client.fetch(outside.url('/drip'), { signal: AbortSignal.abort() });
    await expect(already).rejects.toMatchObject({ reason: 'aborted', details: { sent: false } });
    expect(outside.getConnectionCount()).toBe(0);
    for (const path of ['/silent', '/drip']) {
      const ending = new AbortController();
      const running = client.fetch(outside.url(path), { signal: ending.signal });
      setTimeout(() => ending.abort(), 100);
      await expect(running).rejects.toMatchObject({ reason: 'aborted', details: { sent: true } });
      await expectNothingOpen();
    }
  });

  it('stops while its name is looked up, and sends nothing when the answer comes late', async () => {
    const { promise, resolve } = Promise.withResolvers<readonly string[]>();
    const waiting = outside.openClient({ network: { resolve: () => promise } });
    const ending = new AbortController();
    const running = waiting.fetch(outside.url('/drip'), { signal: ending.signal });
    setTimeout(() => ending.abort(), 50);
    await expect(running).rejects.toMatchObject({ reason: 'aborted', details: { sent: false } });
    resolve(['93.184.216.34']);
    await sleep(100);
    await expectNothingOpen();
    expect(outside.received).toEqual([]);
  });

  it('ends when its client is closed, and none begins afterwards', async () => {
    const running = [client.fetch(outside.url('/silent')), client.fetch(outside.url('/drip'))];
    const outcomes = Promise.allSettled(running);
    await expect.poll(() => outside.received.length).toBe(2);
    await client.close();
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { reason: 'closed' } });
    await expect(client.fetch(outside.url('/drip'))).rejects.toMatchObject({ reason: 'closed' });
    await client.close();
    await expectNothingOpen();
  });

  it('ends with its client while the connection is still being opened', async () => {
    const waiting = outside.openClient({ network: { resolve: () => new Promise(() => undefined) } });
    const running = expect(waiting.fetch(outside.url())).rejects.toMatchObject({ reason: 'closed' });
    await sleep(20);
    await waiting.close();
    await running;
  });
});
