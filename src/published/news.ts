import { LRUCache } from 'lru-cache';
import { isFromStart } from '../model/caution.ts';
import { getHost } from '../model/listing.ts';
import {
  buildChangeNews,
  type ChangeNews,
  digestChanges,
  type FeedScope,
  type NewsDigest,
  type NewsListing,
} from '../views/changes.ts';
import { PATHS } from '../views/links.ts';
import { describeCautionSummary } from '../views/words/caution.ts';
import { listTellingChangesOf, listTellingRevisions } from './changes.ts';
import type { Published } from './file.ts';
import { findKnownName, findLive, findTombstone, getItem } from './listings.ts';
import type { Snapshot } from './snapshot.ts';
import { findRevisionTime } from './state.ts';

/** Revisions read at a time. */
const REVISIONS_AT_ONCE = 25;

/** Revisions whose digests are kept: several times the number on a page. */
const KEPT_REVISIONS = 1000;

/** Digests by the time of the revision. After a restore, the same revision number can have other changes. */
const digestsOf = new WeakMap<Published['sqlite'], LRUCache<string, readonly NewsDigest[]>>();

/** Returns the digests of a revision. Its changes are final, so a revision with thousands of new listings is read only once. */
function getDigests(published: Published, revision: number): readonly NewsDigest[] {
  const kept = digestsOf.get(published.sqlite) ?? new LRUCache<string, readonly NewsDigest[]>({ max: KEPT_REVISIONS });
  digestsOf.set(published.sqlite, kept);
  const key = `${revision} ${findRevisionTime(published, revision)}`;
  const known = kept.get(key);
  if (known) return known;
  const digests = digestChanges(listTellingChangesOf(published, revision));
  kept.set(key, digests);
  return digests;
}

/**
 * Lists the newest `limit` pieces of news up to the revision of a snapshot, newest first; only those of the given listings, if
 * any are given.
 */
export function listChangeNews(published: Published, snapshot: Snapshot, limit: number, of?: FeedScope): ChangeNews[] {
  const getListing = (slug: string): NewsListing => {
    const listing = findLive(published, slug);
    const item = listing && getItem(published, listing);
    const shown = item ?? findTombstone(published, slug);
    const cautions = item?.cautions.filter((caution) => !isFromStart(caution)).map(describeCautionSummary) ?? [];
    if (shown) return { slug, title: shown.title, host: shown.host, path: PATHS.listing(slug), cautions };
    // A listing that is on record but not live has no page to link to.
    const held = findKnownName(published, slug);
    const host = held?.base_url ? getHost(held.base_url) : '';
    return { slug, title: held?.title || slug, host, path: PATHS.changes, cautions };
  };
  const news: ChangeNews[] = [];
  for (let until = snapshot.revision; news.length < limit; ) {
    const revisions = listTellingRevisions(published, { until, limit: REVISIONS_AT_ONCE, of });
    for (const revision of revisions) {
      if (news.length === limit) break;
      const digests = of
        ? digestChanges(listTellingChangesOf(published, revision, of))
        : getDigests(published, revision);
      news.push(...digests.slice(0, limit - news.length).map((digest) => buildChangeNews(digest, getListing)));
    }
    if (revisions.length < REVISIONS_AT_ONCE) break;
    until = (revisions.at(-1) ?? 0) - 1;
  }
  return news;
}
