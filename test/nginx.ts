import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Server, startChild, stopChild } from '../scripts/bench/world.ts';
import { findFreePort } from '../scripts/free-port.ts';

/** Finds the command of nginx: what `NGINX` names, else that on the PATH; undefined without one. */
export function findNginx(): string | undefined {
  const command = process.env.NGINX || 'nginx';
  return spawnSync(command, ['-v'], { stdio: 'ignore' }).status === 0 ? command : undefined;
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
export function startNginx(command: string, { folder, siteDir, upstream, baseUrl }: NginxOptions): Promise<Server> {
  const site = readFileSync(resolve(import.meta.dirname, '../scripts/deploy/nginx.conf'), 'utf8')
    .replace('127.0.0.1:4321', new URL(upstream).host)
    .replace('https://apis.example', baseUrl)
    .replaceAll('/srv/catalogue/site', siteDir);
  return startNginxOf(command, folder, site);
}

/**
 * Starts nginx with a configuration that listens on 8080, on another `port` of loopback, without its limits of clients unless
 * `limited`: a test is one client. Throws as `startNginx` does.
 */
export async function startNginxOf(
  command: string,
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
events { worker_connections 4096; }
http { access_log off; ${temporary}
${site} }`;
  writeFileSync(file, configuration);
  const args = ['-p', folder, '-c', file, '-e', 'stderr'];
  const child = startChild(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
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
