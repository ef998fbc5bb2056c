import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { CLIENTS } from '../mcp/clients.ts';
import { makeMany, serveMcp } from '../mcp/serving.ts';

const CALLS = 80;
const ROUNDS = 6;
/** What may be left over of one call: far less than the server and transport that each call is given. */
const BYTES_A_CALL = 4_000;

describe.each(Object.entries(CLIENTS))('%s', (_name, connect) => {
  it(`leaves nothing behind after ${CALLS} calls`, async () => {
    const { url, errors } = await serveMcp(makeMany(20));
    const client = await connect(url);
    const callMany = async () => {
      for (let call = 0; call < CALLS; call += 1) {
        const { isError } = await client.call('search_listings', { q: `number ${call % 20}`, limit: 3 });
        if (isError) throw new Error('a call failed');
      }
    };
    await callMany();
    // What grows once was loaded or compiled meanwhile; what is left over of calls grows each time.
    let grown = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS && grown >= BYTES_A_CALL; round += 1) {
      const before = getHeapUsed();
      await callMany();
      grown = (getHeapUsed() - before) / CALLS;
    }
    expect(grown).toBeLessThan(BYTES_A_CALL);
    expect(errors).toEqual([]);
  });
});

function getHeapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') for (let round = 0; round < 2; round += 1) collect();
  return process.memoryUsage().heapUsed;
}
