import { Pool, request } from 'undici';
import { PATHS } from '../../src/views/links.ts';
import { getMedian, type Row } from './figures.ts';
import { readUsage, type Server } from './world.ts';

/** One request. */
export interface Asked {
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** How answers are asked for: as they are, or compressed as nearly every client does. */
export const ENCODINGS = ['identity', 'gzip'] as const;

/** Builds a GET request. */
export function buildGet(path: string, encoding: 'identity' | 'gzip' | 'br' = 'identity'): Asked {
  return { path, headers: { 'accept-encoding': encoding } };
}

/** Builds the request that calls a tool over MCP. */
export function buildToolCall(name: string, args: Readonly<Record<string, string | number>>): Asked {
  return {
    path: PATHS.mcp,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  };
}

/** One answer as it was sent, compressed or not, and the milliseconds to its headers and to its end. */
export interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly firstByteMs: number;
  readonly ms: number;
}

/** Asks once. Throws for any answer but 200. */
export async function ask({ url }: Pick<Server, 'url'>, { path, method = 'GET', ...asked }: Asked): Promise<Answer> {
  const started = performance.now();
  const answer = await request(`${url}${path}`, { method, headers: asked.headers, body: asked.body ?? null });
  const firstByteMs = performance.now() - started;
  const body = Buffer.from(await answer.body.arrayBuffer());
  const ms = performance.now() - started;
  if (answer.statusCode !== 200) throw new Error(`${url}${path} was answered ${answer.statusCode}: ${body}`);
  return { headers: answer.headers, body, firstByteMs, ms };
}

const CONNECTIONS = 8;

/** Rounds that are not counted: what is called often is compiled in them, as in a server that runs for a minute. */
const WARM_UP_ROUNDS = 5;

/** What two servers are asked. */
export interface Comparison {
  readonly ours: Server;
  readonly theirs: Server;
  readonly rounds: number;
  readonly requestsPerRound: number;
  /** Builds the next request; both servers get the same ones. */
  readonly build: () => Asked;
}

/**
 * Compares how many requests two servers answer in a second, over eight connections. They take turns, so that what else the
 * machine does disturbs both. The ratio is the median of the rounds.
 */
export async function compareServers(comparison: Comparison): Promise<Omit<Row, 'listings' | 'what'>> {
  const { ours, theirs, rounds, requestsPerRound, build } = comparison;
  const pairs: { ours: Round; theirs: Round }[] = [];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
    const asked = Array.from({ length: requestsPerRound }, build);
    const pair = { theirs: await load(theirs, asked), ours: await load(ours, asked) };
    if (round >= 0) pairs.push(pair);
  }
  const sumCpu = (whose: 'ours' | 'theirs') => pairs.reduce((sum, pair) => sum + pair[whose].cpuMs, 0);
  return {
    unit: 'requests/s',
    ours: getMedian(pairs.map((pair) => pair.ours.perSecond)),
    theirs: getMedian(pairs.map((pair) => pair.theirs.perSecond)),
    ratio: getMedian(pairs.map((pair) => pair.ours.perSecond / pair.theirs.perSecond)),
    cpu_ratio: sumCpu('ours') > 0 ? sumCpu('theirs') / sumCpu('ours') : undefined,
  };
}

interface Round {
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** Makes each request once. Throws for any answer but 200. */
async function load({ url, pid }: Server, asked: readonly Asked[]): Promise<Round> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const waiting = asked.values();
  const cpuBefore = readUsage(pid).cpuMs ?? 0;
  const started = performance.now();
  const askNext = async () => {
    for (const { path, method = 'GET', headers, body = null } of waiting) {
      const answer = await pool.request({ path, method, headers, body });
      await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
      if (answer.statusCode !== 200) throw new Error(`${url}${path} was answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, askNext));
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return { perSecond: asked.length / seconds, cpuMs: (readUsage(pid).cpuMs ?? 0) - cpuBefore };
}
