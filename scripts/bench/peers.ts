import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Answer } from './measuring.ts';
import type { BareAnswer } from './peers/bare-server.ts';
import { copyRecords } from './peers/express-records.ts';
import { runChild, type Server, startChild, startProgram, stopChild, type World } from './world.ts';

/** A program that runs on this machine, and the environment that it needs. */
export interface Peer {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The Debian packages of each program and of libraries that a bare Debian lacks, its path in them, and an option to try it. */
const PEERS = {
  nginx: { packages: ['nginx', 'nginx-common'], path: 'usr/sbin/nginx', tried: '-v' },
  hugo: { packages: ['hugo', 'libsass1'], path: 'usr/bin/hugo', tried: 'version' },
} as const;

type PeerName = keyof typeof PEERS;

/** Folder in which downloaded programs are unpacked. */
const PEERS_DIR = resolve(import.meta.dirname, '../../dist/peers');

/** Finds a program: the one that `NGINX` or `HUGO` names, else the one on the PATH, else one downloaded before. */
export function findPeer(name: PeerName): Peer | undefined {
  const installed = { command: process.env[name.toUpperCase()] || name, env: process.env };
  return [installed, getDownloaded(name)].find(({ command, env }) => {
    try {
      execFileSync(command, [PEERS[name].tried], { env, stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

/** Finds a program, or downloads it from Debian without installing it. Says why and returns undefined if that fails. */
export async function getPeer(name: PeerName, tell: (line: string) => void): Promise<Peer | undefined> {
  const found = findPeer(name);
  if (found) return found;
  const cause = await download(name).then(
    () => 'A library that it needs may be missing.',
    (error: Error) => error.message.trim().split('\n').slice(0, 3).join(' '),
  );
  const downloaded = findPeer(name);
  if (!downloaded) {
    tell(`${name} is left out, since it cannot be downloaded. ${cause}`);
    tell(`  Install it, name it in ${name.toUpperCase()}, or on Debian run apt-get update first.`);
  }
  return downloaded;
}

async function download(name: PeerName): Promise<void> {
  const run = promisify(execFile);
  await mkdir(PEERS_DIR, { recursive: true });
  const folder = await mkdtemp(join(PEERS_DIR, '.unfinished-'));
  try {
    await run('apt-get', ['download', ...PEERS[name].packages], { cwd: folder });
    for (const file of readdirSync(folder).filter((entry) => entry.endsWith('.deb'))) {
      await run('dpkg-deb', ['-x', file, 'unpacked'], { cwd: folder });
    }
    await rm(join(PEERS_DIR, name), { recursive: true, force: true });
    await rename(join(folder, 'unpacked'), join(PEERS_DIR, name));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns a downloaded program, with the folders of the libraries that came with it. */
function getDownloaded(name: PeerName): Peer {
  const libraries = join(PEERS_DIR, name, 'usr/lib');
  const folders = existsSync(libraries) ? readdirSync(libraries).map((entry) => join(libraries, entry)) : [];
  const env = { ...process.env, LD_LIBRARY_PATH: folders.join(':') };
  return { command: join(PEERS_DIR, name, PEERS[name].path), env };
}

/** Starts the bare server, which sends an answer of another server. */
export function startBareServer({ headers, body }: Answer): Promise<Server> {
  const { date, connection, 'keep-alive': keepAlive, 'transfer-encoding': transferEncoding, ...sent } = headers;
  const answer: BareAnswer = { headers: sent, body: body.toString('base64') };
  return startProgram(new URL('./peers/bare-server.ts', import.meta.url), [], answer);
}

/** Starts the Express directory. */
export function startExpressDirectory(world: World): Promise<Server> {
  return startExpress(world, new URL('./peers/express-directory.ts', import.meta.url));
}

/** Starts the Express server of the discovery endpoints. */
export function startExpressDiscovery(world: World): Promise<Server> {
  return startExpress(world, new URL('./peers/express-discovery.ts', import.meta.url));
}

/** Starts an Express peer. The first start of any copies the records of the catalogue. */
async function startExpress({ config }: World, program: URL): Promise<Server> {
  const file = join(dirname(config.catalogueAddress), 'express.sqlite');
  if (!existsSync(file)) {
    await copyRecords(config, `${file}.unfinished`);
    renameSync(`${file}.unfinished`, file);
  }
  return startProgram(program, [file]);
}

/** The folders of nginx, and the service behind it. */
export interface NginxOptions {
  /** Folder for nginx's own files. */
  readonly folder: string;
  readonly siteDir: string;
  /** Address of the service's process. */
  readonly upstream: string;
  /** Address by which the service names itself. */
  readonly baseUrl: string;
}

/**
 * Starts nginx as one process on loopback, with the configuration of `scripts/deploy`. Throws with its error log if it does
 * not answer.
 */
export function startNginx(nginx: Peer, { folder, siteDir, upstream, baseUrl }: NginxOptions): Promise<Server> {
  const site = readFileSync(resolve(import.meta.dirname, '../deploy/nginx.conf'), 'utf8')
    .replace('127.0.0.1:4321', new URL(upstream).host)
    .replace('https://apis.example', baseUrl)
    .replaceAll('/srv/catalogue/site', siteDir);
  return startNginxOf(nginx, folder, site);
}

/**
 * Starts nginx with a configuration that listens on 8080, on another `port` of loopback, without its limits of clients unless
 * `limited`: a benchmark is one client. Throws as `startNginx` does.
 */
export async function startNginxOf(
  { command, env }: Peer,
  folder: string,
  configured: string,
  { limited = false, port }: { limited?: boolean; port?: number } = {},
): Promise<Server> {
  mkdirSync(join(folder, 'temporary'), { recursive: true });
  port ??= await findFreePort();
  const listening = configured.replace('listen 8080', `listen 127.0.0.1:${port}`);
  const site = limited ? listening : listening.replaceAll(/^ +limit_(?:req|conn) .*$/gm, '');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, 'temporary', name)};`)
    .join('\n');
  const file = join(folder, 'nginx.conf');
  const configuration = `daemon off; master_process off; pid ${join(folder, 'nginx.pid')}; error_log stderr;
events { worker_connections 1024; }
http { access_log off; ${temporary}
${site} }`;
  writeFileSync(file, configuration);
  const args = ['-p', folder, '-c', file, '-e', 'stderr'];
  const child = startChild(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const server = { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => stopChild(child) };
  for (let attempt = 0; attempt < 200 && child.exitCode === null; attempt += 1) {
    if (await fetch(server.url).catch(() => undefined)) return server;
    await sleep(25);
  }
  await server.stop();
  throw new Error(`nginx does not answer: ${log}`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

/** Time and size of Hugo's build of the listings' pages, in seconds and bytes. */
export interface HugoBuild {
  readonly seconds: number;
  /** Mean size of a listing's page. */
  readonly pageBytes: number;
  /** Most memory that Hugo held. */
  readonly peak: number;
}

/**
 * Builds the pages of the listings with Hugo in a new folder, from templates of the same pages. Its time is Hugo's alone, without
 * that of our export, which writes the content files.
 */
export async function buildWithHugo({ command, env }: Peer, world: World, folder: string): Promise<HugoBuild> {
  mkdirSync(folder, { recursive: true });
  cpSync(join(import.meta.dirname, 'peers/hugo'), folder, { recursive: true });
  const exporter = fileURLToPath(new URL('./peers/hugo-export.ts', import.meta.url));
  await runChild(process.execPath, [exporter, folder], { env: world.env });
  const args = ['--quiet', '--source', folder, '--cacheDir', join(folder, 'cache')];
  const built = await runChild(command, args, { env });
  const pages = join(folder, 'public/api');
  const sizes = readdirSync(pages).map((name) => statSync(join(pages, name)).size);
  const pageBytes = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  return { seconds: built.seconds, pageBytes, peak: built.peak };
}
