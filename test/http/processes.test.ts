import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../scripts/free-port.ts';
import { makeFolder } from '../builders.ts';
import { skipWithout } from '../skipped.ts';
import { findSample, readSamples } from './metrics.ts';
import {
  isListening,
  listProcesses,
  makeProbingFolder,
  type ProbingFolder,
  runNpm,
  spawnNpm,
  stopInFlight,
  waitForEnd,
} from './npm.ts';
import { listChildren, start, waitForUrl } from './starting.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('npm start', () => {
  skipWithout('processes');

  // One server, whose life the tests follow from its start to its end.
  let folder: ProbingFolder;
  let server: ReturnType<typeof spawnNpm>;
  let url: string;
  beforeAll(async () => {
    folder = await makeProbingFolder(['removed-prices', 'kept-prices']);
    folder.setAnswers(true);
    server = spawnNpm(['start'], { ...folder.settings, METRICS_PORT: '0', RATE_LIMIT: '0' }, '');
    url = await server.find(/listens on (http:\S+)\. /);
  });
  afterAll(async () => {
    server.kill();
    await folder.close();
  });

  const readJson = async (path: string) => (await fetch(`${url}${path}`)).json();
  /** Finds the process that the server started with these words. */
  const findChild = (words: string) =>
    listProcesses(server.child).find((pid) => readProcess(pid, 'cmdline').replaceAll('\0', ' ').includes(words));

  it('serves a catalogue at once, probes it with PROBE=on, and writes its pages', async () => {
    expect(server.getSaid()).not.toContain('Created');
    const getPrice = async () => (await readJson('/agent/listings/example-prices')).listing.price_min_usdc;
    await expect.poll(getPrice).toBe(0.0025);
    await expect.poll(server.getSaid).toContain('1 payable_with_changed_terms');
    await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('follows the catalogue and counts its rebuilds', async () => {
    const { made_at: before } = (await readJson('/readyz')).pages;
    await folder.remove('removed-prices');
    await expect.poll(async () => (await fetch(`${url}/api/removed-prices`)).status).toBe(410);
    // The news of its removal names it, no card does.
    const listCards = async () => {
      const home = await (await fetch(url)).text();
      return ['removed-prices', 'kept-prices'].filter((slug) => home.includes(`"><a href="/api/${slug}"`));
    };
    await expect.poll(listCards).toEqual(['kept-prices']);
    // The home page comes first, and the rebuild is told once the last page is in place.
    await expect.poll(async () => (await readJson('/readyz')).pages.made_at).not.toBe(before);
    const metricsUrl = await server.find(/"url":"(http:[^"]*\/metrics)"/);
    const read = async (name: string, labels = {}) => findSample(await readSamples({ metricsUrl }), name, labels);
    const countWritten = () => server.getSaid().match(/"outcome":"written"/g)?.length ?? 0;
    await expect.poll(countWritten).toBeGreaterThanOrEqual(2);
    await expect
      .poll(async () => (await read('catalogue_rebuilds_total', { outcome: 'written' })) === countWritten())
      .toBe(true);
    expect(await read('catalogue_rebuilds_total', { outcome: 'failed' })).toBe(0);
    expect(await read('catalogue_rebuild_duration_seconds_sum')).toBeGreaterThan(0);
  });

  it('starts the intake at the first request, without a wallet or the catalogue, and again after it ended', async () => {
    const check = async () => {
      const body = JSON.stringify({ url: `${folder.provider}/v1/quote` });
      const headers = { 'Content-Type': 'application/json' };
      return (await (await fetch(`${url}/providers/check`, { method: 'POST', headers, body })).json()).summary;
    };
    const findIntake = () => findChild('intake/process.ts');
    expect(findIntake()).toBeUndefined();
    expect(await check()).toBe('1 of 1 route can be listed.');
    const intake = findIntake();
    expect(readProcess(Number(intake), 'environ')).not.toMatch(/CATALOGUE=|PAYER_|PRIVATE_KEY/);
    process.kill(Number(intake), 'SIGKILL');
    await expect.poll(check, { interval: 500 }).toBeDefined();
    const again = findIntake();
    expect([again === intake, again]).toEqual([false, expect.any(Number)]);
  });

  // A signal that npm does not pass on. The others are ones that it does, and a long test sends all.
  it('starts the prober again after it ended, and ends with all that it started when npm is killed, the prober in the middle of a request, and the port is free', async () => {
    folder.setAnswers(false);
    await folder.list('new');
    const asked = folder.waitForProbe();
    process.kill(Number(findChild('probe --watch')), 'SIGKILL');
    await asked;
    expect(['rebuild-process.ts', 'intake/process.ts', 'probe --watch'].map(findChild)).not.toContain(undefined);
    expect(await stopInFlight({ child: server.child, url }, 'SIGKILL')).toBe(false);
  });

  it('leaves rebuilding to the operator when told so, and its prober and intake end where it is killed outright', async () => {
    folder.setAnswers(true);
    const alone = start(makeFolder(), { ...folder.settings, SITE: `${folder.settings.SITE}-none` }, ['--no-rebuild']);
    const address = await waitForUrl(alone);
    await expect.poll(() => listChildren(alone.child)).toHaveLength(1);
    const readiness = await (await fetch(`${address}/readyz`)).json();
    expect(readiness).toMatchObject({ ready: false, missing: ['no_pages'] });
    const check = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"url": "x"}' };
    expect((await fetch(`${address}/providers/check`, check)).status).toBe(400);
    const children = (await listChildren(alone.child)).map(Number);
    expect(children).toHaveLength(2);
    // Killed outright, it can end neither.
    alone.child.kill('SIGKILL');
    await waitForEnd(children);
  });
});

/** Reads a file of a process; nothing where it has ended. */
function readProcess(pid: number, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
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

  // The long tests ask those that other tests start, and those that load a second's worth of packages first.
  it.each(['serve', 'compile', 'demo', 'audit'])('says how it is called: %s', async (name) => {
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
