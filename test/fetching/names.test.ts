import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Outside, openOutside, PUBLIC_ADDRESS, PUBLIC_ADDRESS_V6 } from './outside.ts';

let outside: Outside;

beforeEach(async () => {
  outside = await openOutside((request, _raw, response) => {
    response.end(request.headers.host);
    if (request.url === '/close') response.socket?.end();
  });
});
afterEach(() => outside.close());

describe('a name', () => {
  it('is resolved once and stays the name for Host, SNI and certificate', async () => {
    const client = outside.openClient();
    const response = await client.fetch(outside.url('/a', 'eu.provider.example'));
    expect(Buffer.from(response.body).toString()).toBe(`eu.provider.example:${outside.port}`);
    expect(outside.resolved).toEqual(['eu.provider.example']);
    expect(outside.dialled).toEqual([PUBLIC_ADDRESS]);
  });

  it('whose answer changes to a private address after the check is still dialled where it was checked', async () => {
    const answers = [[PUBLIC_ADDRESS], ['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const client = outside.openClient({ network: { resolve: async () => answers[asked++] ?? [] } });
    expect((await client.fetch(outside.url('/close'))).status).toBe(200);
    expect(asked).toBe(1);
    expect(outside.getConnectionCount()).toBe(1);
    // The next connection looks the name up once more and is refused: the loopback address is never dialled.
    await expect(client.fetch(outside.url('/close'))).rejects.toMatchObject({
      reason: 'blocked_address',
      details: { host: 'provider.example', sent: false },
    });
    expect(asked).toBe(2);
    await expect(client.fetch(outside.url('/close'))).rejects.toMatchObject({ reason: 'blocked_address' });
    expect(asked).toBe(3);
    expect(outside.dialled).toEqual([PUBLIC_ADDRESS]);
    expect(outside.getConnectionCount()).toBe(1);
  });

  it('keeps its checked connection for requests to the same origin, and for no other origin', async () => {
    const answers = [[PUBLIC_ADDRESS], ['127.0.0.1']];
    let asked = 0;
    const client = outside.openClient({ network: { resolve: async () => answers[asked++] ?? [] } });
    await client.fetch(outside.url('/1'));
    // The HTTP library releases a connection on the next turn of the event loop.
    await setImmediate();
    await client.fetch(outside.url('/2'));
    expect([asked, outside.getConnectionCount()]).toEqual([1, 1]);
    await expect(client.fetch(outside.url('/3', 'other.provider.example'))).rejects.toMatchObject({
      reason: 'blocked_address',
    });
    expect([asked, outside.getConnectionCount()]).toEqual([2, 1]);
  });

  it.each([
    [[PUBLIC_ADDRESS, '127.0.0.1']],
    [['10.0.0.1', PUBLIC_ADDRESS]],
    [[PUBLIC_ADDRESS, PUBLIC_ADDRESS_V6, '::1']],
    [[PUBLIC_ADDRESS_V6, '::ffff:127.0.0.1']],
    [[PUBLIC_ADDRESS, 'fd00::1']],
    [[PUBLIC_ADDRESS, '169.254.169.254']],
    [[PUBLIC_ADDRESS, 'nonsense']],
    [[PUBLIC_ADDRESS, 'fe80::1%eth0']],
    [['64:ff9b::7f00:1']],
  ])('is refused when one of its addresses is forbidden: %j', async (addresses) => {
    const client = outside.openClient({ network: { resolve: async () => addresses } });
    await expect(client.fetch(outside.url())).rejects.toMatchObject({ reason: 'blocked_address', code: 'refused' });
    expect(outside.dialled).toEqual([]);
    expect(outside.getConnectionCount()).toBe(0);
  });

  it('is tried at its other addresses if the first one refuses', async () => {
    const client = outside.openClient({
      network: {
        resolve: async () => ['8.8.4.4', PUBLIC_ADDRESS],
        // Nobody listens there: the counter of this suite is bound to 127.0.0.1 only.
        reroute: (address) => (address === PUBLIC_ADDRESS ? '127.0.0.1' : '127.255.255.254'),
      },
    });
    expect((await client.fetch(outside.url())).status).toBe(200);
  });

  it('without addresses differs from one whose lookup fails', async () => {
    const none = outside.openClient({ network: { resolve: async () => [] } });
    await expect(none.fetch(outside.url())).rejects.toMatchObject({ reason: 'name_not_resolved', code: 'unavailable' });
    const failing = outside.openClient({
      network: {
        resolve: async () => {
          throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
        },
      },
    });
    await expect(failing.fetch(outside.url())).rejects.toMatchObject({
      reason: 'name_not_resolved',
      message: 'The host provider.example could not be resolved to an address (ENOTFOUND).',
    });
  });

  it('whose name server never answers takes no longer than the connect time limit', async () => {
    const client = outside.openClient({
      limits: { connectMs: 100 },
      network: { resolve: () => new Promise(() => undefined) },
    });
    await expect(client.fetch(outside.url())).rejects.toMatchObject({ reason: 'timeout', details: { sent: false } });
  });
});
