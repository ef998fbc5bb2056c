import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { getHash } from '../published/hash.ts';
import type { Site } from '../views/site.ts';
import { isFileError, isMissing, listNames } from './folders.ts';
import { hasShard } from './shards.ts';

/** Format of a release folder, raised when its content changes its meaning, so that older ones are not built upon. */
const FORMAT = 3;

/** The input that a release was made from, and is current for: `release.json` in its folder. */
const releaseHeader = z.object({
  format: z.literal(FORMAT),
  id: z.string(),
  /** The catalogue by its identity, and its state by revision and the time of that revision. */
  identity: z.string(),
  revision: z.int().nonnegative(),
  revised_at: z.string(),
  /** Version of the code that rendered the pages. */
  code_version: z.string(),
  /** Hash of the page-visible settings. */
  settings_hash: z.string(),
  made_at: z.iso.datetime(),
  page_count: z.int().positive(),
  /** Hashes of the shards that its pages are in, by name. */
  shards: z.record(z.string(), z.string()),
  /** Sizes of the hashed assets that the pages load, by name. They lie beside the releases. */
  assets: z.record(z.string(), z.int().nonnegative()),
});
export type ReleaseHeader = z.infer<typeof releaseHeader>;

/** A complete release. */
export interface Release {
  readonly header: ReleaseHeader;
  readonly folder: string;
}

/** Returns the paths inside the folder of the setting RELEASES. */
export function getReleasePaths(releasesDir: string) {
  return {
    releases: join(releasesDir, 'releases'),
    shards: join(releasesDir, 'shards'),
    current: join(releasesDir, 'current'),
    assets: join(releasesDir, 'assets'),
    /** The copy of the published catalogue for download. */
    download: join(releasesDir, 'download'),
    lock: join(releasesDir, 'rebuild.lock'),
  } as const;
}

/** Returns the page-visible settings. */
export function getSite({ baseUrl, serviceTitle, contactName, contactUrl, intake }: Config): Site {
  return { baseUrl, serviceTitle, contactName, contactUrl, hasIntake: intake !== 'off' };
}

/** Returns the hash of the page-visible settings. */
export function getSettingsHash(site: Site): string {
  return getHash(
    JSON.stringify([site.baseUrl, site.serviceTitle, site.contactName, site.contactUrl, site.hasIntake === true]),
  );
}

/** Returns the id of a release made at a time (ISO 8601 UTC) of a revision: ids sort by that time. */
export function getReleaseId(madeAt: string, revision: number): string {
  return `${madeAt.replace(/[-:.]/g, '')}-r${revision}`;
}

/** Builds the header of a release. */
export function buildReleaseHeader(facts: Omit<ReleaseHeader, 'format' | 'id'>): ReleaseHeader {
  return { format: FORMAT, id: getReleaseId(facts.made_at, facts.revision), ...facts };
}

/** Finds the release that `current` names. Undefined while there is none. Throws as `findCurrentId` does. */
export function findCurrentRelease(releasesDir: string): Release | undefined {
  const id = findCurrentId(releasesDir);
  return id === undefined ? undefined : findRelease(join(getReleasePaths(releasesDir).releases, id));
}

/** Finds the id that `current` names. Throws `conflict` where something else than a link lies in its place. */
export function findCurrentId(releasesDir: string): string | undefined {
  const { current } = getReleasePaths(releasesDir);
  try {
    return basename(readlinkSync(current));
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (!isFileError(error, 'EINVAL')) throw error;
    const found = lstatSync(current).isDirectory() ? 'a folder' : 'a file';
    throw new ServiceError('conflict', `${current} is ${found}, where the link to the current release should be.`, {
      hint: 'Move it away, or set RELEASES to another folder; the next rebuild makes the link.',
      reason: 'current_not_a_link',
      cause: error,
    });
  }
}

/** Lists the complete releases, the newest first. */
export function listReleases(releasesDir: string): Release[] {
  const { releases } = getReleasePaths(releasesDir);
  return listNames(releases)
    .filter((name) => !name.startsWith('.'))
    .sort()
    .reverse()
    .flatMap((name) => findRelease(join(releases, name)) ?? []);
}

/**
 * A folder counts as a release once it has its own name, a header of this format and the lists of its pages: the header
 * comes last in its making. Asked many times a second, so the lists are only looked for here, not read.
 */
function findRelease(folder: string): Release | undefined {
  try {
    const header = releaseHeader.safeParse(JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8')));
    const isListed = header.success && Object.keys(header.data.shards).every((name) => hasShard(join(folder, name)));
    return isListed ? { header: header.data, folder } : undefined;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
