import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import type { Writing } from './write.ts';

/** The finding, about the feed itself, that its last pull failed. */
const PULL_FAILED = 'pull_failed';

/** One pull of one feed: where it continues, and how it ended. */
export interface Pull {
  id: number;
  feed: string;
  started_at: string;
  updated_at: string;
  completed_at: string | null;
  next_offset: number;
  pages: number;
  /** How many different items its pages had. */
  items: number;
  /** Set with the last page: whether all of the feed was read. */
  ended: 'complete' | 'incomplete' | null;
}

/** One item of a page: its key in the feed, the hash of this version, and the item as received, as JSON. */
export interface RawItem {
  key: string;
  hash: string;
  raw: string;
}

/** Finds the unfinished pull of a feed that got a page at `since` (ISO 8601 UTC) or later, to continue it. */
export function findOpenPull(catalogue: Catalogue, feed: string, since: string): Pull | undefined {
  return findRow(
    catalogue,
    catalogue.query
      .selectFrom('pulls')
      .selectAll()
      .where('feed', '=', feed)
      .where('completed_at', 'is', null)
      .where('updated_at', '>=', since)
      .orderBy('id', 'desc')
      .limit(1),
  );
}

/** Lists the pulls of all feeds that got at least one page, the latest first. */
export function listPulls(catalogue: Catalogue): Pull[] {
  return listRows(
    catalogue,
    catalogue.query.selectFrom('pulls').selectAll().where('pages', '>', 0).orderBy('id', 'desc'),
  );
}

/** Returns whether a pull of the feed ever got a page. */
export function isKnownFeed(catalogue: Catalogue, feed: string): boolean {
  const pull = catalogue.query.selectFrom('pulls').select('id').where('feed', '=', feed).where('pages', '>', 0);
  return findRow(catalogue, pull.limit(1)) !== undefined;
}

/** Why the last pull of a feed failed. */
export interface PullFailure {
  feed: string;
  at: string;
  message: string;
}

/** Records why a pull failed, in place of an earlier failure. It is removed when the items of a pull are imported. */
export function recordPullFailure({ catalogue, at }: Writing, { feed, message }: Omit<PullFailure, 'at'>): void {
  const { query } = catalogue;
  const key = { source: feed, item: feed, code: PULL_FAILED };
  runStatement(catalogue, query.deleteFrom('findings').where('source', '=', feed).where('code', '=', PULL_FAILED));
  runStatement(catalogue, query.insertInto('findings').values({ ...key, severity: 'refused', message, found_at: at }));
}

/** Lists the feeds whose last pull failed, and why. */
export function listPullFailures(catalogue: Catalogue): PullFailure[] {
  const failures = catalogue.query.selectFrom('findings').selectAll().where('code', '=', PULL_FAILED);
  return listRows(catalogue, failures).map(({ source, found_at, message }) => ({
    feed: source,
    at: found_at,
    message,
  }));
}

/** Starts a pull of a feed from the first page. */
export function startPull({ catalogue, at }: Writing, feed: string): Pull {
  const row = {
    feed,
    started_at: at,
    updated_at: at,
    completed_at: null,
    next_offset: 0,
    pages: 0,
    items: 0,
    ended: null,
  };
  const { lastInsertRowid } = runStatement(catalogue, catalogue.query.insertInto('pulls').values(row));
  return { ...row, id: Number(lastInsertRowid) };
}

/** Records one page of a pull: its raw items, the offset of the next page, and on the last page how it ended. Returns the pull. */
export function recordPage(
  { catalogue, at }: Writing,
  pull: Pull,
  page: { items: readonly RawItem[]; next_offset: number; ended: Pull['ended'] },
): Pull {
  const repeated = page.items.filter((item) => isRecorded(catalogue, pull, item)).length;
  for (const item of page.items) recordItem(catalogue, pull, item);
  const moved = {
    next_offset: page.next_offset,
    pages: pull.pages + 1,
    items: pull.items + page.items.length - repeated,
    ended: page.ended,
    updated_at: at,
  };
  runStatement(catalogue, catalogue.query.updateTable('pulls').set(moved).where('id', '=', pull.id));
  return { ...pull, ...moved };
}

/**
 * Records that the items of a pull are imported. Earlier versions of these items are removed; items that are no longer in
 * the feed stay as last seen.
 */
export function completePull({ catalogue, at }: Writing, pull: Pull): void {
  const { query } = catalogue;
  const brought = query.selectFrom('feed_items').select('item_key').where('pull_id', '=', pull.id);
  runStatement(
    catalogue,
    query
      .deleteFrom('feed_items')
      .where('feed', '=', pull.feed)
      .where('pull_id', '!=', pull.id)
      .where('item_key', 'in', brought),
  );
  runStatement(
    catalogue,
    query.updateTable('pulls').set({ completed_at: at, updated_at: at }).where('id', '=', pull.id),
  );
}

/** Lists the raw items of a pull, in a stable order. */
export function listFeedItems(catalogue: Catalogue, pull: Pull): unknown[] {
  const items = catalogue.query
    .selectFrom('feed_items')
    .select('raw')
    .where('pull_id', '=', pull.id)
    .orderBy('item_key')
    .orderBy('item_hash');
  return listRows(catalogue, items).map(({ raw }) => JSON.parse(raw));
}

/** Returns whether a later pull of the feed has begun, so that this one is out of date. */
export function isOvertaken(catalogue: Catalogue, pull: Pull): boolean {
  const later = catalogue.query
    .selectFrom('pulls')
    .select('id')
    .where('feed', '=', pull.feed)
    .where('id', '>', pull.id);
  return findRow(catalogue, later) !== undefined;
}

function isRecorded(catalogue: Catalogue, pull: Pull, { key, hash }: RawItem): boolean {
  const row = catalogue.query
    .selectFrom('feed_items')
    .select('pull_id')
    .where('feed', '=', pull.feed)
    .where('item_key', '=', key)
    .where('item_hash', '=', hash)
    .where('pull_id', '=', pull.id);
  return findRow(catalogue, row) !== undefined;
}

function recordItem(catalogue: Catalogue, pull: Pull, { key, hash, raw }: RawItem): void {
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('feed_items')
      .values({ feed: pull.feed, item_key: key, item_hash: hash, pull_id: pull.id, raw })
      .onConflict((conflict) =>
        conflict.columns(['feed', 'item_key', 'item_hash']).doUpdateSet(({ ref }) => ({
          pull_id: ref('excluded.pull_id'),
          raw: ref('excluded.raw'),
        })),
      ),
  );
}
