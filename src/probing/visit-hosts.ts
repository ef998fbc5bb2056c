import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { GuardedClient } from '../fetching/client.ts';
import { buildPacedClient, openPace, type Pace } from '../fetching/pacing.ts';
import { HOUR_MS } from '../model/duration.ts';
import type { JsonObject } from '../model/json.ts';
import type { ProbeSample } from '../model/probe.ts';
import { getRouteUrl } from '../model/route.ts';
import { buildVerdict } from './classify.ts';
import { buildProbeRequest, type ProbedRoute } from './probe-request.ts';
import { type ProbeOptions, probeRoute, ROBOTS_DISALLOWED } from './probe-route.ts';
import { fetchRobots, parseRobots, type Robots } from './robots.ts';

/** One route to be probed. `Key` is the form in which its owner identifies it. */
export interface RouteTask<Key> {
  key: Key;
  base_url: string;
  route: ProbedRoute;
}

/** Data that a run reads and records. The owner of the data implements it. */
export interface ProbeStore<Key> {
  /**
   * Takes a host for this run, which nobody else may visit until `releaseHost`. Returns false while another prober
   * visits it.
   */
  takeHost(host: string): Promise<boolean>;
  /** Keeps a taken host for longer. Returns false if another prober has it since. */
  keepHost(host: string): Promise<boolean>;
  releaseHost(host: string): Promise<void>;
  /** Lists the routes of a host to probe. Called when its turn comes. */
  listTasks(host: string): AsyncIterable<RouteTask<Key>>;
  /**
   * Returns the policy for a host: its robots.txt as last read and whether to read it again, the time until which it
   * asked us to wait, whether a decoy path is due, and whether its provider file is due.
   */
  getHostPolicy(host: string): Promise<{
    robots: string | null;
    robots_due: boolean;
    wait_until: string | null;
    decoy_due: boolean;
    provider_file_due: boolean;
  }>;
  recordRobots(host: string, robots: string, at: string): Promise<void>;
  recordDecoyCheck(host: string, at: string): Promise<void>;
  recordWait(host: string, until: string): Promise<void>;
  recordSample(task: RouteTask<Key>, sample: ProbeSample): Promise<void>;
  /**
   * Reads the provider's file of the host before its routes are probed, with a client that keeps the host's pace. An
   * error ends the run.
   */
  readProviderFile(host: string, client: Pick<GuardedClient, 'fetch'>): Promise<void>;
}

export interface RunOptions<Key> {
  hosts: readonly { host: string }[];
  store: ProbeStore<Key>;
  client: GuardedClient;
  /** Concurrent requests over all hosts; never more than one for each host. */
  atOnce: number;
  /** Pause between two requests to one host, in milliseconds. */
  pauseMs: number;
  /** Time for one request, in milliseconds. */
  timeoutMs: number;
  now: () => Date;
  random: () => number;
  signal: AbortSignal;
  /** Lists up to `most` hosts to visit beside the planned ones, without those in `visited`. */
  listArrivals?: (most: number, visited: ReadonlySet<string>) => Promise<string[]>;
  /** Called when a route is done, or put off (null) because its host asks for a longer wait. */
  onRoute?: (sample: ProbeSample | null) => void;
}

/** Hosts visited at once for each concurrent request: most of a visit is waiting. */
const HOSTS_PER_REQUEST = 2;

/** Requests whose answers may be longer than this count as documents, in bytes. */
const LARGE_BYTES = 1024 * 1024;

/** Documents fetched at once. */
const DOCUMENTS_AT_ONCE = 2;

/** Longest wait for one host within a run, in milliseconds. If it asks for a longer one, its routes are put off. */
const LONGEST_WAIT_MS = 30_000;

/** Wait for a host that answers 429 without `Retry-After`, in milliseconds. */
const DEFAULT_WAIT_MS = HOUR_MS;

/**
 * Arrivals visited at once, with as many requests, and the time between two looks for them, in milliseconds. They have places of
 * their own, so that they wait for no long run, and none waits for them.
 */
const ARRIVALS_AT_ONCE = 24;
const ARRIVALS_EVERY_MS = 2_000;

