import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../builders.ts';
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
import { listChildren, start, waitForUrl } from './starting.ts';

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
  it('ends with all that it started when npm is killed, what writes the first pages, the intake and a prober in the middle of a request, and the port is free', async () => {
    const { isOpen } = await stopServer(folder, 'SIGKILL', { processes: 5 });
    expect(isOpen).toBe(false);
  });

  it('probes by itself with PROBE=on, leaves rebuilding to the operator when told so, and starts the intake at the first request, without a wallet or the catalogue, and again after it ended', async () => {
    folder.answer();
    const server = start(makeFolder(), { ...folder.settings, SITE: `${folder.settings.SITE}-none` }, ['--no-rebuild']);
    const url = await waitForUrl(server);
    const getPrice = async () =>
      (await (await fetch(`${url}/agent/listings/example-prices`)).json()).listing.price_min_usdc;
    await expect.poll(getPrice).toBe(0.0025);
    await expect.poll(() => server.said.err).toContain('1 payable_with_changed_terms');
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ ready: false, missing: ['no_pages'] });
    const [prober = '', ...others] = await listChildren(server.child);
    expect(others).toEqual([]);
    const findIntake = async () => (await listChildren(server.child)).find((pid) => pid !== prober);
    const check = async () => {
      const body = JSON.stringify({ url: `${folder.provider}/v1/quote` });
      const headers = { 'Content-Type': 'application/json' };
      return (await (await fetch(`${url}/providers/check`, { method: 'POST', headers, body })).json()).summary;
    };
    expect(await check()).toBe('1 of 1 route can be listed.');
    const intake = await findIntake();
    expect(readFileSync(`/proc/${intake}/environ`, 'utf8')).not.toMatch(/CATALOGUE=|PAYER_|PRIVATE_KEY/);
    process.kill(Number(intake), 'SIGKILL');
    await expect.poll(check, { interval: 500 }).toBeDefined();
    const again = await findIntake();
    expect([again === intake, again]).toEqual([false, expect.any(String)]);
    // Killed outright, it can end neither.
    server.child.kill('SIGKILL');
    await waitForEnd([prober, again].map(Number));
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

  // A long test has it serve a page, which compiles all of them.
  it('dev serves at HOST and PORT in a fresh folder, from the seed, and ends with npm', async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const { child, find } = runNpm(['run', 'dev'], { PORT: String(port), BASE_URL: '', NODE_ENV: '', VITEST: '' });
    expect(await find(/^Created \S+ with (\d+) listings/m)).toMatch(/^\d\d+$/);
    await find(new RegExp(`(http://127\\.0\\.0\\.1:${port}|http://localhost:${port})`));
    expect(await isListening(url)).toBe(true);
    const pids = listProcesses(child);
    child.kill('SIGTERM');
    await waitForEnd(pids);
    expect(await isListening(url)).toBe(false);
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

  // The long tests ask those that load a second's worth of packages first.
  it.each(['serve', 'dev', 'compile', 'rebuild', 'demo', 'audit'])('says how it is called: %s', async (name) => {
    const help = await run(name, '--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toMatch(/^Usage: /);
    expect(help.out).toMatch(/-V, --version/);
  });

  // They share a parser; the commands of the catalogue have one of their own.
  it('says its version', async () => {
    expect(await run('serve', '--version')).toEqual({ code: 0, out: `agent-payable-apis ${version}\n`, err: '' });
  });
});
