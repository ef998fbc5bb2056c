import type { Selectable } from 'kysely';
import { HOUR_MS } from '../../model/duration.ts';
import type { Catalogue } from '../database.ts';
import type { PullsTable } from '../tables.ts';

/** Code of the finding that the last pull of a feed failed. */
export const PULL_FAILED = 'pull_failed';

/** One pull of one feed, with its end. */
export type Pull = Selectable<PullsTable>;

/** Lists the pulls of all feeds, the latest first. */
export async function listPulls({ query }: Catalogue): Promise<Pull[]> {
  return await query.selectFrom('pulls').selectAll().orderBy('id', 'desc').execute();
}

/** The latest pull of one feed, and the latest complete one. Times are ISO 8601 UTC. */
export interface FeedState {
  feed: string;
  completed_at: string | null;
  items: number;
  pages: number;
  /** Time and reason of the latest pull's failure; null if it did not fail. */
  failure: { at: string; message: string } | null;
}

/**
 * Time for which a feed without any read page is listed after a try, in milliseconds: longer than a day, so that a daily try
 * keeps it.
 */
const TRIED_WITHIN_MS = 30 * HOUR_MS;

/**
 * Lists the feeds, most recently pulled first. Feeds of which no page was ever read are at the end, as long as somebody tries
 * them: a mistyped address soon disappears. `at` is ISO 8601 UTC.
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
    const completed_at = through?.completed_at ?? null;
    return { feed, completed_at, items, pages, failure: failures.get(feed) ?? null };
  });
}

async function listPullFailures({ query }: Catalogue): Promise<{ feed: string; at: string; message: string }[]> {
  const failures = query.selectFrom('findings').select(['source as feed', 'found_at as at', 'message']);
  return await failures.where('code', '=', PULL_FAILED).orderBy('source').execute();
}

/** Returns true if a later pull of the feed is on record, so that this one is out of date. */
export async function isOvertaken({ query }: Catalogue, { feed, started_at }: Pull): Promise<boolean> {
  const later = query.selectFrom('pulls').select('id').where('feed', '=', feed).where('started_at', '>', started_at);
  return (await later.limit(1).executeTakeFirst()) !== undefined;
}
