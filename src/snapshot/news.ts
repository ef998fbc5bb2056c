import { listTellingChangesOf, listTellingRevisions } from '../catalogue/change-log.ts';
import type { Catalogue } from '../catalogue/database.ts';
import { findListing } from '../catalogue/listings.ts';
import { getHost } from '../model/ids.ts';
import { describeCautionSummary } from '../views/caution-words.ts';
import {
  buildChangeNews,
  type ChangeNews,
  digestChanges,
  type NewsDigest,
  type NewsListing,
} from '../views/change-news.ts';
import { PATHS } from '../views/links.ts';
import { parseItem } from './entry.ts';
import type { Reading } from './reading.ts';
import { findEntry, type Snapshot } from './snapshot.ts';

/** Revisions looked at in one go. */
const REVISIONS_AT_ONCE = 25;

/** Revisions of which the digests are kept: several times what a page shows. */
const KEPT_REVISIONS = 1000;

const digestsOf = new WeakMap<Catalogue, Map<number, readonly NewsDigest[]>>();

/** Gives the digests of a revision, whose changes never change: one that brought in thousands of listings is read once. */
function getDigests(catalogue: Catalogue, revision: number): readonly NewsDigest[] {
  const kept = digestsOf.get(catalogue) ?? new Map<number, readonly NewsDigest[]>();
  digestsOf.set(catalogue, kept);
  const known = kept.get(revision);
  if (known) return known;
  const digests = digestChanges(listTellingChangesOf(catalogue, revision));
  if (kept.size >= KEPT_REVISIONS) kept.clear();
  kept.set(revision, digests);
  return digests;
}

/** Lists the newest `limit` pieces of news up to the revision of a snapshot, the newest first. */
export function listChangeNews({ catalogue }: Reading, snapshot: Snapshot, limit: number): ChangeNews[] {
  const getListing = (slug: string): NewsListing => {
    const entry = findEntry(snapshot, slug);
    const item = entry && parseItem(entry);
    const shown = item ?? snapshot.tombstones.get(slug);
    const cautions = item?.cautions.map(describeCautionSummary) ?? [];
    if (shown) return { slug, title: shown.title, host: shown.host, path: PATHS.listing(slug), cautions };
    // What is on record without being live has no page.
    const held = findListing(catalogue, { slug });
    const host = held ? getHost(held.base_url) : '';
    return { slug, title: held?.title ?? slug, host, path: PATHS.changes, cautions };
  };
  const news: ChangeNews[] = [];
  for (let until = snapshot.revision; news.length < limit; ) {
    const revisions = listTellingRevisions(catalogue, { until, limit: REVISIONS_AT_ONCE });
    for (const revision of revisions) {
      if (news.length >= limit) break;
      news.push(...getDigests(catalogue, revision).map((digest) => buildChangeNews(digest, getListing)));
    }
    if (revisions.length < REVISIONS_AT_ONCE) break;
    until = (revisions.at(-1) ?? 0) - 1;
  }
  return news.slice(0, limit);
}
