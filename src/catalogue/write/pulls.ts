import { cutRows } from '../database.ts';
import { PULL_FAILED, type Pull } from '../read/pulls.ts';
import { getRowKey } from '../row-keys.ts';
import type { Writing } from '../transaction.ts';

/** One item of a page: its key in the feed, the hash of this version, and the item as received, as JSON. */
export interface RawItem {
  key: string;
  hash: string;
  raw: string;
}

/** Records why a pull failed, in place of an earlier failure. It is removed when the items of a pull are imported. */
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

/** Starts a pull of a feed from the first page. */
export async function startPull({ catalogue: { query }, at }: Writing, feed: string): Promise<Pull> {
  return await query
    .insertInto('pulls')
    .values({
      ...{ feed, started_at: at, updated_at: at, completed_at: null },
      ...{ next_offset: 0, pages: 0, items: 0, ended: null },
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Records one page of a pull: its raw items, the offset of the next page, and on the last page how it ended. Returns the pull. */
export async function recordPage(
  { catalogue: { query }, at }: Writing,
  pull: Pull,
  page: { items: readonly RawItem[]; next_offset: number; ended: Pull['ended'] },
): Promise<Pull> {
  const items = page.items.map(({ key, hash, raw }) => ({
    id: getRowKey(pull.feed, key, hash),
    ...{ feed: pull.feed, key_hash: getRowKey(key), item_key: key, item_hash: hash, pull_id: pull.id, raw },
  }));
  // A page may have an item twice; the later one counts.
  const different = [...new Map(items.map((item) => [item.id, item])).values()];
  let repeated = 0;
  for (const some of cutRows(different)) {
    const ids = some.map(({ id }) => id);
    const seen = await query
      .selectFrom('feed_items')
      .select('id')
      .where('id', 'in', ids)
      .where('pull_id', '=', pull.id)
      .execute();
    const known = new Set(seen.map(({ id }) => id));
    repeated += items.filter(({ id }) => known.has(id)).length;
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
  const moved = {
    next_offset: page.next_offset,
    pages: pull.pages + 1,
    items: pull.items + items.length - repeated,
    ended: page.ended,
    updated_at: at,
  };
  await query.updateTable('pulls').set(moved).where('id', '=', pull.id).execute();
  return { ...pull, ...moved };
}

/**
 * Records that the items of a pull are imported. Earlier versions of these items are removed; items that are no longer in
 * the feed stay as last seen.
 */
export async function completePull({ catalogue: { query }, at }: Writing, pull: Pull): Promise<void> {
  const brought = query.selectFrom('feed_items').select('key_hash').where('pull_id', '=', pull.id);
  await query
    .deleteFrom('feed_items')
    .where('feed', '=', pull.feed)
    .where('pull_id', '!=', pull.id)
    .where('key_hash', 'in', brought)
    .execute();
  await query.updateTable('pulls').set({ completed_at: at, updated_at: at }).where('id', '=', pull.id).execute();
}
