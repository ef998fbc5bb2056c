import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { getDomain } from '../evidence/domains.ts';
import { getNetwork, getWideNetwork } from '../http/client.ts';
import { DAY_MS, HOUR_MS } from '../model/duration.ts';
import type { KeptReports } from '../submissions/reports.ts';

/** Checks that a client may begin at once, and the time after which it may begin another, in milliseconds. */
const CLIENT_BURST = 5;
const CLIENT_EACH_MS = 20_000;

/**
 * Checks of one registered domain, or network of addresses, in an hour and in a day; and in a day if the provider's own file is
 * on its host.
 */
const PER_HOUR = 10;
const PER_DAY = 20;
const PER_DAY_WITH_FILE = 60;

/**
 * Checks of a domain by one network of clients, after which that network gets at most half of the domain's daily checks, so that
 * it cannot use up all of them.
 */
const FEW = 3;

/** Most clients that are tracked at a time, at some 200 bytes each. The least recent ones are dropped. */
const MAX_KNOWN = 100_000;

/** The reason why a check does not begin. `code` is a stable word, by which refusals are counted. */
export interface Refusal {
  readonly status: 400 | 429 | 503;
  readonly code: 'bad_address' | 'rate_limited' | 'domain_limit' | 'domain_busy' | 'queue_full';
  readonly detail: string;
  readonly hint: string;
  readonly retry_after_seconds?: number;
}

/** The clock and the store of the limits, and the hash for clients. */
interface LimitsOptions {
  /** Returns milliseconds since 1970, by a clock that does not go backwards while the process runs. */
  readonly now: () => number;
  /** Hashes the name of a client, see `openPseudonyms`. */
  readonly pseudonymise: (name: string) => string;
  readonly kept: Pick<KeptReports, 'listChecks' | 'addCheck' | 'noteFile'>;
  readonly isLocalAllowed: boolean;
}

/**
 * Opens the limits of checks. Only hashes of a client are stored: its own, in memory, until it may begin five checks again; and
 * that of its network, with the times of checks, for a day.
 */
export function openLimits({ now, pseudonymise, kept, isLocalAllowed }: LimitsOptions) {
  /** The time at which a client has its full allowance again, by hash. */
  const clients = new LRUCache<string, number>({ max: MAX_KNOWN });
  /** Domains with a running check. */
  const busy = new Set<string>();
  const getName = (url: string) => {
    const { host, hostname } = new URL(url);
    const [, said] = /(?:^|[.-])(\d+[.-]\d+[.-]\d+[.-]\d+)\.(?:nip|sslip)\.io$/.exec(hostname) ?? [];
    const address = said?.replaceAll('-', '.') ?? hostname.replace(/^\[|\]$/g, '');
    // In demonstrations and tests, each port of this machine counts as a provider.
    if (isLocalAllowed && isIP(hostname) !== 0) return host;
    if (isIP(address) !== 0) return getWideNetwork(address);
    // Other names of these services may contain an address in another notation.
    return /(?:^|\.)(?:nip|sslip)\.io$/.test(hostname) ? 'nip.io' : getDomain(url);
  };

  const takeFromClient = (client: string): Refusal | undefined => {
    const time = now();
    const buckets = listNetworks(client).map(({ name, times }) => {
      const hash = pseudonymise(name);
      return { hash, fullAt: Math.max(clients.get(hash) ?? 0, time) + CLIENT_EACH_MS / times };
    });
    const wait = Math.max(...buckets.map(({ fullAt }) => fullAt - time - CLIENT_BURST * CLIENT_EACH_MS));
    if (wait > 0) return buildRefusal('rate_limited', 'This client has asked for as many checks as it may.', wait);
    for (const { hash, fullAt } of buckets) clients.set(hash, fullAt);
    return undefined;
  };

  const takeFromDomain = (name: string, client: string): Refusal | undefined => {
    const time = now();
    const network = pseudonymise(getWideNetwork(client));
    if (busy.has(name)) return buildRefusal('domain_busy', `A check of ${name} is under way.`, 10_000);
    const checks = kept.listChecks(name, time);
    /** Returns the time until fewer than `most` checks are within the last `span`, in milliseconds. */
    const getWait = (most: number, span: number) => (checks.at(-most)?.at ?? Number.NEGATIVE_INFINITY) + span - time;
    const hasFile = checks.at(-1)?.has_file === 1;
    const perDay = hasFile ? PER_DAY_WITH_FILE : PER_DAY;
    const isNew = checks.filter((check) => check.network === network).length < FEW;
    const ofDay = getWait(isNew ? perDay : perDay / 2, DAY_MS);
    const wait = Math.max(ofDay, hasFile ? 0 : getWait(PER_HOUR, HOUR_MS));
    if (wait > 0) return buildRefusal('domain_limit', `${name} was checked as often as it may be.`, wait);
    kept.addCheck(name, time, network);
    busy.add(name);
    return undefined;
  };

  return {
    /** Counts a request that is not a check. Returns the refusal if it may not be made. */
    take: takeFromClient,
    /** Begins a check, for which `end` must be called. Returns the refusal if it may not begin. */
    begin: (client: string, url: string): Refusal | undefined =>
      takeFromClient(client) ?? takeFromDomain(getName(url), client),
    /** Ends a check. `hasFile` is true if the provider's own file is on the host. */
    end(url: string, hasFile: boolean): void {
      const name = getName(url);
      busy.delete(name);
      if (hasFile) kept.noteFile(name);
    },
  };
}

/** Larger networks that one customer may have instead of a /64, and their allowance as a multiple of a client's. */
const WIDER_NETWORKS = [
  { bits: 56, times: 4 },
  { bits: 48, times: 16 },
] as const;

/** Lists the networks by which a client is counted, itself first, with their allowance as a multiple of a client's. */
function listNetworks(client: string): { name: string; times: number }[] {
  const address = client.endsWith('/64') ? client.slice(0, -'/64'.length) : undefined;
  const wider = WIDER_NETWORKS.flatMap(({ bits, times }) =>
    address === undefined ? [] : { name: getNetwork(address, bits), times },
  );
  return [{ name: client, times: 1 }, ...wider];
}

/** Returns a function that hashes names with a key that is in no file. Nobody can turn a hash back into a client's address. */
export function openPseudonyms(key: string): (name: string) => string {
  return (name) => createHmac('sha256', key).update(name).digest('base64url');
}

/** Builds a refusal that ends after a wait of `waitMs` milliseconds. */
export function buildRefusal(code: Refusal['code'], detail: string, waitMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const status = code === 'queue_full' ? 503 : 429;
  return { status, code, detail, hint: `Ask again in ${seconds} s.`, retry_after_seconds: seconds };
}
