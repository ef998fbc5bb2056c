import { cutRows } from '../database.ts';
import { PULL_FAILED, type Pull } from '../read/pulls.ts';
import { getRowKey } from '../row-keys.ts';
import type { Writing } from '../transaction.ts';

/** One item of a feed: its key in the feed, the hash of this version, and the item as received, as JSON. */
interface RawItem {
  key: string;
  hash: string;
  raw: string;
}

/** Records the reason why a pull failed, in place of an earlier failure. It is removed when the items of a pull are imported. */
export async function recordPullFailure(
  { catalogue: { query }, at }: Writing,
  { feed, message }: { feed: string; message: string },
): Promise<void> {
  await query.deleteFrom('findings').where('source', '=', feed).where('code', '=', PULL_FAILED).execute();
  const key = { source: feed, item: feed, code: PULL_FAILED, message };
  await query
    .insertInto('findings')
    .values({ id: getRowKey(feed, feed, PULL_FAILED, message), ...key, severity: 'refused', found_at: at })
    .execute();
}

/** Records that a feed was pulled to its end. Its items are recorded next. */
export async function startPull(
  { catalogue: { query } }: Writing,
  pull: Pick<Pull, 'feed' | 'started_at' | 'pages' | 'items' | 'ended'>,
): Promise<Pull> {
  return await query
    .insertInto('pulls')
    .values({ ...pull, completed_at: null })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Records raw items of a pull, each version once. */
export async function recordItems(
  { catalogue: { query } }: Writing,
  { id: pull_id, feed }: Pull,
  items: readonly RawItem[],
): Promise<void> {
  const rows = items.map(({ key, hash, raw }) => ({
    id: getRowKey(feed, key, hash),
    feed,
    key_hash: getRowKey(key),
    item_key: key,
    item_hash: hash,
    pull_id,
    raw,
  }));
  for (const some of cutRows(rows)) {
    await query
      .insertInto('feed_items')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet(({ ref }) => ({ pull_id: ref('excluded.pull_id'), raw: ref('excluded.raw') })),
      )
      .execute();
  }
}

/**
 * Records that the items of a pull are imported. Earlier versions of these items are removed; items that are no longer in the
 * feed stay as last seen.
 */
export async function completePull({ catalogue: { query }, at }: Writing, pull: Pull): Promise<void> {
  const brought = query.selectFrom('feed_items').select('key_hash').where('pull_id', '=', pull.id);
  await query
    .deleteFrom('feed_items')
    .where('feed', '=', pull.feed)
    .where('pull_id', '!=', pull.id)
    .where('key_hash', 'in', brought)
    .execute();
  await query.updateTable('pulls').set({ completed_at: at }).where('id', '=', pull.id).execute();
}
