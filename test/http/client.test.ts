import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { buildClientReader } from '../../src/http/client.ts';
import { ask } from './running.ts';

/** Serves, to whoever asks over loopback, the name under which it is counted. */
async function serveReader(trusted: readonly string[]) {
  const getClient = buildClientReader(trusted);
  const server = createServer((request, response) => response.end(getClient(request)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return async (forwarded?: string, headers: Record<string, string> = {}) =>
    (await ask({ url }, '/', { headers: { ...headers, ...(forwarded && { 'X-Forwarded-For': forwarded }) } })).text;
}

describe('a client', () => {
  it('is the peer while no proxy is trusted, whatever is claimed', async () => {
    for (const trusted of [[], ['192.0.2.1'], ['10.0.0.0/8', 'uniquelocal']]) {
      const getClient = await serveReader(trusted);
      expect(await getClient()).toBe('127.0.0.1');
      expect(await getClient('203.0.113.9')).toBe('127.0.0.1');
    }
  });

  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9, 10.0.0.2, 127.0.0.5', '203.0.113.9'],
    ['10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['203.0.113.9:4711, 10.0.0.2:80', '203.0.113.9'],
    ['[2001:db8::1]:4711', '2001:db8::/64'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
  ])('is, of the chain %s behind trusted proxies, the last that is none: %s', async (chain, client) => {
    const getClient = await serveReader(['loopback', '10.0.0.0/8']);
    expect(await getClient(chain)).toBe(client);
  });

  it.each(['unknown', 'evil, unknown', '"203.0.113.9"', '203.0.113.999', '1.2.3', '_hidden', ',,,', 'a'.repeat(9000)])(
    'is the proxy where what it passes on is no address: %s',
    async (garbage) => {
      const getClient = await serveReader(['loopback', '10.0.0.0/8']);
      expect(await getClient(garbage)).toBe('127.0.0.1');
      expect(await getClient(`${garbage}, 10.0.0.2`)).toBe('10.0.0.2');
    },
  );

  it('is not read from Forwarded or the like', async () => {
    const getClient = await serveReader(['loopback']);
    const claims = { Forwarded: 'for=203.0.113.9', 'X-Real-IP': '203.0.113.9', 'CF-Connecting-IP': '203.0.113.9' };
    expect(await getClient(undefined, claims)).toBe('127.0.0.1');
  });

  it.each([
    [['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:0DB8:0001:0002::', '2001:db8:1:2:0:0:192.0.2.1']],
    [['::1', '::2', '0:0:0:0:0:0:0:9']],
    [['fe80::1', 'fe80::abcd%eth0']],
  ])('is one /64 of IPv6 in any spelling: %s', async (addresses) => {
    const getClient = await serveReader(['127.0.0.1']);
    const names = await Promise.all(addresses.map((address) => getClient(address)));
    expect(new Set(names).size).toBe(1);
    expect(names[0]).toMatch(/^[0-9a-f:]*::\/64$/);
    expect(await getClient('2001:db8:1:3::1')).not.toBe(names[0]);
  });
});
