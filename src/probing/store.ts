import { randomUUID } from 'node:crypto';
import type { Catalogue } from '../catalogue/database.ts';
import { getHostRecord } from '../catalogue/read/hosts.ts';
import { type HostPlan, listProbeTasks, type ProbeScope, type ProbeTask } from '../catalogue/read/probe-plan.ts';
import { findFailingSince } from '../catalogue/read/samples.ts';
import { writeCatalogue } from '../catalogue/transaction.ts';
import { leaseHost, recordHost, releaseHost } from '../catalogue/write/hosts.ts';
import { recordSample } from '../catalogue/write/samples.ts';
import { getNextProbeAt } from '../evidence/schedule.ts';
import type { GuardedClient } from '../fetching/client.ts';
import { DAY_MS, HOUR_MS } from '../model/duration.ts';
import type { ProbeStore } from './visit-hosts.ts';

export interface ProbeStoreOptions {
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
export const PROVIDER_FILE_INTERVAL_MS = HOUR_MS;

/** Time for which a robots.txt is valid (RFC 9309, section 2.4), in milliseconds. */
const ROBOTS_VALID_MS = DAY_MS;

/** Time between two requests of a decoy path to one host, in milliseconds. */
const DECOY_INTERVAL_MS = DAY_MS;

/**
 * Time for which a host is a prober's after its last sample, in milliseconds: longer than any pause and request take.
 */
const LEASE_MS = 5 * 60 * 1000;

/** Opens the store of a probe run: it reads the plan from the catalogue, and records evidence there. */
export function openProbeStore(
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
      const { robots, robots_at, decoy_at, provider_file_at, wait_until } = await getHostRecord(catalogue, host);
      const isWithin = (at: string | null, ms: number) => at !== null && now().getTime() - Date.parse(at) <= ms;
      return {
        robots,
        robots_due: !isWithin(robots_at, ROBOTS_VALID_MS),
        wait_until,
        decoy_due: !isWithin(decoy_at, DECOY_INTERVAL_MS),
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