/** The end of a run: `stopped` is true if it was stopped before it was complete. */
interface RunEnd {
  stopped: boolean;
}

/**
 * Probes the routes of many hosts with a bounded number of concurrent requests. Each host gets one request at a time,
 * with a pause between, and its robots.txt and `Retry-After` are obeyed. Every sample is recorded at once; a probe that
 * is interrupted by a stop leaves none. Memory holds only the plan and the hosts in progress, whatever the number of
 * routes.
 */
export async function visitHosts<Key>(options: RunOptions<Key>): Promise<RunEnd> {
  const requests = pLimit(options.atOnce);
  const documents = pLimit(DOCUMENTS_AT_ONCE);
  const visits = pLimit(options.atOnce * HOSTS_PER_REQUEST);
  const failing = new AbortController();
  const signal = AbortSignal.any([options.signal, failing.signal]);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    if (signal.aborted) return;
    try {
      await work();
    } catch (error) {
      // A failure of our own, such as a full disk, stops all other visits and fails the run.
      if (!signal.aborted) failing.abort(error);
    }
  };
  const visit = ({ host }: { host: string }) =>
    attempt(() => takeAndVisit(host, { ...options, signal }, requests, documents));
  const planned = visits.map(options.hosts, visit);
  const arrivals = attempt(() => visitArrivals({ ...options, signal }, planned, attempt));
  await Promise.all([planned, arrivals]);
  if (failing.signal.aborted) throw failing.signal.reason;
  return { stopped: options.signal.aborted };
}

type Limit = ReturnType<typeof pLimit>;

/** Visits the hosts that arrive while the planned ones are visited; once at least. */
async function visitArrivals<Key>(
  options: RunOptions<Key>,
  planned: Promise<unknown>,
  attempt: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { listArrivals, signal } = options;
  if (!listArrivals) return;
  const requests = pLimit(ARRIVALS_AT_ONCE);
  const documents = pLimit(DOCUMENTS_AT_ONCE);
  const visits = new Map<string, Promise<unknown>>();
  let isOver = false;
  const end = planned.then(() => {
    isOver = true;
  });
  for (;;) {
    for (const host of await listArrivals(ARRIVALS_AT_ONCE - visits.size, new Set(visits.keys()))) {
      const visit = attempt(() => takeAndVisit(host, options, requests, documents));
      visits.set(
        host,
        visit.finally(() => visits.delete(host)),
      );
    }
    if (isOver || signal.aborted) break;
    await Promise.race([end, sleep(ARRIVALS_EVERY_MS, undefined, { signal }).catch(() => undefined)]);
  }
  await Promise.all(visits.values());
}

/** Visits a host, unless another prober does; then its routes are left to that prober. */
async function takeAndVisit<Key>(
  host: string,
  options: RunOptions<Key>,
  requests: Limit,
  documents: Limit,
): Promise<void> {
  const { store, onRoute } = options;
  if (!(await store.takeHost(host))) {
    for await (const _task of store.listTasks(host)) onRoute?.(null);
    return;
  }
  try {
    await visitHost(host, options, requests, documents);
  } finally {
    await store.releaseHost(host);
  }
}

