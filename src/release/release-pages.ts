import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getHash } from '../published/hash.ts';
import { linkFile } from './folders.ts';
import { FORMS } from './forms.ts';
import type { Release } from './release.ts';
import { findShard, getShardName, type ReleaseFile, type ReleasePage, type Shard } from './shards.ts';

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

/** Returns true if a release has the lists of its pages, and every page its files as they were made: see `isIntact`. */
export function isWhole(release: Release): boolean {
  const pages = findReleasePages(release);
  return pages !== undefined && [...pages].every(([, page]) => isIntact(join(release.folder, page.file), page));
}

/** Links the files of a page to second names. Returns undefined, and links nothing, if one is lost or damaged. */
export function linkPage(from: string, to: string, page: ReleasePage): ReleasePage | undefined {
  const own = linkIntact(from, to, page);
  const forms = listForms(page).map(([form, file]) => [form, linkIntact(`${from}.${form}`, `${to}.${form}`, file)]);
  if (own && forms.every(([, file]) => file)) return { ...own, forms: Object.fromEntries(forms) };
  for (const file of [to, ...FORMS.map((form) => `${to}.${form}`)]) rmSync(file, { force: true });
  return undefined;
}

function linkIntact<File extends ReleaseFile>(from: string, to: string, file: File): File | undefined {
  return linkFile(from, to) && isFileIntact(to, file) ? { ...file, written: statSync(to).mtimeMs } : undefined;
}

/** Lists the files of a page: its own first, then those of its forms. */
export function listFiles(page: ReleasePage): string[] {
  return [page.file, ...listForms(page).map(([form]) => `${page.file}.${form}`)];
}

function listForms({ forms = {} }: ReleasePage): [form: string, file: ReleaseFile][] {
  return Object.entries(forms);
}

/** Returns true if a page's file and those of its forms are what was made. */
export function isIntact(file: string, page: ReleasePage): boolean {
  return isFileIntact(file, page) && listForms(page).every(([form, made]) => isFileIntact(`${file}.${form}`, made));
}

/** A file is what was made if it has its size and time; where only the time differs, as after a copy, its bytes decide. */
function isFileIntact(file: string, { bytes, written, hash }: ReleaseFile): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size !== bytes) return false;
  return found.mtimeMs === written || getHash(readFileSync(file)) === hash;
}
