import { DAY_MS, HOUR_MS } from '../model/duration.ts';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { Catalogue } from '../catalogue/database.ts';
import { countProbedSince } from '../catalogue/read/counts.ts';
import { getHost, listReadTimes } from '../catalogue/read/hosts.ts';
import {
  type HostPlan,
  listProbeHosts,
  listProbeTasks,
  type ProbeScope,
  type ProbeTask,
} from '../catalogue/read/probe-plan.ts';
import { isOurs } from '../catalogue/read/rounds.ts';
import { findFailingSince } from '../catalogue/read/samples.ts';
import { getRevision, type Writing, writeCatalogue } from '../catalogue/transaction.ts';
import { leaseHost, recordHost, releaseHost } from '../catalogue/write/hosts.ts';
import { endFreshening, endProbeRun, startFreshening, startProbeRun } from '../catalogue/write/probe-runs.ts';
import { type PublicationResult, publishSampled } from '../catalogue/write/probed.ts';
import { judgeRounds } from '../catalogue/write/rounds.ts';
import { recordSample } from '../catalogue/write/samples.ts';
import type { Config } from '../config.ts';
import { getRound } from '../evidence/rounds.ts';
import { getNextProbeAt } from '../evidence/schedule.ts';
import { type GuardedClient, openGuardedClient } from '../fetching/client.ts';
import { readProviderFile } from '../importing/provider-statement.ts';
import { PROBE_OUTCOMES, type ProbeOutcome, type ProbeSample } from '../model/probe.ts';
import { READ_WITHIN_MS, tryReadQueue } from '../submissions/queue.ts';
import { getUserAgent } from '../views/site.ts';
import { type ProbeStore, visitHosts } from './visit-hosts.ts';

/** Routes that a run probes: the due ones, every route, or every route of some listings. */
export type ProbeSelection =
  | { kind: 'due' }
  | { kind: 'all'; again: boolean }
  | { kind: 'chosen'; slugs: readonly string[]; routeIds?: readonly string[] };

interface ProbeRunOptions {
  config: Config;
  now: () => Date;
  random: () => number;
  signal: AbortSignal;
  atOnce: number;
  pauseMs: number;
  timeoutMs: number;
  /** Opens the client for the requests. Default: the guarded client. */
  openClient?: typeof openGuardedClient;
  /** Name of the machine, whose network is judged by its results. Default: its host name. */
  prober?: string;
  /** Called when a route is done or put off, with the number so far and the total. */
  onProgress: (done: number, total: number) => void;
}

/** The report of one run. */
export interface ProbeReport {
  scope: ProbeSelection['kind'];
  /** False if it was stopped before its end. The same run continues where it was. */
  complete: boolean;
  hosts: number;
  routes: {
    planned: number;
    /** Routes probed earlier in the same pass by another process. */
    done_before: number;
    probed: number;
    /** Routes left for later, because their host asked for a wait or another prober visits it. */
    put_off: number;
  };
  /** Number of probes with each outcome, without zeros. */
  outcomes: Partial<Record<ProbeOutcome, number>>;
  listings: PublishedCounts;
  /** Hosts with a provider's file, and listings that it changed. */
  statements: { stated: number; changed: number };
  /**
   * True if most hosts that used to answer failed, or all hosts if hardly any ever answered. Then the fault is ours,
   * and no failure counts.
   */
  fault_is_ours: boolean;
  revision: { before: number; after: number };
  took_ms: number;
}

/**
 * Probes the selection, records the samples, and publishes what they mean for readers. No sample is lost after a stop
 * or a crash, and the same run continues where it was.
 */
