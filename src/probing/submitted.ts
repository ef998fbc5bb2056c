import type { Catalogue } from '../catalogue/database.ts';
import { listReadTimes } from '../catalogue/read/hosts.ts';
import type { Config } from '../config.ts';
import { READ_WITHIN_MS, tryReadQueue } from '../submissions/queue.ts';

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
      const { door_at, wait_until } = known.get(origin) ?? { door_at: null, wait_until: null };
      return (door_at ?? '') < (received_at ?? '') && (wait_until ?? '') <= now.toISOString();
    })
    .map(({ origin }) => origin);
}
