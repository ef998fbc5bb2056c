import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { linkFile } from './folders.ts';
import { getHash } from './hash.ts';
import type { Release } from './release.ts';
import { findShard, getShardName, type Shard } from './shards.ts';

/** One page of a release: where its bytes are, the key it was rendered for, and what the bytes are. */
export interface ReleasePage {
  /** Relative to the release's folder. */
  readonly file: string;
  readonly key: string;
  readonly hash: string;
  readonly bytes: number;
  /** When the file was written, in milliseconds: no file is ever written to a second time. */
  readonly written: number;
  /** Media type, as the page itself answered. */
  readonly type: string;
}

/** The pages of a release by path, as its shards have them. */
export interface ReleasePages extends Iterable<readonly [path: string, page: ReleasePage]> {
  readonly shards: ReadonlyMap<string, Shard>;
  readonly size: number;
  get(path: string): ReleasePage | undefined;
}

/**
 * Finds the pages of a release; shards that `known` pages have, too, are not read again. Undefined where the list of one is
 * lost, or is not the one that the header names.
 */
export function findReleasePages({ header, folder }: Release, known?: ReleasePages): ReleasePages | undefined {
  const shards = new Map<string, Shard>();
  for (const [name, hash] of Object.entries(header.shards)) {
    const shard = findShard(join(folder, name), hash, known?.shards.get(name));
    if (!shard) return undefined;
    shards.set(name, shard);
  }
  return buildReleasePages(shards);
}

/** Builds the pages of a release from its shards. */
export function buildReleasePages(shards: ReadonlyMap<string, Shard>): ReleasePages {
  let size = 0;
  for (const { pages } of shards.values()) size += pages.size;
  return {
    shards,
    size,
    get: (path) => shards.get(getShardName(path))?.pages.get(path),
    *[Symbol.iterator]() {
      for (const { pages } of shards.values()) yield* pages;
    },
  };
}

/** Says whether a release has the lists of its pages, and every page the file that was rendered: see `isIntact`. */
export function isWhole(release: Release): boolean {
  const pages = findReleasePages(release);
  return pages !== undefined && [...pages].every(([, page]) => isIntact(join(release.folder, page.file), page));
}

/** Gives a page's file a second name. Undefined, and nothing there, where it is lost or not what was rendered. */
export function linkPage(from: string, to: string, page: ReleasePage): ReleasePage | undefined {
  if (!linkFile(from, to)) return undefined;
  if (isIntact(to, page)) return { ...page, written: statSync(to).mtimeMs };
  rmSync(to);
  return undefined;
}

/**
 * Says whether a file is what was rendered: of its size, and untouched since. Where only the time differs, as after a copy,
 * the bytes themselves decide.
 */
export function isIntact(file: string, { bytes, written, hash }: ReleasePage): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size !== bytes) return false;
  return found.mtimeMs === written || getHash(readFileSync(file)) === hash;
}
