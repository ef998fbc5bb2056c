import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { buildSettings, rebuild } from '../../scripts/bench/world.ts';
import { findFreePort } from '../../scripts/free-port.ts';
import { run, startPostgres } from '../../scripts/postgres.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { IDENTITY, makeDeclaration, makeFolder, makeRoute } from '../builders.ts';
import { startCatalogue, writeManifest } from '../cli/running.ts';
import { openFaultyProxy } from '../faulty-proxy.ts';
import { skipWithout } from '../skipped.ts';
import { recordDeclaration } from '../written.ts';
import { openStalenessLedger } from './staleness.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** How long each fault is looked at, in milliseconds; `FAULT_SECONDS` makes it shorter. */
const FAULT_MS = Number(process.env.FAULT_SECONDS ?? 20) * 1000;

/** How often somebody reads, and how often the catalogue is written; milliseconds. */
const READ_MS = 25;
const WRITE_MS = 200;

/** How much staler an answer may be than it says, in seconds. */
const UNTOLD_SECONDS = 5;

/** The file system of the published file is this large, so that it can be filled; bytes. */
const DISK_BYTES = 32 * 1024 * 1024;

/** What was seen of a fault. */
interface Seen {
  readonly fault: string;
  /** What readers may get beside 200. */
  readonly refusals: readonly string[];
  readonly answers: Map<string, number>;
  readonly ready: Set<string>;
  readonly metrics: Set<string>;
  readonly log: Set<string>;
  readonly advice: Set<string>;
  /** The greatest age that an answer told, and by how much an answer was staler than it told at most; seconds. */
  age: number;
  untold: number;
}

/** A server in a process of its own, and what it logs. */
interface Server {
  readonly url: string;
  readonly metricsUrl: string;
  readonly child: ChildProcess;
}

