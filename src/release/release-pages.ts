import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing, linkFile } from './folders.ts';
import { getHash } from './hash.ts';
import type { Release } from './release.ts';

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

/** Pages by path: `pages.json` in a release's folder. */
export type ReleasePages = ReadonlyMap<string, ReleasePage>;

/** Finds the pages of a release. Undefined where their list is lost, or is not the one that the header names. */
export function findReleasePages({ header, folder }: Release): ReleasePages | undefined {
  try {
    const list = readFileSync(join(folder, 'pages.json'));
    if (getHash(list) !== header.pages_hash) return undefined;
    const pages: Record<string, ReleasePage> = JSON.parse(list.toString('utf8'));
    return new Map(Object.entries(pages));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Says whether a release has its list of pages, and every page the file that was rendered: see `isIntact`. */
export function isWhole(release: Release): boolean {
  const pages = findReleasePages(release);
  return pages !== undefined && [...pages.values()].every((page) => isIntact(join(release.folder, page.file), page));
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
function isIntact(file: string, { bytes, written, hash }: ReleasePage): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size !== bytes) return false;
  return found.mtimeMs === written || getHash(readFileSync(file)) === hash;
}
