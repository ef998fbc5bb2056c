import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openNetwork } from '../../src/fetching/network.ts';
import { makeFolder } from '../builders.ts';
import { openNameServer } from './name-server.ts';

describe('a lookup', () => {
  it('returns what the name server says, and distinguishes no such name from no answer', async () => {
    const { server } = await openNameServer((name) =>
      name === 'known.example' ? ['192.0.2.1', '192.0.2.2'] : name === 'empty.example' ? [] : null,
    );
    const network = openNetwork({ servers: [server] });
    expect(await network.resolve('known.example')).toEqual(['192.0.2.1', '192.0.2.2']);
    for (const name of ['empty.example', 'none.example']) {
      await expect(network.resolve(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    }
  });

  it('uses the hosts file first, and asks nobody for localhost', async () => {
    const { server, asked } = await openNameServer(() => null);
    const hostsFile = join(makeFolder(), 'hosts');
    writeFileSync(
      hostsFile,
      '# ours\n192.0.2.7\tNamed.example  also.example # two names\n2001:db8::7 named.example\n\n',
    );
    const network = openNetwork({ servers: [server], hostsFile });
    expect(await network.resolve('named.example')).toEqual(['192.0.2.7', '2001:db8::7']);
    expect(await network.resolve('also.example')).toEqual(['192.0.2.7']);
    expect(await network.resolve('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(asked).toEqual([]);
  });

  it('ends when the network is closed', async () => {
    const { server } = await openNameServer(() => undefined);
    const network = openNetwork({ servers: [server] });
    const lookup = expect(network.resolve('silent.example')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    network.close();
    await lookup;
  });
});