it(
  'says what is wrong in each of ten faults, and no answer is staler than it says',
  async (context) => {
    skipWithout('postgres', context);
    const folder = makeFolder();
    const published = mountDisk(join(folder, 'disk'));
    let primary = await startPostgres();
    const servers = [primary];
    onTestFinished(() => Promise.all(servers.map((one) => one.close())).then(() => undefined));
    const direct = await primary.createDatabase('catalogue');
    const proxy = await openFaultyProxy(() => primary.port);
    onTestFinished(() => proxy.close());
    const address = replacePort(direct, proxy.port);
    let catalogue = await openCatalogue(direct, { identity: IDENTITY, at: new Date().toISOString() });
    const staleness = openStalenessLedger();
    const random = createRandom(1);

    // The writer, which nothing keeps away.
    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });
    let isWriting = true;
    let writing = Promise.resolve();
    const write = async (round: number) => {
      const at = new Date().toISOString();
      const revision = await writeCatalogue(catalogue, at, async (transaction) => {
        const routes = [makeRoute({ path: '/v1/quote' })];
        await recordDeclaration(transaction, makeDeclaration({ slug: 'told', tagline: `Round ${round}.`, routes }));
        return transaction.revision;
      });
      staleness.committed(revision, performance.now());
    };
    const keepWriting = async () => {
      for (let round = 1; !isOver; round += 1) {
        if (isWriting) writing = write(round).catch(() => undefined);
        await writing;
        await sleep(WRITE_MS);
      }
    };
    await write(0);
    const written = keepWriting();

    // The server.
    let seen: Seen | undefined;
    const onLine = (line: string) => seen && noteLine(seen, line);
    const settings = {
      ...buildSettings(address, join(folder, 'site')),
      PUBLISHED: join(published, 'published.sqlite'),
    };
    await rebuild({ env: { PATH: process.env.PATH, ...settings } });
    let server = await startServer(settings, onLine);
    let isUp = true;
    const restart = async (other: Record<string, string> = {}, meanwhile = () => undefined as unknown) => {
      isUp = false;
      await stopServer(server);
      meanwhile();
      server = await startServer({ ...settings, ...other }, onLine);
      isUp = true;
    };
    const read = async () => {
      while (!isOver) {
        await sleep(READ_MS);
        const [asked, noted] = [server, seen];
        const answer = await fetch(`${asked.url}/agent/list?limit=1`).catch(() => undefined);
        const text = await answer?.text().catch(() => undefined);
        // One that was stopped on purpose answers nobody.
        if (!isUp || asked !== server || !noted || noted !== seen) continue;
        const at = performance.now();
        const problem = answer && !answer.ok ? ` ${JSON.parse(text ?? '{}').code}` : '';
        const status = answer ? `${answer.status}${problem}` : 'no answer';
        noted.answers.set(status, (noted.answers.get(status) ?? 0) + 1);
        if (!answer?.ok) continue;
        const age = Number(answer.headers.get('x-catalogue-age') ?? 0);
        const stale = staleness.measure(Number(answer.headers.get('x-catalogue-revision')), at) / 1000;
        noted.age = Math.max(noted.age, age);
        noted.untold = Math.max(noted.untold, stale - age);
      }
    };
    const watch = async () => {
      while (!isOver) {
        await sleep(10 * READ_MS);
        const [asked, noted] = [server, seen];
        const ready = await fetch(`${asked.url}/readyz`).catch(() => undefined);
        const health = await ready?.json().catch(() => undefined);
        const metrics = await fetch(asked.metricsUrl).then(
          (response) => response.text(),
          () => '',
        );
        if (!isUp || asked !== server || !noted || noted !== seen || !ready || !health) continue;
        if (health.state !== 'ready') noted.ready.add(`${ready.status} ${health.state}: ${health.missing.join(', ')}`);
        for (const [line] of metrics.matchAll(/^catalogue_(?:ready|following) 0$|^catalogue_missing\{.*\} 1$/gm))
          noted.metrics.add(line);
      }
    };
    const reading = [read(), watch()];

    /** Waits until the server is well, and shows what was written last. */
    const recover = async () => {
      isWriting = false;
      await writing;
      for (;;) {
        const ready = await fetch(`${server.url}/readyz`).catch(() => undefined);
        const health = await ready?.json();
        if (health?.state === 'ready' && health.catalogue.revision === staleness.getLatest()) break;
        await sleep(READ_MS);
      }
      isWriting = true;
    };

    const table: Seen[] = [];
    const look = async (
      fault: string,
      work: (seen: Seen) => Promise<(() => Promise<void> | void) | void>,
      refusals: readonly string[] = [],
    ) => {
      await recover();
      const sets = {
        ready: new Set<string>(),
        metrics: new Set<string>(),
        log: new Set<string>(),
        advice: new Set<string>(),
      };
      seen = { fault, refusals, answers: new Map(), ...sets, age: 0, untold: 0 };
      table.push(seen);
      const mend = await work(seen);
      await sleep(FAULT_MS);
      await mend?.();
      await recover();
      seen = undefined;
      console.info(formatRow(table.at(-1) as Seen));
    };

    await look('the database is stopped', async () => {
      await primary.stop();
      return () => primary.start();
    });
    await look('the network loses each packet', async () => {
      proxy.set('swallow');
      return () => proxy.set('pass');
    });
    await look('the database hangs', async () => {
      primary.freeze(true);
      return () => primary.freeze(false);
    });
    await look('answers stop half-way', async () => {
      proxy.set('cut');
      return () => proxy.set('pass');
    });
    await look('the name of the database does not resolve, at a start', async () => {
      await restart({ CATALOGUE: address.replace('127.0.0.1', 'database.invalid') });
      return () => restart();
    });
    await look('the database takes no writes', async (noted) => {
      await run(direct, 'ALTER DATABASE catalogue SET default_transaction_read_only = on');
      const manifest = writeManifest(folder, 'one.yaml');
      await runCommand(noted, ['import', manifest], direct);
      return () =>
        // In that database nothing can be written any more.
        run(
          direct.replace(/[^/]+$/, 'postgres'),
          'ALTER DATABASE catalogue SET default_transaction_read_only = off',
        ).then(() => undefined);
    });
    // Who meets the damage first gets a failure of ours.
    const damaged = ['503 published_damaged', '500 internal'];
    const damageFile = async () => damage(join(published, 'published.sqlite'), random);
    await look('the published file is damaged', damageFile, damaged);
    await look('the disk of the published file is full', async () => {
      const filler = join(published, 'filler');
      fill(filler);
      return () => rmSync(filler);
    });
    await look('the folder of the published file is read-only, at a start', async () => {
      await restart({}, () => execFileSync('mount', ['-o', 'remount,ro', published]));
      return () => void execFileSync('mount', ['-o', 'remount,rw', published]);
    });
    const promote = async (noted: Seen) => {
      const replica = await primary.addReplica();
      servers.push(replica);
      const beside = replacePort(direct, replica.port);
      await setOption(direct, 'synchronous_standby_names', '');
      await setOption(beside, 'primary_conninfo', '');
      const kept = staleness.getLatest() + 1;
      while (staleness.getLatest() < kept + 5) await sleep(READ_MS);
      const cursor = await findCursor(server);
      isWriting = false;
      await writing;
      await primary.stop('SIGKILL');
      await catalogue.close();
      await replica.promote();
      primary = replica;
      catalogue = await openCatalogue(beside, { identity: IDENTITY, at: new Date().toISOString() });
      staleness.replaced(await getRevision(catalogue), performance.now());
      isWriting = true;
      return async () => {
        const answer = await fetch(`${server.url}/agent/changes?since=${cursor}`);
        const { code, hint } = (await answer.json()) as { code: string; hint: string };
        noted.answers.set(`${answer.status} ${code}`, 1);
        noted.advice.add(hint);
      };
    };
    // What was published of the history that is lost is not served while the other is made.
    const others = ['410 history_replaced', '503 published_being_made'];
    await look('a replica that is behind takes over', promote, others);

    isOver = true;
    await Promise.all([written, ...reading]);
    console.info(formatTable(table));
    for (const { fault, refusals, answers, age, untold, ready, metrics, log, advice } of table) {
      expect(untold, fault).toBeLessThanOrEqual(UNTOLD_SECONDS);
      expect(advice.size, `what to do where ${fault}`).toBeGreaterThan(0);
      expect(answers.get('200'), fault).toBeGreaterThan(0);
      const others = [...answers.keys()].filter((status) => status !== '200' && !refusals.includes(status));
      expect(others, fault).toEqual([]);
      const isDown = refusals.some((status) => status.startsWith('503'));
      if (age === 0 && !isDown) continue;
      // Figures come from the published file: while it is damaged there are none, and no answer that tells an age.
      const told = { ready: ready.size > 0, metrics: metrics.size > 0 || age === 0, log: log.size > 0 };
      expect(told, fault).toEqual({ ready: true, metrics: true, log: true });
    }
    expect(table.at(-1)?.answers.get('410 history_replaced')).toBe(1);
    expect(table).toHaveLength(10);
  },
  20 * 60_000,
);

