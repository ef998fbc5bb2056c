import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
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
  it('ends with all that it started when npm is killed, what writes the first pages and a prober in the middle of a request, and the port is free', async () => {
    const { isOpen } = await stopServer(folder, 'SIGKILL', { processes: 4 });
    expect(isOpen).toBe(false);
  });

  it('probes by itself with PROBE=on, so that readers see what a route really asks', async () => {
    folder.answer();
    const { child, find } = runNpm(['start'], folder.settings);
    const url = await find(/listens on (http:\S+)\. /);
    const getPrice = async () =>
      (await (await fetch(`${url}/agent/listings/example-prices`)).json()).listing.price_min_usdc;
    await expect.poll(getPrice).toBe(0.0025);
    await find(/(1 payable_with_changed_terms)/);
    const pids = listProcesses(child);
    expect(pids.length).toBeGreaterThanOrEqual(3);
    const [, server] = pids;
    if (server === undefined) throw new Error('npm started no server');
    // Killed outright, it cannot end its prober.
    process.kill(server, 'SIGKILL');
    await waitForEnd(pids);
  });
});

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
});

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

  it.each(['serve', 'dev', 'compile', 'rebuild', 'demo', 'demo-buy', 'bench', 'audit'])(
    'says how it is called: %s',
    async (name) => {
      const help = await run(name, '--help');
      expect(help).toMatchObject({ code: 0, err: '' });
      expect(help.out).toMatch(/^Usage: /);
      expect(help.out).toMatch(/-V, --version/);
    },
  );

  // They share a parser; the commands of the catalogue have one of their own.
  it('says its version', async () => {
    expect(await run('serve', '--version')).toEqual({ code: 0, out: `agent-payable-apis ${version}\n`, err: '' });
  });
});
