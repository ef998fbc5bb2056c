import type { Selectable } from 'kysely';
import type { Catalogue } from '../database.ts';
import type { PullsTable } from '../tables.ts';

/** The code of the finding, about the feed itself, that its last pull failed. */
export const PULL_FAILED = 'pull_failed';

/** One pull of one feed: where it continues, and how it ended. */
export type Pull = Selectable<PullsTable>;

/** Finds the unfinished pull of a feed that got a page at `since` (ISO 8601 UTC) or later, to continue it. */
export async function findOpenPull({ query }: Catalogue, feed: string, since: string): Promise<Pull | undefined> {
  return await query
    .selectFrom('pulls')
    .selectAll()
    .where('feed', '=', feed)
    .where('completed_at', 'is', null)
    .where('updated_at', '>=', since)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Lists the pulls of all feeds that got at least one page, the latest first. */
export async function listPulls({ query }: Catalogue): Promise<Pull[]> {
  return await query.selectFrom('pulls').selectAll().where('pages', '>', 0).orderBy('id', 'desc').execute();
}

/** Returns whether a pull of the feed ever got a page. */
export async function isKnownFeed({ query }: Catalogue, feed: string): Promise<boolean> {
  const pull = query.selectFrom('pulls').select('id').where('feed', '=', feed).where('pages', '>', 0);
  return (await pull.limit(1).executeTakeFirst()) !== undefined;
}

/** Why the last pull of a feed failed. */
export interface PullFailure {
  feed: string;
  at: string;
  message: string;
}

/** Lists the feeds whose last pull failed, and why. */
export async function listPullFailures({ query }: Catalogue): Promise<PullFailure[]> {
  const failures = await query
    .selectFrom('findings')
    .select(['source', 'found_at', 'message'])
    .where('code', '=', PULL_FAILED)
    .orderBy('source')
    .execute();
  return failures.map(({ source, found_at, message }) => ({ feed: source, at: found_at, message }));
}

/** Lists the raw items of a pull, in a stable order. */
export async function listFeedItems({ query }: Catalogue, pull: Pull): Promise<unknown[]> {
  const items = await query
    .selectFrom('feed_items')
    .select('raw')
    .where('pull_id', '=', pull.id)
    .orderBy('item_key')
    .orderBy('item_hash')
    .execute();
  return items.map(({ raw }) => JSON.parse(raw));
}

/** Returns whether a later pull of the feed has begun, so that this one is out of date. */
export async function isOvertaken({ query }: Catalogue, pull: Pull): Promise<boolean> {
  const later = query.selectFrom('pulls').select('id').where('feed', '=', pull.feed).where('id', '>', pull.id);
  return (await later.limit(1).executeTakeFirst()) !== undefined;
}
