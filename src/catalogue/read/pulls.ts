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

/** The latest pull of one feed, and the latest complete one. Times are ISO 8601 UTC. */
export interface FeedState {
  feed: string;
  completed_at: string | null;
  items: number;
  pages: number;
  /** The offset at which an unfinished pull continues; null if the latest is complete. */
  open_at_offset: number | null;
  /** Time and reason of the latest pull's failure; null if it did not fail. */
  failure: { at: string; message: string } | null;
}

/** Time for which a feed without any page is listed after a try, in milliseconds: longer than from one day's try to the next. */
const TRIED_WITHIN_MS = 30 * 60 * 60 * 1000;

/**
 * Lists the feeds, the one that was pulled last first. At the end are feeds of which no page was ever read, as long as
 * somebody tries to: a mistyped address is soon forgotten. `at` is ISO 8601 UTC.
 */
export async function listFeedStates(catalogue: Catalogue, at: string): Promise<FeedState[]> {
  const pulls = Map.groupBy(await listPulls(catalogue), ({ feed }) => feed);
  const failures = new Map((await listPullFailures(catalogue)).map(({ feed, ...failure }) => [feed, failure]));
  const since = new Date(Date.parse(at) - TRIED_WITHIN_MS).toISOString();
  const tried = [...failures].filter(([feed, failure]) => !pulls.has(feed) && failure.at >= since);
  return [...pulls, ...tried.map(([feed]): [string, Pull[]] => [feed, []])].map(([feed, ofFeed]) => {
    const [latest] = ofFeed;
    const through = ofFeed.find(({ completed_at }) => completed_at !== null);
    const { items, pages } = through ?? latest ?? { items: 0, pages: 0 };
    const open_at_offset = latest?.completed_at === null ? latest.next_offset : null;
    const completed_at = through?.completed_at ?? null;
    return { feed, completed_at, items, pages, open_at_offset, failure: failures.get(feed) ?? null };
  });
}

async function listPullFailures({ query }: Catalogue): Promise<{ feed: string; at: string; message: string }[]> {
  const failures = query.selectFrom('findings').select(['source as feed', 'found_at as at', 'message']);
  return await failures.where('code', '=', PULL_FAILED).orderBy('source').execute();
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
