import { EventEmitter } from 'node:events';
import { expect, it, vi } from 'vitest';
import { listenForStop } from '../../src/cli/stopping.ts';

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('stops long work on %s, and says so once', (name) => {
  const fake = Object.assign(new EventEmitter(), { exit: vi.fn(), ppid: 1 });
  const onSignal = vi.fn();
  const signal = listenForStop(fake as unknown as NodeJS.Process, onSignal);
  expect(signal.aborted).toBe(false);
  fake.emit(name);
  // npm repeats at once what the terminal sent to every process.
  fake.emit(name);
  expect([signal.aborted, onSignal.mock.calls.length, fake.exit.mock.calls.length]).toEqual([true, 1, 0]);
});
