import { hostname } from 'node:os';
import type { Catalogue } from '../catalogue/database.ts';
import { countProbedSince } from '../catalogue/read/counts.ts';
import { listReadTimes } from '../catalogue/read/hosts.ts';
import { listProbeHosts, type ProbeScope } from '../catalogue/read/probe-plan.ts';
import { isOurs } from '../catalogue/read/rounds.ts';
import { getRevision, writeCatalogue } from '../catalogue/transaction.ts';
import { endProbeRun, startProbeRun } from '../catalogue/write/probe-runs.ts';
import type { Config } from '../config.ts';
import { getRound } from '../evidence/rounds.ts';
import { type GuardedClient, openGuardedClient } from '../fetching/client.ts';
import { readProviderFile } from '../importing/provider-statement.ts';
import { PROBE_OUTCOMES, type ProbeOutcome, type ProbeSample } from '../model/probe.ts';
import { READ_WITHIN_MS, tryReadQueue } from '../submissions/queue.ts';
import { getUserAgent } from '../views/site.ts';
import { openPublishing, type PublishedCounts } from './publishing.ts';
import { openProbeStore, PROVIDER_FILE_INTERVAL_MS, type ProbeStoreOptions } from './store.ts';
import { visitHosts } from './visit-hosts.ts';

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
