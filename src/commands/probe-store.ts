import type { Catalogue } from '../catalogue/database.ts';
import { getHost, recordHost } from '../catalogue/hosts.ts';
import { type HostPlan, listProbeTasks, type ProbeScope, type ProbeTask } from '../catalogue/probe-tasks.ts';
import { recordSample } from '../catalogue/record-sample.ts';
import { findFailingSince } from '../catalogue/samples.ts';
import { writeCatalogue } from '../catalogue/write.ts';
import { getNextProbeAt } from '../evidence/schedule.ts';
import type { GuardedClient } from '../fetching/client.ts';
import type { ProbeStore } from '../probing/run-probes.ts';

/** How long a robots.txt holds (RFC 9309 section 2.4), and how often a made-up address beside a route is asked. */
const DAY_MS = 24 * 60 * 60 * 1000;

export interface ProbeStoreOptions {
  scope: ProbeScope;
  hosts: readonly HostPlan[];
  now: () => Date;
  random: () => number;
  /** Called when a sample is written down. */
  onRecorded: () => void;
  /** Reads what the provider states at its own door, and does it; false where it was stopped meanwhile. */
  readProviderFileOf: (host: string, client: Pick<GuardedClient, 'fetch'>) => Promise<boolean>;
}

/** A scheduled probe reads a provider's file again when the last reading is older than this; a chosen one always does. */
export const PROVIDER_FILE_INTERVAL_MS = 60 * 60 * 1000;

/** Opens the book of a probe run: what it reads of the catalogue, and what it writes down there as evidence. */
export function openProbeStore(
  catalogue: Catalogue,
  { scope, hosts, now, random, onRecorded, readProviderFileOf }: ProbeStoreOptions,
): ProbeStore<ProbeTask> {
  const plans = new Map(hosts.map((plan) => [plan.host, plan]));
  const write = (host: string, learned: Parameters<typeof recordHost>[2]) =>
    writeCatalogue(catalogue, now().toISOString(), () => recordHost(catalogue, host, learned));
  return {
    *listTasks(host) {
      for (const listingId of plans.get(host)?.listing_ids ?? []) {
        for (const key of listProbeTasks(catalogue, listingId, scope)) {
          const { base_url, route } = key;
          yield { key, base_url, route: { ...route, payeeRotates: route.payee === 'rotating' } };
        }
      }
    },
    getHostPolicy(host) {
      const { robots, robots_at, sibling_at, door_at, wait_until } = getHost(catalogue, host);
      const isWithin = (at: string | null, ms: number) => at !== null && now().getTime() - Date.parse(at) <= ms;
      return {
        robots,
        robots_due: !isWithin(robots_at, DAY_MS),
        wait_until,
        decoy_due: !isWithin(sibling_at, DAY_MS),
        provider_file_due: scope.kind === 'chosen' || !isWithin(door_at, PROVIDER_FILE_INTERVAL_MS),
      };
    },
    async visitHost(host, client) {
      if (await readProviderFileOf(host, client)) write(host, { door_at: now().toISOString() });
    },
    recordRobots: (host, robots, at) => write(host, { robots, robots_at: at }),
    recordDecoyCheck: (host, at) => write(host, { sibling_at: at }),
    recordWait: (host, until) => write(host, { wait_until: until }),
    recordSample({ key, base_url }, sample) {
      const { listing_id, out_since, route } = key;
      const { at, retry_after_seconds: wait } = sample;
      const wait_until = wait === null ? null : new Date(Date.parse(at) + wait * 1000).toISOString();
      const taken = { listing_id, route_id: route.id, host: new URL(base_url).origin };
      writeCatalogue(catalogue, at, (writing) => {
        const failing_since = findFailingSince(catalogue, listing_id, sample);
        const nextAt = getNextProbeAt({ at, failing_since, out_since, wait_until }, random);
        recordSample(writing, taken, sample, nextAt);
      });
      onRecorded();
    },
  };
}
