import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { prepareCatalogue, preparePages } from '../../scripts/first-start.ts';
import { findFreePort } from '../../scripts/free-port.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { acquireLock } from '../../src/catalogue/lock.ts';
import { openPageCode } from '../../src/site/compiling.ts';
import { IDENTITY, makeDeclaration, makeFolder } from '../builders.ts';
import { makeConfig } from '../site/site-fixture.ts';
import { skipWithout } from '../skipped.ts';
import { declareListings } from '../written.ts';
import { listChildren, makeStarted, start, waitForUrl } from './starting.ts';

it('brings a bare folder to a served catalogue once, where two start in it, also when nobody reads what it says', async () => {
  // Neither of the two compiles pages.
  await openPageCode({ onEvent: () => undefined });
  const folder = makeFolder();
  // As another process leaves it that begins to make it, or one that was killed then.
  writeFileSync(join(folder, 'catalogue.sqlite'), '');
  const port = await findFreePort();
  // They are asked more often than a client may, for as long as a rebuild takes.
  const settings = { RATE_LIMIT: '0' };
  // Held until both wait for it, as for a first start that takes long.
  const lock = await acquireLock(`${join(folder, 'site')}.first-start.lock`);
  const [first, other] = [
    start(folder, { PORT: String(port), LOG_LEVEL: 'debug', ...settings }, ['--no-rebuild']),
    start(folder, settings, ['--no-rebuild']),
  ];
  const listWaiting = () => [first, other].map(({ said }) => said.out.includes('Waiting for another first start'));
  await expect.poll(listWaiting).toEqual([true, true]);
  const address = `http://127.0.0.1:${port}`;
  const starting = await fetch(`${address}/healthz`);
  expect([starting.status, await starting.json()]).toEqual([503, expect.objectContaining({ code: 'starting' })]);
  lock.release();
  await expect.poll(async () => (await fetch(`${address}/healthz`)).status).toBe(200);
  for (const server of [first, other]) {
    const url = await waitForUrl(server);
    // One of them writes the published file, and the other waits for that.
    await expect.poll(async () => (await fetch(`${url}/agent/list`)).status).toBe(200);
    const list = await (await fetch(`${url}/agent/list?limit=1`)).json();
    expect(list.total).toBeGreaterThan(10);
    expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ ready: false, missing: ['no_pages'] });
    // Pages are rendered on demand until they are written.
    if (server === first) expect((await fetch(`${url}/api/${list.listings[0].slug}`)).status).toBe(200);
    if (server === other) {
      server.child.stdout?.destroy();
      server.child.stderr?.destroy();
      for (let time = 0; time < 3; time += 1) expect((await fetch(`${url}/agent/list`)).status).toBe(200);
    }
    // It neither rebuilds nor probes.
    expect(await listChildren(server.child)).toEqual([]);
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  }
  // Nothing but lines of the log's form goes to a pipe.
  const lines = `${first.said.out}${first.said.err}`.trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines)
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.any(String) });
  const said = [first, other].flatMap((server) => listSentences(server.said.out));
  expect(said.filter((line) => line.startsWith('Created '))).toEqual([
    expect.stringMatching(/^Created \S+catalogue\.sqlite with \d\d+ listings from data\/listings\.$/),
  ]);
});

it.each([
  [{ PORT: 'http' }, [], 1, /^The setting PORT has the value "http"/],
  [{ PAYER_STOP_FILE: '/tmp/stop' }, [], 1, /^PAYER_STOP_FILE is set in the environment, /],
  [{}, ['--no-rebuilds'], 2, /^Unknown option '--no-rebuilds'/],
])('ends with one sentence for %o %o', async (settings, args, code, sentence) => {
  const server = start(makeFolder(), settings, args);
  expect(await server.ended).toBe(code);
  const lines = server.said.err.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 60, msg: expect.stringMatching(sentence), hint: expect.stringMatching(/\w/) }),
  ]);
  expect(server.said.out).toBe('');
});

