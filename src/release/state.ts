import type { CatalogueState } from '../catalogue/transaction.ts';
import type { Config } from '../config.ts';
import { openPublished, type Published } from '../published/file.ts';
import { findRevisionTime, getPublishedState } from '../published/state.ts';
import type { Site } from '../views/site.ts';
import { getCodeVersion, listLostAssets } from './page-code.ts';
import {
  findCurrentRelease,
  getReleasePaths,
  getSettingsHash,
  getSite,
  listReleases,
  type Release,
  type ReleaseHeader,
} from './release.ts';
import { findReleasePages, type ReleasePages } from './release-pages.ts';

/** The input that a release is made from, and current for. */
export type MadeFrom = Pick<ReleaseHeader, 'identity' | 'revision' | 'revised_at' | 'code_version' | 'settings_hash'>;

/** Returns what a release of a state of the catalogue is made from. A known `codeVersion` saves reading sources. */
export function getMadeFrom(
  config: Config,
  { identity, revision, revised_at }: CatalogueState,
  codeVersion = getCodeVersion(),
): MadeFrom {
  return {
    identity,
    revision,
    revised_at,
    code_version: codeVersion,
    settings_hash: getSettingsHash(getSite(config)),
  };
}

/** Returns true if a release was made from exactly this, so that making it again would change nothing. */
export function isMadeFrom(header: ReleaseHeader, madeFrom: MadeFrom): boolean {
  return (
    isSameKind(header, madeFrom) && header.revision === madeFrom.revision && header.revised_at === madeFrom.revised_at
  );
}

/** Returns true if a release is of the same catalogue, code and settings, whatever the revision. */
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
function hasBeenAt(published: Published, { revision, revised_at }: ReleaseHeader): boolean {
  return revision === 0 || findRevisionTime(published, revision) === revised_at;
}

/** Finds the current release if it was made from exactly this catalogue, code and settings, and has its assets. */
export function findReleaseOf(config: Config, madeFrom: MadeFrom): Release | undefined {
  const current = findCurrentRelease(config.releasesDir);
  if (!current || !isMadeFrom(current.header, madeFrom)) return undefined;
  return hasLostAssets(config, current.header) ? undefined : current;
}

/** Returns true if anything that the pages of a release load is gone or damaged. */
export function hasLostAssets({ releasesDir }: Pick<Config, 'releasesDir'>, { assets }: ReleaseHeader): boolean {
  return listLostAssets(assets, getReleasePaths(releasesDir).assets).length > 0;
}

/**
 * Returns true if the current release may be served: it is of this catalogue and these settings, whatever the code, and
 * of a state that the published catalogue has been through. False where that cannot be read: a server says why, and mends it.
 */
export function hasServableRelease(config: Config): boolean {
  const header = findCurrentRelease(config.releasesDir)?.header;
  if (!header) return false;
  let published: Published | undefined;
  try {
    published = openPublished(config.publishedFile);
    return isServable(header, { published, site: getSite(config) });
  } catch {
    return false;
  } finally {
    published?.close();
  }
}

/** Returns true if a release may be served beside a published catalogue: see `hasServableRelease`. */
export function isServable(header: ReleaseHeader, { published, site }: { published: Published; site: Site }): boolean {
  return isOfSite(header, getPublishedState(published), site) && hasBeenAt(published, header);
}

/** Returns true if a release is of a catalogue, for these settings. */
export function isOfSite(header: ReleaseHeader, { identity }: Pick<CatalogueState, 'identity'>, site: Site): boolean {
  return header.identity === identity && header.settings_hash === getSettingsHash(site);
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
