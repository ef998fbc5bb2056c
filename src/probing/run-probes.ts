import pLimit from 'p-limit';
import type { GuardedClient } from '../fetching/client.ts';
import { getRouteUrl, type JsonObject } from '../model/route.ts';
import type { ProbeSample } from '../model/sample.ts';
import { ROBOTS_DISALLOWED } from './fetch-within-origin.ts';
import { buildPacedClient, openPace, type Pace } from './pacing.ts';
import { buildProbeRequest } from './probe-request.ts';
import { type ProbeOptions, probeRoute } from './probe-route.ts';
import type { ProbedRoute } from './probed-route.ts';
import { fetchRobots, parseRobots, type Robots } from './robots.ts';
import { buildVerdict } from './verdict.ts';

/** One route to be asked. `Key` is whatever its owner knows it by. */
export interface RouteTask<Key> {
  key: Key;
  base_url: string;
  route: ProbedRoute;
}

/** What a run needs to know and to write down. It does neither itself: who owns the store gives these. */
export interface ProbeStore<Key> {
  /** Lists the routes to be asked of a host, when its turn comes. */
  listTasks(host: string): Iterable<RouteTask<Key>>;
  /**
   * What is known of the host: its robots.txt as last read and whether that is to be read again, until when it wants to
   * be left alone, whether a made-up address beside a route is to be asked as well, and whether a visit is due.
   */
  getHostPolicy(host: string): {
    robots: string | null;
    robots_due: boolean;
    wait_until: string | null;
    decoy_due: boolean;
    provider_file_due: boolean;
  };
  recordRobots(host: string, robots: string, at: string): void;
  recordDecoyCheck(host: string, at: string): void;
  recordWait(host: string, until: string): void;
  recordSample(task: RouteTask<Key>, sample: ProbeSample): void;
  /**
   * Reads what stands at the host besides its routes, before those are asked, by a client that keeps the host's pace.
   * What it throws ends the run.
   */
  visitHost(host: string, client: Pick<GuardedClient, 'fetch'>): Promise<void>;
}

export interface RunOptions<Key> {
  hosts: readonly { host: string }[];
  store: ProbeStore<Key>;
  client: GuardedClient;
  /** Requests under way at once, over all hosts; of one host never more than one. */
  atOnce: number;
  /** Pause between two requests to one host, in milliseconds. */
  pauseMs: number;
  /** Time for one request, in milliseconds. */
  timeoutMs: number;
  now: () => Date;
  random: () => number;
  signal: AbortSignal;
  /** Called when a route is done, or put off (null) because its host wants to be left alone for longer. */
  onRoute?: (sample: ProbeSample | null) => void;
}

/** Hosts visited at once for each request that may be under way: most of a visit is pause. */
const HOSTS_PER_REQUEST = 2;

/** Answers that may be longer than this many bytes are documents. */
const LARGE_BYTES = 1024 * 1024;

/** How many documents are fetched at once. */
const DOCUMENTS_AT_ONCE = 2;

/** Longer than this a run does not wait for one host, in milliseconds: its routes are put off. */
const LONGEST_WAIT_MS = 30_000;

/** How long a host is left alone that is being asked too often and does not say for how long. */
const UNTOLD_WAIT_MS = 60 * 60 * 1000;

/** How a run ended: whether it was stopped before its end. */
export interface RunEnd {
  stopped: boolean;
}

/**
 * Probes the routes of many hosts: a bounded number of requests at once, one at a time for each host with a pause
 * between, its robots.txt and `Retry-After` heeded. Every sample is written down as soon as it is there, and a probe
 * that is under way when the run is stopped leaves none. Memory holds the plan and the hosts under way, whatever the
 * number of routes.
 */
