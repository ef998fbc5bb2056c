import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const CONFIGURATION = resolve(import.meta.dirname, '../../scripts/deploy/nginx.conf');

/** An nginx of our own, on loopback and with all its files in one folder. */
export interface Nginx {
  readonly url: string;
  stop(): Promise<void>;
}

/** Says whether nginx can be run here; `NGINX` names it where it is not on the path. */
export function findNginx(): string | undefined {
  const nginx = process.env.NGINX || 'nginx';
  try {
    execFileSync(nginx, ['-v'], { stdio: 'ignore' });
    return nginx;
  } catch {
    return undefined;
  }
}

/** Starts nginx with the configuration that the project ships, its places filled in, in front of a server. */
export async function startNginx(
  nginx: string,
  { folder, releasesDir, upstream }: { folder: string; releasesDir: string; upstream: string },
): Promise<Nginx> {
  mkdirSync(join(folder, 'temporary'), { recursive: true });
  const port = await findFreePort();
  const shipped = readFileSync(CONFIGURATION, 'utf8')
    .replace('127.0.0.1:4321', new URL(upstream).host)
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
  const child = spawn(nginx, ['-p', folder, '-c', file, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const url = `http://127.0.0.1:${port}`;
  await waitUntilAnswered(url, child, () => said);
  return {
    url,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function waitUntilAnswered(url: string, child: ChildProcess, getSaid: () => string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${getSaid()}`);
    const answer = await fetch(url).catch(() => undefined);
    if (answer) return;
    await sleep(25);
  }
  throw new Error(`nginx does not answer: ${getSaid()}`);
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
