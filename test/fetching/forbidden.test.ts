import { isIP } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseOutsideUrl } from '../../src/fetching/address.ts';
import { type GuardedClient, openGuardedClient } from '../../src/fetching/client.ts';
import { buildGuardedConnector } from '../../src/fetching/connector.ts';
import { openNetwork } from '../../src/fetching/network.ts';
import { FORBIDDEN_ADDRESSES, FORBIDDEN_HOSTS } from './forbidden-spellings.ts';
import { type Listening, openCounter, PUBLIC_ADDRESS } from './outside.ts';

const FORBIDDEN: readonly [string, string][] = [
  ...FORBIDDEN_HOSTS.flatMap(([reason, hosts]) =>
    hosts.map((host): [string, string] => [`https://${host}:{port}/`, reason]),
  ),
  ...FORBIDDEN_ADDRESSES.map(([reason, address]): [string, string] => [address, reason]),
];

let counter: Listening;
let production: GuardedClient;
/** Every name resolves to a public address, and every connection goes to the counter, so any leak is counted. */
let leaky: GuardedClient;

beforeAll(async () => {
  counter = await openCounter();
  production = openGuardedClient({ allowPrivateNetworks: false, userAgent: 'test-agent/1' });
  const network = { resolve: async () => [PUBLIC_ADDRESS], reroute: () => '127.0.0.1' };
  leaky = openGuardedClient({ allowPrivateNetworks: false, userAgent: 'test-agent/1', network });
});

afterAll(async () => {
  await Promise.all([production.close(), leaky.close(), counter.close()]);
});

describe('a forbidden address', () => {
  it('is tried in far more than 60 spellings', () => {
    expect(new Set(FORBIDDEN.map(([text]) => text)).size).toBeGreaterThan(180);
  });

  it.each(FORBIDDEN)('is refused without a connection: %j (%s)', async (template, reason) => {
    const address = template.replaceAll('{port}', String(counter.port));
    const before = counter.getConnectionCount();
    expect(parseOutsideUrl(address, { allowPrivateNetworks: false })).toMatchObject({ reason });
    await expect(production.fetch(address)).rejects.toMatchObject({ reason, details: { sent: false } });
    await expect(leaky.fetch(address)).rejects.toMatchObject({ reason, details: { sent: false } });
    expect(counter.getConnectionCount()).toBe(before);
  });

  it('is also refused by the connector, which trusts no earlier check', async () => {
    const connect = buildGuardedConnector({
      allowPrivateNetworks: false,
      connectMs: 1000,
      network: { ...openNetwork(), reroute: () => '127.0.0.1' },
    });
    const before = counter.getConnectionCount();
    const hosts = FORBIDDEN_HOSTS.filter(([reason]) => reason === 'blocked_address').flatMap(([, list]) => list);
    const literals = new Set(hosts.map((host) => new URL(`https://${host}/`).hostname.replace(/^\[|\]$/g, '')));
    expect(literals.size).toBeGreaterThan(60);
    for (const hostname of literals) {
      expect(isIP(hostname)).not.toBe(0);
      const outcome = new Promise((done) =>
        connect({ hostname, protocol: 'http:', port: String(counter.port) }, (...[error]) => done(error)),
      );
      expect(await outcome).toMatchObject({ reason: 'blocked_address' });
    }
    expect(counter.getConnectionCount()).toBe(before);
  });

  it('would have been counted: the same counter sees allowed connections', async () => {
    const before = counter.getConnectionCount();
    const open = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'test-agent/1' });
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', 'localhost']) {
      await expect(open.fetch(`http://${host}:${counter.port}/`)).rejects.toMatchObject({ reason: 'disconnected' });
    }
    await expect(leaky.fetch(`https://provider.example:${counter.port}/`)).rejects.toMatchObject({ reason: 'tls' });
    expect(counter.getConnectionCount()).toBe(before + 5);
    await open.close();
  });
});
