import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openGuardedClient } from '../../src/fetching/client.ts';
import type { ProbeSample } from '../../src/model/probe.ts';
import { type ProbeStore, type RouteTask, type RunOptions, visitHosts } from '../../src/probing/visit-hosts.ts';
import { listen } from '../fetching/outside.ts';
import { NOW } from '../records.ts';
import { makeProbed, sendStatus } from './market.ts';

/** One request to a fake host: its host, when it came and when it was answered (milliseconds). */
export interface Passing {
  host: string;
  url: string;
  began: number;
  ended: number;
}

/** Hosts on loopback that log all requests. */
export interface FakeHosts {
  hosts: string[];
  passed: Passing[];
  /** The most concurrent requests: over all hosts, and at one host. */
  getMost: () => { overall: number; perHost: number };
  /** Shortest time from the end of a request to the beginning of the next at the same host. */
  getShortestPause: () => number;
  /** The requests in order, of one host or of all. */
  listAsked: (host?: string) => string[];
}

type Answering = (response: ServerResponse, url: string, host: string) => void;

/** Opens hosts that answer after a delay. By default they have no robots.txt. */
export async function openFakeHosts(
  count: number,
  answer: Answering,
  { delayMs = 0, robots }: { delayMs?: number; robots?: string } = {},
): Promise<FakeHosts> {
  const passed: Passing[] = [];
  const hosts: string[] = [];
  for (let index = 0; index < count; index += 1) {
    let host = '';
    const server = createServer(async (request, response) => {
      const passing = { host, url: request.url ?? '', began: performance.now(), ended: Number.POSITIVE_INFINITY };
      passed.push(passing);
      const end = response.end.bind(response);
      response.end = (...parts: []) => {
        passing.ended = Math.min(passing.ended, performance.now());
        return end(...parts);
      };
      response.once('close', () => {
        passing.ended = Math.min(passing.ended, performance.now());
      });
      await sleep(delayMs);
      if (passing.url !== '/robots.txt') answer(response, passing.url, host);
      else if (robots === undefined) sendStatus(response, 404);
      else response.writeHead(200, { 'content-type': 'text/plain' }).end(robots);
    });
    const { port, close } = await listen(server);
    onTestFinished(close);
    host = `http://127.0.0.1:${port}`;
    hosts.push(host);
  }
  return {
    hosts,
    passed,
    getMost: () => ({
      overall: countMost(passed),
      perHost: Math.max(...hosts.map((host) => countMost(passed.filter((one) => one.host === host)))),
    }),
    getShortestPause: () =>
      Math.min(...hosts.flatMap((host) => listPauses(passed.filter((passing) => passing.host === host)))),
    listAsked: (wanted) => passed.filter(({ host }) => wanted === undefined || host === wanted).map(({ url }) => url),
  };
}

function countMost(passed: readonly Passing[]): number {
  return Math.max(
    0,
    ...passed.map(({ began }) => passed.filter((other) => other.began <= began && other.ended > began).length),
  );
}

function listPauses(passed: readonly Passing[]): number[] {
  return passed.slice(1).map(({ began }, index) => began - (passed[index]?.ended ?? 0));
}

/** A store in memory that behaves like a catalogue. */
export interface MemoryBook extends ProbeStore<string> {
  samples: (ProbeSample & { key: string })[];
  robots: Map<string, string>;
  decoys: string[];
  waits: Map<string, string>;
}

/** Makes a store with these routes at every host, by path. Routes with a sample are done. No robots.txt is known yet. */
export function makeStore(paths: readonly string[], route: Partial<RouteTask<string>['route']> = {}): MemoryBook {
  const samples: MemoryBook['samples'] = [];
  const [robots, waits] = [new Map<string, string>(), new Map<string, string>()];
  const decoys: string[] = [];
  return {
    samples,
    robots,
    waits,
    decoys,
    takeHost: async () => true,
    keepHost: async () => true,
    releaseHost: async () => undefined,
    async *listTasks(host) {
      yield* paths
        .map((path) => ({ key: `${host}${path}`, base_url: host, route: makeProbed({ path, ...route }) }))
        .filter(({ key }) => !samples.some((sample) => sample.key === key));
    },
    getHostPolicy: async (host) => ({
      robots: robots.get(host) ?? null,
      robots_due: false,
      wait_until: waits.get(host) ?? null,
      decoy_due: false,
      provider_file_due: true,
    }),
    readProviderFile: async () => undefined,
    recordRobots: async (host, text) => void robots.set(host, text),
    recordDecoyCheck: async (host) => void decoys.push(host),
    recordWait: async (host, until) => void waits.set(host, until),
    recordSample: async ({ key }, sample) => void samples.push({ ...sample, key }),
  };
}

/** How a run ended, and which routes were put off. */
export async function run(
  { hosts }: Pick<FakeHosts, 'hosts'>,
  store: ProbeStore<string>,
  overrides: Partial<RunOptions<string>> = {},
): Promise<{ stopped: boolean; done: number; putOff: number }> {
  const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'catalogue-test/1' });
  let [done, putOff] = [0, 0];
  const options: RunOptions<string> = {
    hosts: hosts.map((host) => ({ host })),
    store,
    client,
    atOnce: 8,
    pauseMs: 0,
    timeoutMs: 5_000,
    now: () => new Date(NOW),
    random: () => 0.5,
    signal: new AbortController().signal,
    onRoute: (sample) => {
      if (sample) done += 1;
      else putOff += 1;
    },
    ...overrides,
  };
  const { stopped } = await visitHosts(options).finally(client.close);
  return { stopped, done, putOff };
}
