import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { openGuardedClient } from '../../src/fetching/client.ts';
import { listen } from './outside.ts';

const BYTES = 2_000_000;

it('four bodies of 2 MB in chunks of one byte need little more memory than their size', async () => {
  const host = fork(resolve(import.meta.dirname, 'trickle.ts'), [String(BYTES)], { execArgv: [] });
  onTestFinished(() => {
    host.kill('SIGKILL');
  });
  const [address] = await once(host, 'message');
  const url = `http://127.0.0.1:${z.object({ port: z.int() }).parse(address).port}/`;
  const reader = fork(resolve(import.meta.dirname, 'trickled-reader.ts'), [url, '4'], { execArgv: [], silent: true });
  onTestFinished(() => {
    reader.kill('SIGKILL');
  });
  const { bytes, grown } = JSON.parse(await text(reader.stdout ?? Readable.from([])));
  expect(bytes).toEqual(Array(4).fill(BYTES));
  // With an object for each chunk it was more than 1,000 MB.
  expect(grown).toBeLessThan((4 * BYTES) / 1e6 + 40);
});

it.each([
  ['fields', 257, 0],
  ['answers before the answer', 1, 300],
])('an answer with too many header %s is refused', async (_what, fields, interim) => {
  const server = createServer((_request, response) => {
    for (let count = 0; count < interim; count += 1) response.writeProcessing();
    response.sendDate = false;
    for (let count = 0; count < fields; count += 1) response.setHeader(`x-${count}`, 'x');
    response.end();
  });
  const { port, close } = await listen(server);
  onTestFinished(close);
  const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1' });
  onTestFinished(client.close);
  await expect(client.fetch(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ reason: 'too_large' });
});