export async function runProbing(
  catalogue: Catalogue,
  selection: ProbeSelection,
  options: ProbeRunOptions,
): Promise<ProbeReport> {
  const { config, now, signal, openClient = openGuardedClient, prober = hostname() } = options;
  const started = now();
  const before = await getRevision(catalogue);
  const pass =
    selection.kind === 'all'
      ? await writeCatalogue(catalogue, started.toISOString(), (w) => startProbeRun(w, selection))
      : undefined;
  const scope = getScope(selection, pass?.started_at ?? null, started.toISOString());
  const hosts = await listProbeHosts(
    catalogue,
    scope,
    new Date(started.getTime() - PROVIDER_FILE_INTERVAL_MS).toISOString(),
  );
  let planned = hosts.reduce((sum, { routes }) => sum + routes, 0);
  const doneBefore = pass?.resumed ? await countProbedSince(catalogue, pass.started_at) : 0;
  const outcomes = new Map<ProbeOutcome, number>();
  let probed = 0;
  let putOff = 0;
  const count = (sample: ProbeSample | null) => {
    if (sample) {
      probed += 1;
      outcomes.set(sample.outcome, (outcomes.get(sample.outcome) ?? 0) + 1);
    } else putOff += 1;
    const done = doneBefore + probed + putOff;
    // A route that is set aside may be probed, too, beside the due one of a listing.
    planned = Math.max(planned, done);
    options.onProgress(done, planned);
  };
  // A probe of chosen listings publishes only these.
  const publishing = openPublishing(catalogue, { now, freshens: selection.kind !== 'chosen' });
  const { allowPrivateNetworks } = config;
  const client = openClient({ allowPrivateNetworks, userAgent: getUserAgent(config) });
  const statements = { stated: 0, changed: 0 };
  let isAlone = true;
  const arrivals = new Set<string>();
  const applyProviderFile: ProbeStoreOptions['applyProviderFile'] = async (origin, paced) => {
    const endsAt = arrivals.has(origin) ? performance.now() + ARRIVAL_MS : Number.POSITIVE_INFINITY;
    const limited = limitFetches(paced, options.timeoutMs, endsAt);
    const read = await readProviderFile({ client: limited, catalogue, origin, now, allowPrivateNetworks, signal });
    if (read.kind !== 'absent') statements.stated += 1;
    statements.changed += read.changed.length;
    return !signal.aborted;
  };
  const planHosts = new Set(hosts.map(({ host }) => host));
  const listArrivals = async (most: number, visited: ReadonlySet<string>) => {
    if (selection.kind === 'chosen') return [];
    const submitted = await listSubmitted(catalogue, config, now());
    const arrived = submitted.filter((host) => !visited.has(host) && !planHosts.has(host)).slice(0, most);
    for (const host of arrived) arrivals.add(host);
    return arrived;
  };
  const store = openProbeStore(catalogue, {
    ...options,
    prober,
    scope,
    hosts,
    arrivals,
    onRecorded: publishing.publishIfDue,
    onRefused: () => {
      isAlone = false;
    },
    applyProviderFile,
  });
  options.onProgress(doneBefore, planned);
  const { stopped } = await visitHosts({ ...options, hosts, store, client, listArrivals, onRoute: count }).finally(
    client.close,
  );
  const listings = await publishing.finish();
  const ended = now().toISOString();
  // Routes left to another prober may remain undone, so the next run goes on with the pass.
  if (pass && !stopped && isAlone) await writeCatalogue(catalogue, ended, (writing) => endProbeRun(writing, pass));
  return {
    scope: selection.kind,
    complete: !stopped,
    hosts: hosts.length,
    routes: { planned, done_before: doneBefore, probed, put_off: putOff },
    outcomes: Object.fromEntries(
      PROBE_OUTCOMES.flatMap((name) => (outcomes.has(name) ? [[name, outcomes.get(name)]] : [])),
    ),
    listings,
    statements,
    fault_is_ours: await isOurs(catalogue, prober, getRound(ended)),
    revision: { before, after: await getRevision(catalogue) },
    took_ms: now().getTime() - started.getTime(),
  };
}

/** Most pieces of a provider's file or document. The network itself makes about 7,000 of the longest allowed one. */
const BODY_PIECES = 20_000;

/** Time for the file and the documents of a submitted host together, in milliseconds, so that others get their turn. */
const ARRIVAL_MS = 20_000;

/** Limits every fetch to the time of a probe and to a number of pieces, and all of them to the time until `endsAt`. */
function limitFetches(
  client: Pick<GuardedClient, 'fetch'>,
  timeoutMs: number,
  endsAt: number,
): Pick<GuardedClient, 'fetch'> {
  return {
    fetch: (address, { limits, ...init } = {}) => {
      const left = Math.max(1, endsAt - performance.now());
      const totalMs = Math.min(limits?.totalMs ?? timeoutMs, timeoutMs, left);
      return client.fetch(address, { ...init, limits: { bodyPieces: BODY_PIECES, ...limits, totalMs } });
    },
  };
}

