import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../free-port.ts';
import { skipWithout } from '../skipped.ts';
import {
  isListening,
  listProcesses,
  makeProbingFolder,
  type ProbingFolder,
  runNpm,
  stopServer,
  waitForEnd,
} from './npm.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('npm start', () => {
  skipWithout('processes');

  // One folder for all: the first start writes the pages that the others serve at once.
  let folder: ProbingFolder;
  beforeAll(async () => {
    folder = await makeProbingFolder();
  });
  afterAll(() => folder.close());

  // A signal that npm does not pass on. The others are ones that it does, and a long test sends all.
  it('ends with all that it started, a prober in the middle of a request, when npm is killed, and the port is free', async () => {
    const { processes, isOpen } = await stopServer(folder, 'SIGKILL');
    expect(processes).toBeGreaterThanOrEqual(3);
    expect(isOpen).toBe(false);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'ends with all that it started on %s while it writes the first pages, too',
    async (signal) => {
      const { child, find } = runNpm(['start']);
      await find(/(Created) /);
      while (listProcesses(child).length < 3) await sleep(20);
      const pids = listProcesses(child);
      killServer(pids, signal);
      await waitForEnd(pids);
    },
  );

  it('takes a Ctrl-C, which reaches npm and Node both, for one', async () => {
    const { isOpen, getSaid } = await stopServer(folder, 'Ctrl-C');
    expect(isOpen).toBe(false);
    // What a process wrote last may be read only after it is gone.
    await expect.poll(() => getSaid().match(/Stopping when the requests in flight are answered/g)).toHaveLength(1);
    expect(getSaid()).not.toContain('npm error');
  });

  it('probes by itself with PROBE=on, so that readers see what a route really asks', async () => {
    folder.answer();
    const { child, find } = runNpm(['start'], folder.settings);
    const url = await find(/listens on (http:\S+)\. /);
    const getPrice = async () =>
      (await (await fetch(`${url}/agent/listings/example-prices`)).json()).listing.price_min_usdc;
    await expect.poll(getPrice).toBe(0.0025);
    await find(/(1 payable_with_changed_terms)/);
    // Killed outright, it cannot end its prober.
    const pids = listProcesses(child);
    expect(pids.length).toBeGreaterThanOrEqual(3);
    killServer(pids, 'SIGKILL');
    await waitForEnd(pids);
  });
});

/** Sends a signal to the server that npm started, the second of its processes. */
function killServer([, server]: readonly number[], signal: NodeJS.Signals): void {
  if (server === undefined) throw new Error('npm started no server');
  process.kill(server, signal);
}

describe('npm run', () => {
  skipWithout('processes');

  it('rebuild -- --watch ends with npm', async () => {
    const { child, find } = runNpm(['run', 'rebuild', '--', '--watch']);
    await find(/(Following) /);
    const pids = listProcesses(child);
    child.kill('SIGTERM');
    await waitForEnd(pids);
  });

  it('dev serves at HOST and PORT, and ends with npm', async () => {
    const port = await findFreePort();
    const { child, find } = runNpm(['run', 'dev'], { PORT: String(port) });
    await find(new RegExp(`(http://127\\.0\\.0\\.1:${port}|http://localhost:${port})`));
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(true);
    const pids = listProcesses(child);
    child.kill('SIGTERM');
    await waitForEnd(pids);
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(false);
  });

  it('demo opens a market, pays for real calls on both chains, serves, and ends with npm and its chains', async () => {
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
});

/** Runs a command as it is printed, in the folder of the repository, and gives what it prints. */
async function pasteIntoShell(command: string): Promise<string> {
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  // The test runner sets a BASE_URL of its own.
  const env = { ...process.env, BASE_URL: '', PATH };
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { cwd: ROOT, env });
  return stdout;
}

describe('every entry point', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

  async function run(name: string, ...args: string[]) {
    const child = spawn(process.execPath, ['--import', './scripts/require-node.mjs', `scripts/${name}.ts`, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code, out, err };
  }

  it.each(['serve', 'dev', 'compile', 'rebuild', 'demo', 'demo-buy', 'bench', 'audit', 'catalogue'])(
    'says how it is called: %s',
    async (name) => {
      const help = await run(name, '--help');
      expect(help).toMatchObject({ code: 0, err: '' });
      expect(help.out).toMatch(/^Usage: /);
      expect(help.out).toMatch(/-V, --version/);
    },
  );

  // The commands of the catalogue have a parser of their own, and all others share one.
  it.each(['serve', 'catalogue'])('says its version, and what it does not know: %s', async (name) => {
    expect(await run(name, '--version')).toEqual({ code: 0, out: `agent-payable-apis ${version}\n`, err: '' });
    const wrong = await run(name, '--nonsense');
    expect([wrong.code, wrong.out]).toEqual([2, '']);
    expect(wrong.err).toMatch(/nonsense/);
  });
});
