import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startChild } from './children.ts';
import type { Peer } from './peers.ts';

const CONFIGURATION = resolve(import.meta.dirname, '../deploy/nginx.conf');

/** An nginx of our own, on loopback and with all its files in one folder. */
export interface Nginx {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** What nginx stands in front of, and where it may put its files. */
export interface NginxOptions {
  readonly folder: string;
  readonly releasesDir: string;
  /** Address of the process behind it, and as what the service names itself. */
  readonly upstream: string;
  readonly baseUrl: string;
}

/**
 * Starts nginx, one process that is its own worker, with the configuration that the project ships, its places filled in.
 * Throws with what it said where it does not come up.
 */
export async function startNginx({ command, env }: Peer, options: NginxOptions): Promise<Nginx> {
  const { folder, releasesDir, upstream, baseUrl } = options;
  mkdirSync(join(folder, 'temporary'), { recursive: true });
  const port = await findFreePort();
  const shipped = readFileSync(CONFIGURATION, 'utf8')
    .replace('127.0.0.1:4321', new URL(upstream).host)
    .replace('https://apis.example', baseUrl)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replaceAll('/srv/catalogue/dist', releasesDir);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const temporary = paths.map((name) => `${name}_temp_path ${join(folder, 'temporary', name)};`).join('\n');
  const main = `daemon off; master_process off; pid ${join(folder, 'nginx.pid')}; error_log stderr;
events { worker_connections 1024; }
http { access_log off; ${temporary}
${shipped} }`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, main);
  const child = startChild(command, ['-p', folder, '-c', file, '-e', 'stderr'], { env, stderr: 'pipe' });
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const url = `http://127.0.0.1:${port}`;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) break;
    const stop = async () => {
      const ended = once(child, 'exit');
      if (child.kill('SIGKILL')) await ended;
    };
    if (await fetch(url).catch(() => undefined)) return { url, pid: child.pid ?? 0, stop };
    await sleep(25);
  }
  child.kill('SIGKILL');
  throw new Error(`nginx does not answer: ${said}`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
