import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { IDENTITY, makeDeclaration, makeFolder, makeRoute, NOW } from '../builders.ts';
import { SCRATCH } from '../scratch.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Within this everything is to be gone, in milliseconds. */
const LIMIT_MS = 5000;

/** Runs an npm script as its own process group, as a terminal or a supervisor does. */
function runNpm(args: readonly string[], settings: Record<string, string> = {}, folder = makeFolder()) {
  const child = spawn('npm', args, {
    cwd: ROOT,
    detached: true,
    env: {
      ...process.env,
      // npm of the machine, Node of this test.
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      BASE_URL: 'http://catalogue.example',
      CATALOGUE: join(folder, 'catalogue.sqlite'),
      RELEASES: join(folder, 'dist'),
      PORT: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  onTestFinished(() => {
    for (const pid of listProcesses(child)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  const find = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(said)) {
      if (child.exitCode !== null) throw new Error(`ended: ${said}`);
      await sleep(20);
    }
    return pattern.exec(said)?.[1] ?? '';
  };
  return { child, find, getSaid: () => said };
}

/** Lists a process and all that it started, and what these started. */
function listProcesses({ pid }: ChildProcess): number[] {
  const found = [pid ?? 0];
  for (const each of found) {
    const file = `/proc/${each}/task/${each}/children`;
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    found.push(...text.trim().split(' ').filter(Boolean).map(Number));
  }
  return found;
}

function isAlive(pid: number): boolean {
  try {
    // What has ended and was not asked for by its parent yet is still listed.
    return !/^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Waits until none of the processes is left, and gives how long that took; in milliseconds. */
async function waitForEnd(pids: readonly number[]): Promise<number> {
  const started = performance.now();
  while (pids.some(isAlive) && performance.now() - started < 4 * LIMIT_MS) await sleep(20);
  return performance.now() - started;
}

async function isListening(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const isOpen = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return isOpen;
}

describe.runIf(existsSync('/proc/self/task'))('npm start', () => {
  // One folder for all: the first start makes the release that the others serve at once.
  const folder = mkdtempSync(join(SCRATCH, 'processes-'));
  /** A provider that never answers, so that a prober is in the middle of a request when it is to stop. */
  const silence = createServer(() => undefined);
  const settings = {
    ...{ CATALOGUE: join(folder, 'catalogue.sqlite'), RELEASES: join(folder, 'dist') },
    ...{ PROBE: 'on', ALLOW_PRIVATE_NETWORKS: 'on' },
  };

  beforeAll(async () => {
    await once(silence.listen(0, '127.0.0.1'), 'listening');
    const address = silence.address();
    const base_url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const catalogue = openCatalogue(settings.CATALOGUE, { identity: IDENTITY, at: NOW });
    writeCatalogue(catalogue, NOW, (writing) => {
      recordDeclaration(writing, makeDeclaration({ base_url, routes: [makeRoute({ path: '/v1/quote' })] }));
    });
    catalogue.close();
  });
  afterAll(async () => {
    silence.closeAllConnections();
    silence.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)(
    'ends with all that it started when npm gets %s, and the port is free',
    async (signal) => {
      const asked = once(silence, 'request');
      const { child, find } = runNpm(['start'], settings);
      const url = await find(/listens on (http:\S+)\. /);
      await asked;
      // Somebody is in the middle of an answer, and another keeps a connection.
      const slow = connect(Number(new URL(url).port), '127.0.0.1');
      slow.on('error', () => undefined).write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{');
      onTestFinished(() => void slow.destroy());
      await fetch(`${url}/healthz`);
      const pids = listProcesses(child);
      expect(pids.length).toBeGreaterThanOrEqual(3);
      child.kill(signal);
      expect(await waitForEnd(pids)).toBeLessThan(LIMIT_MS);
      expect(await isListening(url)).toBe(false);
    },
    60_000,
  );

  it('ends while it makes the first release, too', async () => {
    const { child, find } = runNpm(['start']);
    await find(/(Created) /);
    while (listProcesses(child).length < 3) await sleep(20);
    const pids = listProcesses(child);
    child.kill('SIGTERM');
    expect(await waitForEnd(pids)).toBeLessThan(LIMIT_MS);
  }, 60_000);

  it('takes a Ctrl-C, which reaches npm and Node both, for one', async () => {
    const { child, find, getSaid } = runNpm(['start'], settings);
    await find(/listens on (http:\S+)\. /);
    const pids = listProcesses(child);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await waitForEnd(pids);
    // What a process wrote last may be read only after it is gone.
    await vi.waitFor(() => {
      expect(getSaid().match(/Stopping when the requests in flight are answered/g)).toHaveLength(1);
    });
    expect(getSaid()).not.toContain('npm error');
  }, 60_000);
});

describe.runIf(existsSync('/proc/self/task'))('npm run', () => {
  it('rebuild -- --watch ends with npm', async () => {
    const { child, find } = runNpm(['run', 'rebuild', '--', '--watch']);
    await find(/(Following) /);
    const pids = listProcesses(child);
    child.kill('SIGTERM');
    expect(await waitForEnd(pids)).toBeLessThan(LIMIT_MS);
  }, 60_000);

  it('dev serves at HOST and PORT, and ends with npm', async () => {
    const port = await findFreePort();
    const { child, find } = runNpm(['run', 'dev'], { PORT: String(port) });
    await find(new RegExp(`(http://127\\.0\\.0\\.1:${port}|http://localhost:${port})`));
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(true);
    const pids = listProcesses(child);
    child.kill('SIGTERM');
    expect(await waitForEnd(pids)).toBeLessThan(LIMIT_MS);
    expect(await isListening(`http://127.0.0.1:${port}`)).toBe(false);
  }, 60_000);

  it('demo opens a market, pays for real calls on both chains, serves, and ends with npm and its chains', async () => {
    const port = await findFreePort();
    // The test runner sets a BASE_URL of its own.
    const { child, find, getSaid } = runNpm(['run', 'demo'], { BASE_URL: '', PORT: String(port) });
    const url = await find(/listens on (http:\S+)\. /);
    const said = getSaid();
    expect(said).toMatch(/10 items: 10 taken, 0 refused\./);
    expect(said).toMatch(/^10\tpayable/m);
    expect(said.match(/settled, and the product came\./g)?.length).toBeGreaterThanOrEqual(8);
    expect(said).toContain('USDC on solana settled, and the product came.');
    expect(said).toContain('settled, but no product came: the route stays unverified.');
    const { total } = await (await fetch(`${url}/agent/list?verified=true&limit=1`)).json();
    expect(total).toBeGreaterThan(1);
    const pids = listProcesses(child);
    expect(pids.length).toBeGreaterThanOrEqual(4);
    child.kill('SIGTERM');
    expect(await waitForEnd(pids)).toBeLessThan(LIMIT_MS);
    expect(await isListening(url)).toBe(false);
  }, 120_000);
});

describe('every entry point', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  it.each(['serve', 'dev', 'compile', 'rebuild', 'demo', 'bench', 'audit', 'catalogue'])(
    'says how it is called, and its version: %s',
    async (name) => {
      const run = async (...args: string[]) => {
        const child = spawn(
          process.execPath,
          ['--import', './scripts/require-node.mjs', `scripts/${name}.ts`, ...args],
          {
            cwd: ROOT,
            stdio: ['ignore', 'pipe', 'pipe'],
          },
        );
        let [out, err] = ['', ''];
        child.stdout.on('data', (text) => {
          out += text;
        });
        child.stderr.on('data', (text) => {
          err += text;
        });
        const [code] = await once(child, 'close');
        return { code, out, err };
      };
      const [told, help, wrong] = await Promise.all([run('--version'), run('--help'), run('--nonsense')]);
      expect(told).toEqual({ code: 0, out: `agent-payable-apis ${version}\n`, err: '' });
      expect(help).toMatchObject({ code: 0, err: '' });
      expect(help.out).toMatch(/^Usage: /);
      expect(help.out).toMatch(/-V, --version/);
      expect([wrong.code, wrong.out]).toEqual([2, '']);
      expect(wrong.err).toMatch(/nonsense/);
    },
    30_000,
  );
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