function getScope(selection: ProbeSelection, since: string | null, at: string): ProbeScope {
  if (selection.kind === 'due') return { kind: 'due', at };
  return selection.kind === 'all' ? { kind: 'all', since } : { ...selection, since: null };
}

/**
 * Time for which a robots.txt is valid (RFC 9309 section 2.4), and between two requests of a decoy path, in
 * milliseconds.
 */

interface ProbeStoreOptions {
  prober: string;
  scope: ProbeScope;
  hosts: readonly HostPlan[];
  /** Hosts whose provider's file is due because they were submitted. */
  arrivals?: ReadonlySet<string>;
  now: () => Date;
  random: () => number;
  /** Called when a sample is recorded. */
  onRecorded: () => void;
  /** Called when another prober visits a host. */
  onRefused: () => void;
  /** Reads and applies the provider's file of a host. Returns false if it was stopped meanwhile. */
  applyProviderFile: (host: string, client: Pick<GuardedClient, 'fetch'>) => Promise<boolean>;
}

/**
 * Time after which a scheduled probe reads a provider's file again, in milliseconds; a probe of chosen listings always
 * does.
 */
const PROVIDER_FILE_INTERVAL_MS = HOUR_MS;

/**
 * Time for which a host is a prober's after its last sample, in milliseconds: longer than any pause and request take.
 */
const LEASE_MS = 5 * 60 * 1000;

/** Opens the store of a probe run: it reads the plan from the catalogue, and records evidence there. */
function openProbeStore(
  catalogue: Catalogue,
  { prober, scope, hosts, arrivals, now, random, onRecorded, onRefused, applyProviderFile }: ProbeStoreOptions,
): ProbeStore<ProbeTask> {
  const plans = new Map(hosts.map((plan) => [plan.host, plan]));
  const write = (host: string, learned: Parameters<typeof recordHost>[2]) =>
    writeCatalogue(catalogue, now().toISOString(), (writing) => recordHost(writing.catalogue, host, learned));
  // One prober at a time runs on a file; in PostgreSQL several share the hosts.
  const isShared = catalogue.engine.name === 'postgres';
  const by = randomUUID();
  const lease = (host: string) => {
    const at = now();
    return leaseHost(catalogue, host, {
      by,
      at: at.toISOString(),
      until: new Date(at.getTime() + LEASE_MS).toISOString(),
    });
  };
  return {
    async takeHost(host) {
      if (!isShared || (await lease(host))) return true;
      onRefused();
      return false;
    },
    keepHost: async (host) => !isShared || (await lease(host)),
    async releaseHost(host) {
      // The lease runs out by itself if this fails.
      if (isShared) await releaseHost(catalogue, host, by).catch(() => undefined);
    },
    async *listTasks(host) {
      for (const listingId of plans.get(host)?.listing_ids ?? []) {
        for (const key of await listProbeTasks(catalogue, listingId, scope)) {
          const { base_url, route } = key;
          yield { key, base_url, route: { ...route, payeeRotates: route.payee === 'rotating' } };
        }
      }
    },
    async getHostPolicy(host) {
      const { robots, robots_at, decoy_at, provider_file_at, wait_until } = await getHost(catalogue, host);
      const isWithin = (at: string | null, ms: number) => at !== null && now().getTime() - Date.parse(at) <= ms;
      return {
        robots,
        robots_due: !isWithin(robots_at, DAY_MS),
        wait_until,
        decoy_due: !isWithin(decoy_at, DAY_MS),
        provider_file_due:
          scope.kind === 'chosen' || arrivals?.has(host) || !isWithin(provider_file_at, PROVIDER_FILE_INTERVAL_MS),
      };
    },
    async readProviderFile(host, client) {
      // A host that is submitted while its file is read is read again.
      const provider_file_at = now().toISOString();
      if (await applyProviderFile(host, client)) await write(host, { provider_file_at });
    },
    recordRobots: (host, robots, at) => write(host, { robots, robots_at: at }),
    recordDecoyCheck: (host, at) => write(host, { decoy_at: at }),
    recordWait: (host, until) => write(host, { wait_until: until }),
    async recordSample({ key, base_url }, sample) {
      const { listing_id, delisted_at, route } = key;
      const { at, retry_after_seconds: wait } = sample;
      const wait_until = wait === null ? null : new Date(Date.parse(at) + wait * 1000).toISOString();
      const taken = { listing_id, route_id: route.id, host: new URL(base_url).origin, prober };
      await writeCatalogue(catalogue, at, async (writing) => {
        const failing_since = await findFailingSince(writing.catalogue, listing_id, sample);
        const nextAt = getNextProbeAt({ at, failing_since, delisted_at, wait_until }, random);
        await recordSample(writing, taken, sample, nextAt);
      });
      onRecorded();
    },
  };
}

