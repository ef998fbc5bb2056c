import type { Catalogue } from '../database.ts';
import { type HostRecord, UNKNOWN_HOST } from '../read/hosts.ts';

/** Records the given facts about a host and keeps the others. Readers see none of them. */
export async function recordHost({ query }: Catalogue, host: string, learned: Partial<HostRecord>): Promise<void> {
  await query
    .insertInto('hosts')
    .values({ ...UNKNOWN_HOST, host, ...learned })
    .onConflict((conflict) => conflict.column('host').doUpdateSet(learned))
    .execute();
}
