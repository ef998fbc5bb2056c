import type { Catalogue } from '../database.ts';
import type { HostsTable } from '../tables.ts';

/** The facts that probing recorded about a host; all null for a host that was never probed. */
export type HostRecord = Omit<HostsTable, 'host'>;

/** The facts about a host that was never probed. */
export const UNKNOWN_HOST: HostRecord = Object.freeze({
  robots: null,
  robots_at: null,
  provider_file_at: null,
  decoy_at: null,
  valid_at: null,
  wait_until: null,
  file_hash: null,
  leased_by: null,
  leased_until: null,
});

/** Returns the facts about a host, by its origin. */
export async function getHostRecord({ query }: Catalogue, host: string): Promise<HostRecord> {
  return (await query.selectFrom('hosts').selectAll().where('host', '=', host).executeTakeFirst()) ?? UNKNOWN_HOST;
}

/**
 * Returns by origin the time at which a host's provider file was last read, and the time until which the host asked us to wait.
 * Unknown hosts are left out.
 */
export async function listReadTimes(
  { query }: Catalogue,
  hosts: readonly string[],
): Promise<Map<string, Pick<HostRecord, 'provider_file_at' | 'wait_until'>>> {
  const known = query.selectFrom('hosts').select(['host', 'provider_file_at', 'wait_until']).where('host', 'in', hosts);
  return new Map((await known.execute()).map(({ host, ...times }) => [host, times]));
}