export async function runProbes<Key>(options: RunOptions<Key>): Promise<RunEnd> {
  const requests = pLimit(options.atOnce);
  const documents = pLimit(DOCUMENTS_AT_ONCE);
  const visits = pLimit(options.atOnce * HOSTS_PER_REQUEST);
  const failing = new AbortController();
  const signal = AbortSignal.any([options.signal, failing.signal]);
  const visit = async ({ host }: { host: string }): Promise<void> => {
    if (signal.aborted) return;
    try {
      await visitHost(host, { ...options, signal }, requests, documents);
    } catch (error) {
      // Our own failure, such as a full disk: the others stop at once, and the run fails with it.
      if (!signal.aborted) failing.abort(error);
    }
  };
  await visits.map(options.hosts, visit);
  if (failing.signal.aborted) throw failing.signal.reason;
  return { stopped: options.signal.aborted };
}

type Limit = ReturnType<typeof pLimit>;

async function visitHost<Key>(
  host: string,
  options: RunOptions<Key>,
  requests: Limit,
  documents: Limit,
): Promise<void> {
  const { store, now, signal, onRoute } = options;
  const { wait_until, robots: known, robots_due, decoy_due, provider_file_due } = store.getHostPolicy(host);
  if (wait_until !== null && wait_until > now().toISOString()) {
    for (const _task of store.listTasks(host)) onRoute?.(null);
    return;
  }
  const pace = openPace(options.pauseMs, signal);
  const read = known === null || robots_due ? await readRobots(host, options, pace, requests) : undefined;
  // One that cannot be read holds as it was (RFC 9309 section 2.4); where there never was one, everything may be asked.
  const robots = parseRobots(read ?? known ?? '');
  if (provider_file_due) {
    const fetchInTurn: GuardedClient['fetch'] = (address, init) => {
      const ask = () => requests(() => options.client.fetch(address, init));
      const isDocument = (init?.limits?.bodyBytes ?? Number.POSITIVE_INFINITY) > LARGE_BYTES;
      return isDocument ? documents(ask) : ask();
    };
    await store.visitHost(host, buildPacedClient({ fetch: fetchInTurn }, pace, robots.delayMs));
  }
  let isDecoyDue = decoy_due;
  const tasks = [...store.listTasks(host)];
  for (const [index, task] of tasks.entries()) {
    const sample = await askRoute(task, { robots, pace, checkWildcard: isDecoyDue }, options, requests);
    if (sample.outcome === 'internal' && signal.aborted) return;
    // Where a neighbour answers 402 as well, so may every other: each route of such a host is compared with its own.
    if (sample.detail.sibling !== undefined && sample.outcome !== 'wildcard_402') {
      isDecoyDue = false;
      store.recordDecoyCheck(host, sample.at);
    }
    store.recordSample(task, sample);
    onRoute?.(sample);
    // Nothing was asked, so there is nothing to rest from.
    if (sample.cause === ROBOTS_DISALLOWED && sample.status === null) continue;
    const waitMs = getWait(sample);
    if (waitMs > LONGEST_WAIT_MS) {
      store.recordWait(host, new Date(now().getTime() + waitMs).toISOString());
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
  if (text !== undefined) store.recordRobots(host, text, now().toISOString());
  return text;
}

async function askRoute<Key>(
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
    return buildUnasked(url, route, now(), detail);
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
    // Not for the whole probe: most of one that is led on is pause, in which others are asked.
    takeTurn: requests,
    signal,
  };
  await pace.wait();
  const sample = await probeRoute(probe);
  return { ...sample, detail: { ...sample.detail, ...unread } };
}

/** Characters of a rule kept with the sample that it forbids. */
const MAX_RULE_SHOWN = 300;

/** What is on record of a route that its host asks us to leave alone: nothing for or against it. */
function buildUnasked(url: string, { method }: ProbedRoute, at: Date, detail: JsonObject): ProbeSample {
  const verdict = buildVerdict('internal', ROBOTS_DISALLOWED, { detail });
  return { at: at.toISOString(), duration_ms: 0, url, method, ...verdict, payee_rotates: null };
}

function getWait({ outcome, retry_after_seconds }: ProbeSample): number {
  if (retry_after_seconds !== null) return retry_after_seconds * 1000;
  return outcome === 'rate_limited' ? UNTOLD_WAIT_MS : 0;
}
