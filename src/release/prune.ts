import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing, listNames } from './folders.ts';
import { CODE_DIR } from './page-code.ts';
import { findCurrentRelease, getReleasePaths } from './release.ts';

/** How many releases are kept, the current one among them. */
const KEPT_RELEASES = 3;

/** Compiled pages that nobody used for a week go; a running server and every rebuild count as use. */
const CODE_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Gives the name of the folder in which a release is made, until it is complete. */
export function getUnfinishedFolder(releasesDir: string, id: string): string {
  return join(getReleasePaths(releasesDir).releases, `.${id}.unfinished`);
}

/**
 * Removes what killed rebuilds left: whatever has no name of its own. First of all, since it may be what fills a disk.
 * Only under the lock.
 */
export function removeUnfinished(releasesDir: string): void {
  for (const folder of [getReleasePaths(releasesDir).releases, releasesDir]) {
    for (const name of listNames(folder).filter((found) => /^\..*\.(unfinished|old)$/.test(found))) {
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

/**
 * Removes old releases: each loses its name first, so that a half-removed one never counts. A server that was still
 * reading one finds its files gone, looks at `current` again and goes on from there. Only under the lock.
 */
export function pruneReleases(releasesDir: string): void {
  const { releases } = getReleasePaths(releasesDir);
  const current = findCurrentRelease(releasesDir)?.header.id;
  const names = listNames(releases).filter((name) => !name.startsWith('.'));
  for (const name of names.sort().reverse().slice(KEPT_RELEASES)) {
    if (name === current) continue;
    const nameless = join(releases, `.${name}.old`);
    renameSync(join(releases, name), nameless);
    rmSync(nameless, { recursive: true, force: true });
  }
}

/** Removes compiled pages that were not used for a week. `kept` is the version in use. */
export function prunePageCode(kept: string, now: Date): void {
  for (const name of listNames(CODE_DIR).filter((version) => /^[0-9a-f]{16}$/.test(version) && version !== kept)) {
    const folder = join(CODE_DIR, name);
    if (now.getTime() - getChangeTime(folder) > CODE_KEPT_MS) rmSync(folder, { recursive: true, force: true });
  }
}

function getChangeTime(folder: string): number {
  try {
    return statSync(folder).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
