import { type Catalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { getCatalogueState } from '../catalogue/write.ts';
import type { Config } from '../config.ts';
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

/** Gives what a release made now would be made from. `codeVersion` saves reading the sources where it is known. */
export function getMadeFrom(config: Config, catalogue: Catalogue, codeVersion = getCodeVersion()): MadeFrom {
  const { identity, revision, revised_at } = getCatalogueState(catalogue);
  return {
    identity,
    revision,
    revised_at,
    code_version: codeVersion,
    settings_hash: getSettingsHash(getSite(config)),
  };
}

/** Finds the current release if it is of this catalogue as it is, of this code and of these settings, and has its assets. */
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
 * a state that the catalogue has been through. Throws as `openCatalogueForReading` does.
 */
export function hasServableRelease(config: Config): boolean {
  const catalogue = openCatalogueForReading(config.catalogueFile);
  try {
    const header = findCurrentRelease(config.releasesDir)?.header;
    return header !== undefined && isServable(header, { catalogue, site: getSite(config) });
  } finally {
    catalogue.close();
  }
}

/** Says whether a release may be served from a catalogue: see `hasServableRelease`. */
export function isServable(header: ReleaseHeader, { catalogue, site }: { catalogue: Catalogue; site: Site }): boolean {
  return (
    header.identity === getCatalogueState(catalogue).identity &&
    header.settings_hash === getSettingsHash(site) &&
    hasBeenAt(catalogue, header)
  );
}
