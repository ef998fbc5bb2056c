import type { CatalogueState } from '../catalogue/transaction.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { openPublished, type Published } from '../published/file.ts';
import { getPublishedState } from '../published/state.ts';
import type { Site } from '../views/site.ts';
import { listLostAssets } from './assets.ts';
import { hasBeenAt, isMadeFrom, type MadeFrom } from './base.ts';
import { getCodeVersion } from './code-version.ts';
import {
  findCurrentRelease,
  getReleasePaths,
  getSettingsHash,
  getSite,
  type Release,
  type ReleaseHeader,
} from './release.ts';

/** Gives what a release of a state of the catalogue would be made from. `codeVersion` saves reading the sources where it is known. */
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

/** Finds the current release if it was made from exactly this catalogue, code and settings, and has its assets. */
export function findReleaseOf(config: Config, madeFrom: MadeFrom): Release | undefined {
  const current = findCurrentRelease(config.releasesDir);
  if (!current || !isMadeFrom(current.header, madeFrom)) return undefined;
  return hasLostAssets(config, current.header) ? undefined : current;
}

/** Says whether anything that the pages of a release load is gone or damaged. */
export function hasLostAssets({ releasesDir }: Pick<Config, 'releasesDir'>, { assets }: ReleaseHeader): boolean {
  return listLostAssets(assets, getReleasePaths(releasesDir).assets).length > 0;
}

/**
 * Says whether the current release may be served: it is of this catalogue and of these settings, whatever the code, and of
 * a state that the published catalogue has been through.
 */
export function hasServableRelease(config: Config): boolean {
  const published = findPublished(config.publishedFile);
  if (!published) return false;
  try {
    const header = findCurrentRelease(config.releasesDir)?.header;
    return header !== undefined && isServable(header, { published, site: getSite(config) });
  } finally {
    published.close();
  }
}

/** Opens the published catalogue; undefined where it is still to be made. */
function findPublished(file: string): Published | undefined {
  try {
    return openPublished(file);
  } catch (error) {
    if (error instanceof ServiceError && error.reason === 'not_published') return undefined;
    throw error;
  }
}

/** Says whether a release may be served beside a published catalogue: see `hasServableRelease`. */
export function isServable(header: ReleaseHeader, { published, site }: { published: Published; site: Site }): boolean {
  return (
    header.identity === getPublishedState(published).identity &&
    header.settings_hash === getSettingsHash(site) &&
    hasBeenAt(published, header)
  );
}
