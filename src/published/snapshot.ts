import { CATEGORIES, type CatalogueSummary } from '../model/catalogue.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import type { Site } from '../views/site.ts';
import type { Published } from './file.ts';
import { getPublishedState, getRendering, type PublishedState, type Rendering } from './state.ts';

/** The state of the published catalogue at one revision, the code that wrote it, and the number of its listings. It is immutable. */
export interface Snapshot extends PublishedState, Pick<Rendering, 'code_version'> {
  readonly live_listings: number;
  readonly settlement_verified: number;
}

/** Returns the current snapshot of the published catalogue. */
export type GetSnapshot = () => Snapshot;

/**
 * Returns a function that reads the current snapshot. It returns the same object until the file changes; `current` is the first
 * one, if given.
 */
export function openSnapshots(published: Published, current?: Snapshot): GetSnapshot {
  let openings = current && published.getOpenings();
  const read = (): Snapshot => {
    const state = getPublishedState(published);
    // Another file with the same state may have been written by other code.
    if (current && openings === published.getOpenings() && isSameState(current, state)) return current;
    openings = published.getOpenings();
    const { code_version } = getRendering(published);
    current = { ...state, code_version, ...countLive(published) };
    return current;
  };
  // A transaction within another one costs two more statements.
  return () => (published.sqlite.inTransaction ? read() : published.sqlite.transaction(read)());
}

function isSameState(one: PublishedState, other: PublishedState): boolean {
  return one.revision === other.revision && one.identity === other.identity && one.revised_at === other.revised_at;
}

function countLive(published: Published): Pick<Snapshot, 'live_listings' | 'settlement_verified'> {
  const sql = `SELECT coalesce(sum(listings), 0) AS live_listings,
      coalesce(sum(listings) FILTER (WHERE verified), 0) AS settlement_verified
    FROM counts WHERE network = '' AND NOT proved`;
  const counts = published.prepare<Pick<Snapshot, 'live_listings' | 'settlement_verified'>>(sql).get();
  return counts ?? { live_listings: 0, settlement_verified: 0 };
}

/** Builds the catalogue summary of a snapshot; `generatedAt` is the time of the document that contains it. */
export function buildSummary(
  { live_listings, settlement_verified }: Pick<Snapshot, 'live_listings' | 'settlement_verified'>,
  site: Site,
  generatedAt: Date,
): CatalogueSummary {
  return {
    live_listings,
    settlement_verified,
    categories: [...CATEGORIES],
    generated_at: generatedAt.toISOString(),
    source: buildUrl(site.baseUrl, PATHS.agentList),
  };
}