async function visitHost<Key>(
  host: string,
  options: RunOptions<Key>,
  requests: Limit,
  documents: Limit,
): Promise<void> {
  const { store, now, signal, onRoute } = options;
  const { wait_until, robots: known, robots_due, decoy_due, provider_file_due } = await store.getHostPolicy(host);
  if (wait_until !== null && wait_until > now().toISOString()) {
    for await (const _task of store.listTasks(host)) onRoute?.(null);
    return;
  }
  const pace = openPace(options.pauseMs, signal);
  const read = known === null || robots_due ? await readRobots(host, options, pace, requests) : undefined;
  // The last known robots.txt holds if it cannot be read (RFC 9309 section 2.4); without one, everything is allowed.
  const robots = parseRobots(read ?? known ?? '');
  if (provider_file_due) {
    const fetchInTurn: GuardedClient['fetch'] = (address, init) => {
      const ask = () => requests(() => options.client.fetch(address, init));
      const isDocument = (init?.limits?.bodyBytes ?? Number.POSITIVE_INFINITY) > LARGE_BYTES;
      return isDocument ? documents(ask) : ask();
    };
    await store.readProviderFile(host, buildPacedClient({ fetch: fetchInTurn }, pace, robots.delayMs));
  }
  let isDecoyDue = decoy_due;
  const tasks: RouteTask<Key>[] = [];
  for await (const task of store.listTasks(host)) tasks.push(task);
  for (const [index, task] of tasks.entries()) {
    if (!(await store.keepHost(host))) {
      for (const _task of tasks.slice(index)) onRoute?.(null);
      return;
    }
    const sample = await probeTask(task, { robots, pace, checkWildcard: isDecoyDue }, options, requests);
    if (sample.outcome === 'internal' && signal.aborted) return;
    // Other paths may answer 402, too, if the decoy path does. On such a host every route is compared with a decoy of
    // its own.
    if (sample.detail.sibling !== undefined && sample.outcome !== 'wildcard_402') {
      isDecoyDue = false;
      await store.recordDecoyCheck(host, sample.at);
    }
    await store.recordSample(task, sample);
    onRoute?.(sample);
    // Nothing was sent, so no pause is needed.
    if (sample.cause === ROBOTS_DISALLOWED && sample.status === null) continue;
    const waitMs = getWait(sample);
    if (waitMs > LONGEST_WAIT_MS) {
      await store.recordWait(host, new Date(now().getTime() + waitMs).toISOString());
      for (const _task of tasks.slice(index + 1)) onRoute?.(null);
      return;
    }
    pace.end(Math.max(waitMs, robots.delayMs));
  }
}

async function readRobots<Key>(
  host: string,
  { store, client, timeoutMs, now, signal }: RunOptions<Key>,
  pace: Pace,
  requests: Limit,
): Promise<string | undefined> {
  const text = await requests(() => fetchRobots(client, host, { timeoutMs, signal }));
  signal.throwIfAborted();
  pace.end();
  if (text !== undefined) await store.recordRobots(host, text, now().toISOString());
  return text;
}

async function probeTask<Key>(
  { base_url, route }: RouteTask<Key>,
  { robots, pace, checkWildcard }: { robots: Robots; pace: Pace; checkWildcard: boolean },
  { client, timeoutMs, now, random, signal }: RunOptions<Key>,
  requests: Limit,
): Promise<ProbeSample> {
  const url = buildProbeRequest(base_url, route)?.url.href ?? getRouteUrl(base_url, route.path);
  const unread = robots.unread.length > 0 ? { robots_unread: [...robots.unread] } : {};
  const forbidding = robots.findForbidding(url);
  if (forbidding !== undefined) {
    const detail = { robots_rule: forbidding.slice(0, MAX_RULE_SHOWN), ...unread };
    return buildForbiddenSample(url, route, now(), detail);
  }
  const pause = () => {
    pace.end(robots.delayMs);
    return pace.wait();
  };
  const probe: ProbeOptions = {
    client,
    baseUrl: base_url,
    route,
    timeoutMs,
    now,
    random,
    checkWildcard,
    isAllowed: (other) => robots.findForbidding(other) === undefined,
    pause,
    // The limit applies to each request and not to the whole probe, so that others can run during its pauses.
    takeTurn: requests,
    signal,
  };
  await pace.wait();
  const sample = await probeRoute(probe);
  return { ...sample, detail: { ...sample.detail, ...unread } };
}

/** Longest part of a forbidding rule that a sample keeps, in characters. */
const MAX_RULE_SHOWN = 300;

/** Builds the sample of a route that robots.txt forbids. It counts neither for nor against the route. */
function buildForbiddenSample(url: string, { method }: ProbedRoute, at: Date, detail: JsonObject): ProbeSample {
  const verdict = buildVerdict('internal', ROBOTS_DISALLOWED, { detail });
  return { at: at.toISOString(), duration_ms: 0, url, method, ...verdict, latency_ms: null, payee_rotates: null };
}

function getWait({ outcome, retry_after_seconds }: ProbeSample): number {
  if (retry_after_seconds !== null) return retry_after_seconds * 1000;
  return outcome === 'rate_limited' ? DEFAULT_WAIT_MS : 0;
}