it('goes on where there is no room for what it says', async (context) => {
  skipWithout('full_device', context);
  const port = await findFreePort();
  const settings = { PORT: String(port), LOG_LEVEL: 'debug' };
  const { child } = start(await makeStarted(), settings, ['--no-rebuild'], '/dev/full');
  let status = 0;
  while (status !== 200 && child.exitCode === null) {
    status = await fetch(`http://127.0.0.1:${port}/agent/list`).then(
      (answer) => answer.status,
      () => 0,
    );
    await sleep(20);
  }
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

it('says what an earlier version left that can be deleted, and touches nothing of it', async () => {
  const folder = makeFolder();
  const left = ['releases', 'shards', 'current', 'assets'].map((name) => join(folder, name));
  for (const path of left) mkdirSync(path);
  const said: string[] = [];
  const { signal } = new AbortController();
  await preparePages({ config: makeConfig(folder), now: () => new Date(), signal, tell: (line) => said.push(line) });
  expect(said[0]).toContain(`What an earlier version left can be deleted: ${join(folder, 'current')}, `);
  expect(left.every((path) => existsSync(path))).toBe(true);
});

it('says of a catalogue that cannot be made that it cannot', async () => {
  const config = { ...makeConfig(makeFolder()), catalogueAddress: '/dev/null/x' };
  const { signal } = new AbortController();
  await expect(
    prepareCatalogue({ config, now: () => new Date(), signal, tell: () => undefined }),
  ).rejects.toMatchObject({
    message: expect.stringMatching(/^\/dev\/null\/x cannot be opened as a catalogue/),
    hint: expect.stringMatching(/\w/),
  });
});

it('says at once that the port is in use, before it makes a catalogue or a page', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => {
    other.close();
  });
  const port = getPort(other);
  const folder = makeFolder();
  const server = start(folder, { PORT: String(port), LOG_LEVEL: 'silent' });
  expect(await server.ended).toBe(1);
  expect(JSON.parse(server.said.err)).toMatchObject({
    msg: `Port ${port} on 127.0.0.1 is in use by another program.`,
    hint: 'Stop that one, or set PORT to another port.',
  });
  expect([server.said.out, readdirSync(folder)]).toEqual(['', []]);
});

it('writes sentences on a terminal, the log among them, and why it probes nothing where the clock is over a year ahead of the catalogue', async (context) => {
  skipWithout('script', context);
  const folder = makeFolder();
  const now = '2024-01-01T00:00:00.000Z';
  const catalogue = await openCatalogue(join(folder, 'catalogue.sqlite'), { identity: IDENTITY, at: now });
  await declareListings(catalogue, [makeDeclaration()], now);
  await catalogue.close();
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const terminal = spawn('script', ['-qefc', `${scripts.start} --no-rebuild`, '/dev/null'], {
    env: {
      ...{ ...process.env, LOG_LEVEL: 'debug', PORT: '0', BASE_URL: 'http://catalogue.example', PROBE: 'on' },
      ...{ CATALOGUE: join(folder, 'catalogue.sqlite'), SITE: join(folder, 'site') },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void terminal.kill('SIGKILL'));
  let said = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const find = async (pattern: RegExp) => {
    while (!pattern.test(said)) await once(terminal.stdout, 'data');
    return pattern.exec(said)?.[1] ?? '';
  };
  const url = await find(/listens on (http:\S+)\. Ctrl-C stops it\./);
  await fetch(`${url}/healthz`);
  await find(
    /\d\d:\d\d:\d\d debug request \(request_id: \S+, client: 127\.0\.0\.0\/24, method: GET, path: (\/healthz), status: 200/,
  );
  await find(/The clock of this machine says .*, and the catalogue was last written 2024-01-01T/);
  await find(/Set the clock that is wrong/);
  expect(said).not.toMatch(/[{}]/);
  terminal.kill('SIGTERM');
  await once(terminal, 'exit');
});

/** The sentences in JSON lines. */
function listSentences(lines: string): string[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).msg);
}

function getPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
