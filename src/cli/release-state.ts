import type { Config } from '../config.ts';
import { listPages } from '../published/pages.ts';
import type { Reading } from '../published/reading.ts';
import { getCodeVersion } from '../release/page-code.ts';
import { findCurrentId, findCurrentRelease, getSettingsHash, getSite, type Release } from '../release/release.ts';
import { findReleasePages, isWhole } from '../release/release-pages.ts';
import { hasLostAssets } from '../release/state.ts';

/** State of the served release. */
export interface ReleaseState {
  id: string | null;
  revision: number | null;
  made_at: string | null;
  /** Reasons why it is not current; empty if it is. */
  behind: (
    | 'no_release'
    | 'damaged_release'
    | 'lost_assets'
    | 'other_catalogue'
    | 'older_revision'
    | 'other_code'
    | 'other_settings'
    | 'other_pages'
  )[];
}

/**
 * Compares the current release with today's catalogue, code and settings, with its own state when it was made, and with
 * a published catalogue if one is given.
 */
export function getReleaseState(
  config: Config,
  catalogue: { identity: string; revision: number },
  reading?: Reading,
): ReleaseState {
  const release = findCurrentRelease(config.releasesDir);
  if (!release) {
    const reason = findCurrentId(config.releasesDir) === undefined ? 'no_release' : 'damaged_release';
    return { id: null, revision: null, made_at: null, behind: [reason] };
  }
  const { id, identity, revision, made_at, code_version, settings_hash } = release.header;
  const behind: ReleaseState['behind'] = [];
  if (identity !== catalogue.identity) behind.push('other_catalogue');
  else if (revision < catalogue.revision) behind.push('older_revision');
  if (code_version !== getCodeVersion()) behind.push('other_code');
  if (settings_hash !== getSettingsHash(getSite(config))) behind.push('other_settings');
  if (!isWhole(release)) behind.push('damaged_release');
  if (hasLostAssets(config, release.header)) behind.push('lost_assets');
  if (reading && behind.length === 0 && !hasPagesOf(release, reading)) behind.push('other_pages');
  return { id, revision, made_at, behind };
}

/** Says whether the pages of a release are those of the published catalogue, each by the key of its content. */
function hasPagesOf(release: Release, { published, readAtOnce }: Reading): boolean {
  const pages = findReleasePages(release);
  return readAtOnce((snapshot) => {
    if (snapshot.revision !== release.header.revision) return true;
    const wanted = [...listPages(published, snapshot)];
    return pages?.size === wanted.length && wanted.every(({ path, key }) => pages.get(path)?.key === key);
  });
}

const REASONS: Readonly<Record<ReleaseState['behind'][number], string>> = {
  no_release: 'none yet',
  damaged_release: 'files are missing or damaged',
  lost_assets: 'stylesheets, scripts or images beside it are missing or damaged',
  other_catalogue: 'it was built from another catalogue',
  older_revision: 'the catalogue has changed since',
  other_code: 'it was built by another version of the code',
  other_settings: 'BASE_URL, title or contact have changed since',
  other_pages: 'its pages show something else than the published catalogue',
};

/** Describes whether a release is current, and if not, why. */
export function describeReleaseState({ id, revision, behind }: ReleaseState): string {
  const why = behind.map((reason) => REASONS[reason]).join('; ');
  if (id === null) return why;
  return `${id} of revision ${revision}, ${why ? `not current: ${why}` : 'current'}`;
}
