import { execFile } from 'node:child_process';
import { delimiter, dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import {
  isListening,
  listProcesses,
  makeProbingFolder,
  type ProbingFolder,
  runNpm,
  stopInFlight,
  waitForEnd,
} from '../http/npm.ts';

const ROOT = resolve(import.meta.dirname, '../..');

let folder: ProbingFolder;
beforeAll(async () => {
  folder = await makeProbingFolder();
});
afterAll(() => folder.close());

/**
 * Runs `npm start`, sends a signal while requests are in flight both ways, and returns, once all have ended, whether the port
 * is still taken and what was said.
 */
async function stopServer({ settings, waitForProbe }: ProbingFolder, how: NodeJS.Signals | 'Ctrl-C') {
  const asked = waitForProbe();
  const { child, find, getSaid } = runNpm(['start'], settings);
  const url = await find(/listens on (http:\S+)\. /);
  await asked;
  // Refused by the intake, which is started for that.
  const check = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"url": "x"}' };
  expect((await fetch(`${url}/providers/check`, check)).status).toBe(400);
  // Of npm, the server, the prober and the intake.
  while (listProcesses(child).length < 4) await sleep(20);
  return { isOpen: await stopInFlight({ child, url }, how), getSaid };
}

it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'Ctrl-C'] as const)(
  'npm start ends with all that it started on %s, and the port is free',
  async (how) => {
    const { isOpen, getSaid } = await stopServer(folder, how);
    expect(isOpen).toBe(false);
    if (how !== 'Ctrl-C') return;
    // It reaches npm and Node both, and is one. What a process wrote last may be read only after it is gone.
    await expect.poll(() => getSaid().match(/Stopping when the requests in flight are answered/g)).toHaveLength(1);
    expect(getSaid()).not.toContain('npm error');
  },
);

it('npm run demo opens a market, pays for real calls on both chains, serves, and ends with npm and its chains', async () => {
  const port = await findFreePort();
  // The test runner sets a BASE_URL of its own.
  const { child, find, getSaid } = runNpm(['run', 'demo'], { BASE_URL: '', PORT: String(port) });
  const url = await find(/listens on (http:\S+)\. /);
  const said = getSaid();
  expect(said).toMatch(/13 items: 13 taken, 0 refused\./);
  expect(said).toMatch(/^13\tpayable/m);
  expect(said.match(/settled, and the product came\./g)?.length).toBeGreaterThanOrEqual(8);
  expect(said).toContain('USDC on solana settled, and the product came.');
  expect(said).toContain('0.00012 of at most 0.05 USDC on base settled, and the product came.');
  expect(said).toContain('settled, but nothing was delivered: the route stays unverified.');
  const { total } = await (await fetch(`${url}/agent/list?verified=true&limit=1`)).json();
  expect(total).toBeGreaterThan(1);
  for (const network of ['Base', 'Solana']) {
    const [, id] = new RegExp(`${network.toLowerCase()}\tsettled\tyes\t(\\S+)`).exec(said) ?? [];
    const [, node = ''] = new RegExp(`^ {2}${network} +node (\\S+), key `, 'm').exec(said) ?? [];
    const { check } = await (await fetch(`${url}/agent/receipts/${id}`)).json();
    expect(await pasteIntoShell(check.command.replace('<url>', node))).toContain('The chain shows this payment');
  }
  const bought = said.match(/^ {2}[ES]VM_PRIVATE_KEY=.*$/gm)?.map(pasteIntoShell);
  expect(await Promise.all(bought ?? [])).toEqual([
    expect.stringMatching(
      /^Checked {2}match\. .*^Paid .*^Answer {3}200 \{"words":5,"sentences":2,"characters":20\}$/ms,
    ),
    expect.stringMatching(/^Checked {2}match\. .*^Paid .*^Answer {3}200 \{"kilometres":[\d.]+,"bearing":[\d.]+\}$/ms),
  ]);
  const pids = listProcesses(child);
  expect(pids.length).toBeGreaterThanOrEqual(4);
  child.kill('SIGTERM');
  await waitForEnd(pids);
  expect(await isListening(url)).toBe(false);
});

it('npm run dev serves pages from source in a fresh folder', async () => {
  const port = await findFreePort();
  const { find, child } = runNpm(['run', 'dev'], { PORT: String(port), BASE_URL: '', NODE_ENV: '', VITEST: '' });
  await find(new RegExp(`(http://127\\.0\\.0\\.1:${port}|http://localhost:${port})`));
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  const pids = listProcesses(child);
  child.kill('SIGTERM');
  await waitForEnd(pids);
});

it.each(['dev', 'rebuild', 'demo-buy', 'bench'])('says how it is called: %s', async (name) => {
  const said = await pasteIntoShell(`node --import ./scripts/require-node.mjs scripts/${name}.ts --help`);
  expect(said).toMatch(/^Usage: .*-V, --version/s);
});

it('npm run bench refuses a wrong number of listings, and measures nothing', async () => {
  await expect(pasteIntoShell('node scripts/bench.ts --listings 1000, start')).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining(
      '--listings takes whole numbers with commas between them.\nhint: npm run bench -- ',
    ),
  });
});

/** Runs a command as it is printed, in the folder of the repository, and gives what it prints. */
async function pasteIntoShell(command: string): Promise<string> {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  // The test runner sets a BASE_URL of its own.
  const env = { ...process.env, BASE_URL: '', PATH };
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { cwd: ROOT, env });
  return stdout;
}
