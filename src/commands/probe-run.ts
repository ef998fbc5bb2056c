import type { Catalogue } from '../catalogue/database.ts';
import { countProbedSince, endProbeRun, startProbeRun } from '../catalogue/probe-runs.ts';
import { listProbeHosts, type ProbeScope } from '../catalogue/probe-tasks.ts';
import { isOurRound } from '../catalogue/rounds.ts';
import { getRevision, writeCatalogue } from '../catalogue/write.ts';
import type { Config } from '../config.ts';
import { type GuardedClient, openGuardedClient } from '../fetching/client.ts';
import { PROBE_OUTCOMES, type ProbeOutcome } from '../model/outcome.ts';
import type { ProbeSample } from '../model/sample.ts';
import { runProbes } from '../probing/run-probes.ts';
import { getUserAgent } from '../views/user-agent.ts';
import { openPublishing, type PublishedCounts } from './probe-publishing.ts';
import { openProbeStore, PROVIDER_FILE_INTERVAL_MS, type ProbeStoreOptions } from './probe-store.ts';
import { readProviderFile } from './provider-file.ts';

/** What a run is to look at: what is due, every route, or every route of some listings. */
export type ProbeSelection =
  | { kind: 'due' }
  | { kind: 'all'; again: boolean }
  | { kind: 'chosen'; slugs: readonly string[]; routeIds?: readonly string[] };

export interface ProbeRunOptions {
  config: Config;
  now: () => Date;
  random: () => number;
  signal: AbortSignal;
  atOnce: number;
  pauseMs: number;
  timeoutMs: number;
  /** Opens the client that asks; the guarded one of this network unless said otherwise. */
  openClient?: typeof openGuardedClient;
  /** Called when a route is done or put off, with how many of how many. */
  onProgress: (done: number, total: number) => void;
}

/** What one run came to. */
export interface ProbeReport {
  scope: ProbeSelection['kind'];
  /** False where it was stopped before its end; the same run goes on where it was. */
  complete: boolean;
  hosts: number;
  routes: {
    planned: number;
    /** Done by an earlier process of the same pass. */
    done_before: number;
    probed: number;
    /** Left for later, because their host asked to be left alone. */
    put_off: number;
  };
  /** How many probes had each outcome; those that none had are left out. */
  outcomes: Partial<Record<ProbeOutcome, number>>;
  listings: PublishedCounts;
  /** Hosts at which the provider states something, and listings that changed by it. */
  doors: { stated: number; changed: number };
  /**
   * Most hosts failed that used to answer, or all where hardly any ever did: the fault is ours, and counts against
   * nobody.
   */
  fault_is_ours: boolean;
  revision: { before: number; after: number };
  took_ms: number;
}

/**
 * Probes what is wished for, writes down what was seen, and publishes what it means for readers. Stopped or killed at
 * any point nothing that was seen is lost, and the same run goes on where it was.
 */
export async function runProbing(
  catalogue: Catalogue,
  selection: ProbeSelection,
  options: ProbeRunOptions,
): Promise<ProbeReport> {
  const { config, now, signal, openClient = openGuardedClient } = options;
  const started = now();
  const before = getRevision(catalogue);
  const pass =
    selection.kind === 'all'
      ? writeCatalogue(catalogue, started.toISOString(), (w) => startProbeRun(w, selection))
      : undefined;
  const scope = getScope(selection, pass?.started_at ?? null, started.toISOString());
  const hosts = listProbeHosts(catalogue, scope, new Date(started.getTime() - PROVIDER_FILE_INTERVAL_MS).toISOString());
  const planned = hosts.reduce((sum, { routes }) => sum + routes, 0);
  const doneBefore = pass?.resumed ? countProbedSince(catalogue, pass.started_at) : 0;
  const outcomes = new Map<ProbeOutcome, number>();
  let probed = 0;
  let putOff = 0;
  const count = (sample: ProbeSample | null) => {
    if (sample) {
      probed += 1;
      outcomes.set(sample.outcome, (outcomes.get(sample.outcome) ?? 0) + 1);
    } else putOff += 1;
    options.onProgress(doneBefore + probed + putOff, planned);
  };
  // An operator's look at a few listings publishes what it saw, and no others.
  const publishing = openPublishing(catalogue, { now, freshens: selection.kind !== 'chosen' });
  const { allowPrivateNetworks } = config;
  const client = openClient({ allowPrivateNetworks, userAgent: getUserAgent(config) });
  const doors = { stated: 0, changed: 0 };
  const readProviderFileOf: ProbeStoreOptions['readProviderFileOf'] = async (origin, paced) => {
    const hurried = limitTime(paced, options.timeoutMs);
    const read = await readProviderFile({ client: hurried, catalogue, origin, now, allowPrivateNetworks, signal });
    if (read.kind !== 'absent') doors.stated += 1;
    doors.changed += read.changed.length;
    return !signal.aborted;
  };
  const store = openProbeStore(catalogue, {
    ...options,
    scope,
    hosts,
    onRecorded: publishing.maybe,
    readProviderFileOf,
  });
  options.onProgress(doneBefore, planned);
  const { stopped } = await runProbes({ ...options, hosts, store, client, onRoute: count }).finally(client.close);
  const listings = await publishing.finish();
  const ended = now().toISOString();
  if (pass && !stopped) writeCatalogue(catalogue, ended, (writing) => endProbeRun(writing, pass));
  return {
    scope: selection.kind,
    complete: !stopped,
    hosts: hosts.length,
    routes: { planned, done_before: doneBefore, probed, put_off: putOff },
    outcomes: Object.fromEntries(
      PROBE_OUTCOMES.flatMap((name) => (outcomes.has(name) ? [[name, outcomes.get(name)]] : [])),
    ),
    listings,
    doors,
    fault_is_ours: isOurRound(catalogue, ended),
    revision: { before, after: getRevision(catalogue) },
    took_ms: now().getTime() - started.getTime(),
  };
}

/** Most pieces of a provider's file or document: the network's own are some 7,000 where it is as long as it may be. */
const BODY_PIECES = 20_000;

/** Lets no fetch of a host take longer than a probe of it, or come in very many pieces. */
function limitTime(client: Pick<GuardedClient, 'fetch'>, timeoutMs: number): Pick<GuardedClient, 'fetch'> {
  return {
    fetch: (address, { limits, ...init } = {}) => {
      const totalMs = Math.min(limits?.totalMs ?? timeoutMs, timeoutMs);
      return client.fetch(address, { ...init, limits: { bodyPieces: BODY_PIECES, ...limits, totalMs } });
    },
  };
}

function getScope(selection: ProbeSelection, since: string | null, at: string): ProbeScope {
  if (selection.kind === 'due') return { kind: 'due', at };
  return selection.kind === 'all' ? { kind: 'all', since } : { ...selection, since: null };
}