function replacePort(address: string, port: number): string {
  return address.replace(/:\d+\//, `:${port}/`);
}

async function setOption(address: string, name: string, value: string): Promise<void> {
  await run(address, `ALTER SYSTEM SET ${name} = '${value}'`);
  await run(address, 'SELECT pg_reload_conf()');
}

/** Returns the cursor at which a reader of changes goes on. */
async function findCursor({ url }: Server): Promise<string> {
  for (let since = '0'; ; ) {
    const answer = await fetch(`${url}/agent/changes?since=${since}&limit=1000`);
    const { next_cursor, resume_cursor } = (await answer.json()) as { next_cursor?: string; resume_cursor?: string };
    if (resume_cursor !== undefined) return resume_cursor;
    since = next_cursor ?? since;
  }
}

/** Starts the server on its port. Resolves when it listens. */
async function startServer(settings: Record<string, string>, onLine: (line: string) => void): Promise<Server> {
  const port = await findFreePort();
  const flags = ['--max-semi-space-size=8', '--import', './scripts/require-node.mjs'];
  const child = spawn(process.execPath, [...flags, 'scripts/serve.ts', '--no-rebuild'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...settings, LOG_LEVEL: 'info', METRICS_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const { promise, resolve: listen, reject } = Promise.withResolvers<string>();
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    const url = /listens on (http:\S+)\. /.exec(said)?.[1];
    if (url) listen(url);
  });
  let rest = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(onLine);
  });
  child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened: ${said}`)));
  return { url: await promise, metricsUrl: `http://127.0.0.1:${port}/metrics`, child };
}

