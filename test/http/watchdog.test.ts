import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../builders.ts';

const WATCHDOG = resolve(import.meta.dirname, '../../src/http/watchdog.ts');

/** How often a watched process shows that it is not hung, and how long it may fail to; milliseconds. */
const TICK_MS = 20;
const LIMIT_MS = 30 * TICK_MS;

/** Holds up the only thread that runs JavaScript, as a hang does, but without using a processor. */
const HOLD_UP = 'const holdUp = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);';

/** Runs code in a process that is watched, with what it says; its log goes `into` a file where one is given. */
function runWatched(code: string, { options = [], into }: { options?: string[]; into?: number } = {}) {
  const source = `
    import { startWatchdog } from ${JSON.stringify(WATCHDOG)};
    ${HOLD_UP}
    const stop = startWatchdog({ isTerminal: false, onError: (error) => { throw error; }, tickMs: ${TICK_MS} });
    ${code}`;
  const child = spawn(process.execPath, [...options, '--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', into ?? 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, said, ended: once(child, 'close') };
}

it('ends a process that is busy with one thing for ever, also where nobody reads the log', async () => {
  const busy = runWatched('for (;;);');
  await busy.ended;
  expect(busy.child.signalCode).toBe('SIGKILL');
  expect(busy.said.err.trimEnd().split('\n')).toHaveLength(1);

  const pipe = join(makeFolder(), 'log');
  execFileSync('mkfifo', [pipe]);
  const into = openSync(pipe, 'r+');
  onTestFinished(() => closeSync(into));
  const code =
    "const { writeSync } = await import('node:fs'); for (;;) try { writeSync(2, 'much'); } catch { /* full */ }";
  const unread = runWatched(code, { into });
  await unread.ended;
  expect(unread.child.signalCode).toBe('SIGKILL');
});

it('lets work go on that takes long, and ends with the process', async () => {
  const { said, ended } = runWatched(`
    const { setTimeout: sleep } = await import('node:timers/promises');
    for (let turn = 0; turn < 4; turn += 1) {
      holdUp(${LIMIT_MS / 2});
      await sleep(${2 * TICK_MS});
    }
    console.log('done');`);
  expect([await ended, said]).toEqual([[0, null], { out: 'done\n', err: '' }]);
});

it('does not take a machine or a process that was suspended for one that hangs', async () => {
  const { child, said } = runWatched(`setInterval(() => console.log('alive'), ${TICK_MS});`);
  const count = () => said.out.split('alive').length;
  await expect.poll(count).toBeGreaterThan(5);
  child.kill('SIGSTOP');
  await sleep(3 * LIMIT_MS);
  child.kill('SIGCONT');
  const before = count();
  await expect.poll(count).toBeGreaterThan(before + LIMIT_MS / TICK_MS);
  expect([child.signalCode, said.err]).toEqual([null, '']);
});

it('lets a debugger hold the process up, and can be stopped', async () => {
  const held = runWatched(`holdUp(${3 * LIMIT_MS}); console.log('done'); process.exit();`, {
    options: ['--inspect=0'],
  });
  expect([await held.ended, held.said.out]).toEqual([[0, null], 'done\n']);
  const stopped = runWatched(`stop(); holdUp(${3 * LIMIT_MS}); console.log('done');`);
  expect([await stopped.ended, stopped.said]).toEqual([[0, null], { out: 'done\n', err: '' }]);
});
