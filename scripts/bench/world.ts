import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listSlugs } from '../../src/catalogue/read/listings.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { createRandom, createSyntheticCatalogue } from './synthetic.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Context that all benchmarks of a run share. */
export interface Run {
  /** Folder for catalogues and pages, removed after the run. */
  readonly folder: string;
  /** Number of times that each figure is measured. */
  readonly rounds: number;
  /** Reports progress and omissions. */
  readonly tell: (line: string) => void;
}

/** A synthetic catalogue, and the settings of processes that serve it or rebuild its pages. */
export interface World {
  readonly listings: number;
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
}

/** Opens the catalogue of a size, which is made once in each run. `site` is the name of its folder of pages. */
export async function openWorld({ folder, tell }: Run, listings: number, site = 'site'): Promise<World> {
  const home = join(folder, String(listings));
  const file = join(home, 'catalogue.sqlite');
  if (!existsSync(file)) {
    tell(`Making a catalogue of ${listings.toLocaleString('en')} listings …`);
    mkdirSync(home, { recursive: true });
    await (await createSyntheticCatalogue(file, listings)).close();
  }
  const settings = buildSettings(file, join(home, site));
  return { listings, config: readConfig(settings), env: { ...process.env, ...settings } };
}

/** Opens the catalogue of a size with all its pages written. */
export async function openWrittenWorld(run: Run, listings: number): Promise<World> {
  const world = await openWorld(run, listings);
  run.tell(`Writing the pages of ${listings.toLocaleString('en')} listings …`);
  await rebuild(world);
  return world;
}

/** Builds the settings of a service on loopback: the defaults of `npm start`, with a rate limit that is never reached. */
export function buildSettings(catalogue: string, site: string): Record<string, string> {
  return {
    ENV_FILES: 'off',
    BASE_URL: 'http://localhost:4321',
    CATALOGUE: catalogue,
    PUBLISHED: '',
    SITE: site,
    HOST: '127.0.0.1',
    PORT: '0',
    RATE_LIMIT: '999999999',
    LOG_LEVEL: 'warn',
    PROBE: 'off',
    TRUSTED_PROXIES: '',
  };
}

/** Lists the slugs of a catalogue in a random order, the same in every run. */
export async function listShuffledSlugs({ config }: World): Promise<string[]> {
  const catalogue = await openCatalogueForReading(config.catalogueAddress);
  const random = createRandom(7);
  const slugs = (await listSlugs(catalogue)).map((slug) => ({ slug, at: random() }));
  await catalogue.close();
  return slugs.sort((a, b) => a.at - b.at).map(({ slug }) => slug);
}

/** A server in a process of its own. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the service as `npm start` does. Resolves when it listens. Throws if it ends before. */
export async function startService({ env }: Pick<World, 'env'>, ...args: string[]): Promise<Server> {
  const stdio: SpawnOptions['stdio'] = ['ignore', 'pipe', 'inherit'];
  const child = startChild('sh', getShellArguments('start', args), { cwd: ROOT, env, stdio });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const url = /listens on (http:\S+)\. /.exec(output)?.[1];
    if (url) resolve(url);
  });
  child.once('exit', (code) => reject(new Error(`The server ended with ${code} before it listened: ${output}`)));
  return { url: await promise, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

/** Starts a program that sends its parent the port it listens on. A `message` is sent to it first. */
export async function startProgram(file: URL, args: readonly string[]): Promise<Server> {
  const stdio: SpawnOptions['stdio'] = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = startChild(process.execPath, [fileURLToPath(file), ...args], { stdio });
  const { promise: port, resolve, reject } = Promise.withResolvers<unknown>();
  child.once('message', resolve).once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  return { url: `http://127.0.0.1:${await port}`, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

/** Runs `npm run rebuild`, without npm. Throws if it fails. */
export function rebuild({ env }: Pick<World, 'env'>): Promise<Spent> {
  return runChild('sh', getShellArguments('rebuild'), { cwd: ROOT, env });
}

/** Returns the arguments with which a shell becomes what a script of `package.json` starts. */
function getShellArguments(script: 'start' | 'rebuild', args: readonly string[] = []): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return ['-c', `${scripts[script]} "$@"`, script, ...args];
}

/** Starts a process that is killed when this one ends, before its files are removed. */
export function startChild(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  const kill = () => child.kill('SIGKILL');
  process.prependOnceListener('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return child;
}

/** Stops a process, and waits for its end. */
export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Resources that a process and all its descendants needed. */
export interface Spent {
  readonly seconds: number;
  /** Sum of the peak memory of each that lives for a tenth of a second, in bytes; 0 on a system without `/proc`. */
  readonly peak: number;
}

/** Runs a process to its end. Throws with its standard error if it fails. */
export async function runChild(command: string, args: readonly string[], options: SpawnOptions = {}): Promise<Spent> {
  const started = performance.now();
  const child = startChild(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = `${output}${text}`.slice(-2000);
  });
  const peaks = new Map<number, { peak: number; looks: number }>();
  let isRunning = true;
  const ended = once(child, 'close').finally(() => {
    isRunning = false;
  });
  while (isRunning) {
    for (const pid of listFamily(child.pid ?? 0)) {
      const seen = peaks.get(pid) ?? { peak: 0, looks: 0 };
      peaks.set(pid, { peak: readUsage(pid).peak ?? seen.peak, looks: seen.looks + 1 });
    }
    await Promise.race([ended, sleep(50)]);
  }
  const seconds = (performance.now() - started) / 1000;
  const [code, signal] = await ended;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}: ${output}`);
  // Until a child runs its own program, it has its parent's memory, which would be counted again.
  const lasting = [...peaks.values()].filter(({ looks }) => looks > 1);
  return { seconds, peak: lasting.reduce((sum, { peak }) => sum + peak, 0) };
}

/** Resources that a process has used so far. All is undefined without `/proc`, or without such a process. */
export interface Usage {
  /** Processor time of all its threads, in milliseconds. */
  readonly cpuMs: number | undefined;
  /** Memory that it holds now, and its peak, in bytes. */
  readonly rss: number | undefined;
  readonly peak: number | undefined;
}

/** A clock tick of `/proc`, in milliseconds: the same on every Linux. */
const TICK_MS = 10;

/** Reads the resources that a process has used so far. */
export function readUsage(pid: number): Usage {
  const [stat, status] = [readProc(pid, 'stat'), readProc(pid, 'status')];
  // Fields are counted after the command's name, which is in parentheses and may have blanks.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const getBytes = (name: string) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  };
  return {
    cpuMs: fields && (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    rss: getBytes('VmRSS'),
    peak: getBytes('VmHWM'),
  };
}

/** Lists a process and its descendants. */
export function listFamily(root: number): number[] {
  const tasks = listTasks(root);
  const children = tasks.flatMap((task) => readProc(root, `task/${task}/children`)?.match(/\d+/g) ?? []);
  return [...(tasks.length > 0 ? [root] : []), ...children.flatMap((child) => listFamily(Number(child)))];
}

function listTasks(pid: number): string[] {
  return ignoreMissing(() => readdirSync(`/proc/${pid}/task`)) ?? [];
}

function readProc(pid: number, name: string): string | undefined {
  return ignoreMissing(() => readFileSync(`/proc/${pid}/${name}`, 'utf8'));
}

/** Returns what `read` returns; undefined without `/proc`, or if the process has ended. */
function ignoreMissing<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')) return;
    throw error;
  }
}
