import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../builders.ts';
import { listProcesses, waitForEnd } from '../http/npm.ts';
import { start, waitForUrl } from '../http/starting.ts';
import { skipWithout } from '../skipped.ts';

/** Holds up the only thread that runs JavaScript at a signal, as a hang does, but without using a processor. */
const HANG = `process.once('SIGUSR2', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));`;

it('ends a server that hangs, with all that it started, and the log says so', async (context) => {
  skipWithout('processes', context);
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(HANG)}`;
  const server = start(makeFolder(), { NODE_OPTIONS, LOG_LEVEL: 'debug' });
  await waitForUrl(server);
  await expect.poll(() => server.said.err).toContain('a hang would be noticed from now on');
  const pids = listProcesses(server.child);
  server.child.kill('SIGUSR2');
  await server.ended;
  expect(server.child.signalCode).toBe('SIGKILL');
  const line = server.said.err.trimEnd().split('\n').at(-1) ?? '';
  expect(JSON.parse(line)).toEqual({
    ...{ level: 60, time: expect.any(Number), silent_ms: 30_000 },
    msg: 'The server did nothing for 30 seconds: it hangs, and ends itself to be started again.',
  });
  await waitForEnd(pids);
});

it('watches a server that has a request to answer from the start on', async () => {
  const server = start(makeFolder(), { LOG_LEVEL: 'debug' });
  const { hostname, host, port } = new URL(await waitForUrl(server));
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  let isOver = false;
  socket.resume().once('close', () => {
    isOver = true;
  });
  socket.write(`POST /mcp HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`);
  await expect.poll(() => server.said.err).toContain('a hang would be noticed from now on');
  expect(isOver).toBe(false);
});