async function stopServer({ child }: Server): Promise<void> {
  const ended = new Promise((end) => child.once('exit', end));
  child.kill('SIGTERM');
  await ended;
}

/** Notes what a line of the log says went wrong, and what it says to do. */
function noteLine(seen: Seen, line: string): void {
  if (!line.startsWith('{')) return;
  const { level, msg, err } = JSON.parse(line) as {
    level: number;
    msg: string;
    err?: { message?: string; hint?: string };
  };
  if (level < 40) return;
  const why = err?.message?.replace(/127\.0\.0\.1:\d+/g, 'host') ?? '';
  seen.log.add(why === '' ? msg : `${msg}: ${why}`);
  if (err?.hint) seen.advice.add(err.hint);
}

/** Runs a command that is to fail, and notes what it says. */
async function runCommand(seen: Seen, args: readonly string[], address: string): Promise<void> {
  const { code, stdout } = await startCatalogue([...args, '--json'], { CATALOGUE: address }).ran;
  expect(code).toBe(1);
  const { error } = JSON.parse(stdout) as { error: { message: string; hint: string } };
  seen.log.add(`command ${args[0]}: ${error.message}`);
  seen.advice.add(error.hint);
}

/** Makes a small file system of its own at a folder, which goes after the test. */
function mountDisk(folder: string): string {
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'none', folder]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

/** Fills the disk that a file is on. */
function fill(file: string): void {
  const handle = openSync(file, 'w');
  try {
    for (const bytes of [65_536, 4096, 512]) {
      for (;;) writeSync(handle, Buffer.alloc(bytes));
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    closeSync(handle);
  }
}

/** Overwrites half of the pages of a database, but for the first. */
function damage(file: string, random: () => number): void {
  // What is in the journal would be read from there, and written over the damage.
  const sqlite = new Sqlite(file);
  sqlite.pragma('wal_checkpoint(TRUNCATE)');
  sqlite.close();
  const handle = openSync(file, 'r+');
  const page = 4096;
  for (let at = page; at < statSync(file).size; at += page) {
    if (random() < 0.5) writeSync(handle, Buffer.alloc(page, 0xa5), 0, page, at);
  }
  closeSync(handle);
}

const COLUMNS = ['fault', 'what readers get', 'oldest told', 'untold', '/readyz', 'metrics', 'log', 'what to do'];

function formatRow({ fault, answers, age, untold, ready, metrics, log, advice }: Seen): string {
  const list = (words: Iterable<string>) => [...words].join('<br>').replaceAll('|', '\\|') || '–';
  const counted = [...answers].map(([status, count]) => `${count} × ${status}`);
  const told = [`${age} s`, `${Math.max(0, untold).toFixed(1)} s`];
  return `| ${[fault, list(counted), ...told, list(ready), list(metrics), list(log), list(advice)].join(' | ')} |`;
}

function formatTable(table: readonly Seen[]): string {
  const head = [`| ${COLUMNS.join(' | ')} |`, `|${COLUMNS.map(() => ' --- |').join('')}`];
  return [...head, ...table.map(formatRow)].join('\n');
}
