import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { BareAnswer } from './bare-server.ts';
import { startChild, stopChild } from './children.ts';
import type { Asked } from './rounds.ts';
import type { World } from './world.ts';

/** A server in a process of its own. */
export interface Serving {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts `npm start -- --no-rebuild`, without npm. Resolves when it listens; throws where it ends before. */
export async function startServing({ env }: Pick<World, 'env'>): Promise<Serving> {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const args = [...scripts.start.replace('exec node ', '').split(' '), '--no-rebuild'];
  const child = startChild(process.execPath, args, { env, stdout: 'pipe' });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    const url = /listens on (http:\S+)\. /.exec(said)?.[1];
    if (url) resolve(url);
  });
  child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
  return { url: await promise, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

/** Starts one of our own small servers, which takes what it needs as a message and answers with its port. */
export async function startServer(name: 'bare' | 'astro', message: object): Promise<Serving> {
  const file = fileURLToPath(
    name === 'bare' ? new URL('./bare-server.ts', import.meta.url) : new URL('./astro-server.ts', import.meta.url),
  );
  const child = startChild(process.execPath, [file], { ipc: true });
  child.send(message);
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

/** Starts the bare server with the answers that another server gives to some requests. */
export async function startBare(url: string, asked: readonly Asked[]): Promise<Serving> {
  const answers: Record<string, BareAnswer> = {};
  for (const each of asked) answers[getAnswerKey(each.path, each.headers)] = await readAnswer(url, each);
  return startServer('bare', answers);
}

/** Headers that each server writes for itself. */
const OF_THE_CONNECTION = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/** Gives the key under which the bare server finds an answer: the path, and ` gzip` where compression is accepted. */
export function getAnswerKey(path: string, headers: Readonly<Record<string, string | string[] | undefined>>): string {
  return headers['accept-encoding'] ? `${path} gzip` : path;
}

/** Asks once, and gives the bytes as they travel, compressed or not. Throws for any answer but 200. */
export async function readAnswer(
  url: string,
  { path, method = 'GET', headers = {}, body }: Asked,
): Promise<BareAnswer & { firstByteMs: number; ms: number }> {
  const started = performance.now();
  const sent = request(`${url}${path}`, { method, headers, agent: false }).end(body);
  const [response] = await once(sent, 'response');
  const firstByteMs = performance.now() - started;
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const ms = performance.now() - started;
  if (response.statusCode !== 200) throw new Error(`${method} ${path} was answered ${response.statusCode}`);
  return {
    headers: Object.fromEntries(
      Object.entries(response.headers as Record<string, string>).filter(([name]) => !OF_THE_CONNECTION.has(name)),
    ),
    body: Buffer.concat(chunks).toString('base64'),
    firstByteMs,
    ms,
  };
}
