import type { Published } from '../published/file.ts';
import { findRevisionTime } from '../published/state.ts';
import { findCurrentRelease, listReleases, type Release, type ReleaseHeader } from './release.ts';
import { findReleasePages, type ReleasePages } from './release-pages.ts';

/** What a release is made from, and current for. */
export type MadeFrom = Pick<ReleaseHeader, 'identity' | 'revision' | 'revised_at' | 'code_version' | 'settings_hash'>;

/** Says whether a release was made from exactly this, so that making it again would change nothing. */
export function isMadeFrom(header: ReleaseHeader, madeFrom: MadeFrom): boolean {
  return (
    isSameKind(header, madeFrom) && header.revision === madeFrom.revision && header.revised_at === madeFrom.revised_at
  );
}

/** A release to build upon. */
export interface Base extends Release {
  readonly pages: ReleasePages;
}

/**
 * Finds the release to build upon: the current one, else the newest kept one, that has the catalogue, code and settings of
 * the new one and whose state the published catalogue has been through. A page's key then names one content in both. Shards
 * that `known` pages have are not read again.
 */
export function findBase(
  releasesDir: string,
  madeFrom: MadeFrom,
  published: Published,
  known?: ReleasePages,
): Base | undefined {
  const current = findCurrentRelease(releasesDir);
  for (const release of current ? [current, ...listReleases(releasesDir)] : listReleases(releasesDir)) {
    if (!isSameKind(release.header, madeFrom) || !hasBeenAt(published, release.header)) continue;
    const pages = findReleasePages(release, known);
    if (pages) return { ...release, pages };
  }
  return undefined;
}

/** Says whether a release is of the same catalogue, code and settings, whatever the revision. */
export function isSameKind(header: ReleaseHeader, madeFrom: MadeFrom): boolean {
  return (
    header.identity === madeFrom.identity &&
    header.code_version === madeFrom.code_version &&
    header.settings_hash === madeFrom.settings_hash
  );
}

/**
 * A catalogue that was restored from a backup went back and on from there: revisions of the same number may then mean
 * something else. It has been through a release's state if its own change of that number is of the same time.
 */
export function hasBeenAt(published: Published, { revision, revised_at }: ReleaseHeader): boolean {
  return revision === 0 || findRevisionTime(published, revision) === revised_at;
}