/** Listings that are published in one transaction, and so with one revision. */
const BATCH_SIZE = 100;

/** Time between two publications of results while probes run, in milliseconds. */
const INTERVAL_MS = 10_000;

/** Number of listings with each result when their samples were published. */
type PublishedCounts = Record<PublicationResult['result'], number>;

/** Publishes the results of samples in batches while a run goes on. */
interface Publishing {
  /** Publishes if the last time was long enough ago. A call during a publication does nothing. */
  publishIfDue(): void;
  /** Publishes everything, and returns the counts since the beginning. Throws if an earlier publication failed. */
  finish(): Promise<PublishedCounts>;
}

/**
 * Opens the publication of one run's samples. `now` is the time of the recorded changes. With `freshens` it also
 * publishes fresher times of all listings once a day.
 */
export function openPublishing(
  catalogue: Catalogue,
  { now, freshens }: { now: () => Date; freshens: boolean },
): Publishing {
  const counts: PublishedCounts = { changed: 0, unchanged: 0, delisted: 0, relisted: 0 };
  let last = performance.now();
  let pending: Promise<void> | undefined;
  let failure: unknown;

  async function write<Result>(work: (writing: Writing) => Promise<Result>): Promise<Result> {
    return await writeCatalogue(catalogue, now().toISOString(), work);
  }

  async function publish(): Promise<void> {
    const fresh = await write(async (writing) => {
      await judgeRounds(writing);
      return freshens && (await startFreshening(writing));
    });
    for (;;) {
      const published = await write((writing) => publishSampled(writing, BATCH_SIZE, { fresh }));
      for (const { result } of published) counts[result] += 1;
      if (published.length === 0) break;
      // The event loop handles probes between transactions.
      await setImmediate();
    }
    if (fresh) await write(endFreshening);
  }

  return {
    publishIfDue() {
      if (pending || performance.now() - last < INTERVAL_MS) return;
      pending = publish()
        .catch((error: unknown) => {
          failure = error;
        })
        .finally(() => {
          last = performance.now();
          pending = undefined;
        });
    },
    async finish() {
      await pending;
      if (failure !== undefined) throw failure;
      await publish();
      return counts;
    },
  };
}

/**
 * Lists the hosts whose provider's file the intake found good, and which was not read since, in the order in which they are to be
 * visited. A queue that cannot be read is empty for now, since probing goes on without it.
 */
export async function listSubmitted(
  catalogue: Catalogue,
  { submissionsFile }: Pick<Config, 'submissionsFile'>,
  now: Date,
): Promise<string[]> {
  const since = new Date(now.getTime() - READ_WITHIN_MS).toISOString();
  // The status and the metrics of the operator say why a queue cannot be read.
  const received = tryReadQueue(submissionsFile, (queue) => queue.listReceived(since));
  if (received.length === 0) return [];
  const hosts = received.map(({ origin }) => origin);
  const known = await listReadTimes(catalogue, hosts);
  return received
    .filter(({ origin, received_at }) => {
      const { provider_file_at, wait_until } = known.get(origin) ?? { provider_file_at: null, wait_until: null };
      return (provider_file_at ?? '') < (received_at ?? '') && (wait_until ?? '') <= now.toISOString();
    })
    .map(({ origin }) => origin);
}
