import type { Catalogue } from '../database.ts';
import { type HostRecord, UNKNOWN_HOST } from '../read/hosts.ts';

/** The prober that wants a host, and until when; times are ISO 8601 UTC. */
export interface Lease {
  readonly by: string;
  readonly at: string;
  readonly until: string;
}

/**
 * Takes a host for a prober, or extends its time. Returns false while another prober has it: two never probe one host at the same
 * time. The host of a killed prober becomes free when its time is over.
 */
export async function leaseHost({ query }: Catalogue, host: string, { by, at, until }: Lease): Promise<boolean> {
  const lease = { leased_by: by, leased_until: until };
  const taken = await query
    .insertInto('hosts')
    .values({ ...UNKNOWN_HOST, host, ...lease })
    .onConflict((conflict) =>
      conflict
        .column('host')
        .doUpdateSet(lease)
        .where(({ or, eb }) =>
          or([
            eb('hosts.leased_until', 'is', null),
            eb('hosts.leased_until', '<=', at),
            eb('hosts.leased_by', '=', by),
          ]),
        ),
    )
    .returning('host')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Releases a host that a prober took. */
export async function releaseHost({ query }: Catalogue, host: string, by: string): Promise<void> {
  const held = query.updateTable('hosts').set({ leased_by: null, leased_until: null }).where('host', '=', host);
  await held.where('leased_by', '=', by).execute();
}

/** Records the given facts about a host, and keeps the others. Readers see none of them. */
export async function recordHost({ query }: Catalogue, host: string, learned: Partial<HostRecord>): Promise<void> {
  await query
    .insertInto('hosts')
    .values({ ...UNKNOWN_HOST, host, ...learned })
    .onConflict((conflict) => conflict.column('host').doUpdateSet(learned))
    .execute();
}
