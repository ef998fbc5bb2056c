import { readdirSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isMissing, listNames } from './folders.ts';
import type { PageCode } from './page-code.ts';
import { findCurrentRelease, getReleasePaths } from './release.ts';

/** Number of releases that are kept, the current one among them. */
const KEPT_RELEASES = 3;

/**
 * Compiled pages that nobody used for a week go, and after a day if the same code was compiled again. Every rebuild counts
 * as use, and a running server says every few hours that it is one.
 */
const CODE_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const RECOMPILED_KEPT_MS = 24 * 60 * 60 * 1000;

/** Returns the name of the folder in which a release is made, until it is complete. */
export function getUnfinishedFolder(releasesDir: string, id: string): string {
  return join(getReleasePaths(releasesDir).releases, `.${id}.unfinished`);
}

/**
 * Removes what killed rebuilds left: all that has no name of its own. Comes first, since it may be what fills a disk.
 * The caller holds the lock.
 */
export function removeUnfinished(releasesDir: string): void {
  const { releases, shards } = getReleasePaths(releasesDir);
  for (const folder of [releases, shards, releasesDir]) {
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
  pruneShards(releasesDir);
}

/** Removes the shards that no release links to: those of the releases just removed, and those that killed rebuilds left. */
function pruneShards(releasesDir: string): void {
  const { releases, shards } = getReleasePaths(releasesDir);
  const used = new Set<string>();
  for (const release of listNames(releases)) {
    for (const entry of readdirSync(join(releases, release), { withFileTypes: true })) {
      if (entry.isSymbolicLink()) used.add(basename(readlinkSync(join(releases, release, entry.name))));
    }
  }
  for (const name of listNames(shards)) {
    if (used.has(name)) continue;
    const nameless = join(shards, `.${name}.old`);
    renameSync(join(shards, name), nameless);
    rmSync(nameless, { recursive: true, force: true });
  }
}

/** Removes compiled pages that nobody uses any more, beside those that are `kept`. */
export function prunePageCode(kept: PageCode, now: Date): void {
  const codeDir = dirname(kept.folder);
  for (const name of listNames(codeDir).filter((found) => /^[0-9a-f]{16}/.test(found))) {
    const folder = join(codeDir, name);
    const limit = name.startsWith(kept.version) ? RECOMPILED_KEPT_MS : CODE_KEPT_MS;
    if (folder === kept.folder || now.getTime() - getChangeTime(folder) <= limit) continue;
    rmSync(folder, { recursive: true, force: true });
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
