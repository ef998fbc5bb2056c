import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing } from './folders.ts';
import { getHash } from './hash.ts';
import type { Release } from './release.ts';

/** One page of a release: where its bytes are, the key it was rendered for, and what the bytes are. */
export interface ReleasePage {
  /** Relative to the release's folder. */
  readonly file: string;
  readonly key: string;
  readonly hash: string;
  readonly bytes: number;
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
