import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ASSETS_FOLDER } from '../release/assets.ts';
import { isMissing } from '../release/folders.ts';
import { getHash } from '../release/hash.ts';
import { getReleasePaths } from '../release/release.ts';
import type { ReleasePage } from '../release/release-pages.ts';
import type { Content, ContentStore } from './content.ts';
import type { CurrentRelease, ServedRelease } from './current-release.ts';

/** Media types of assets by the ending of their name. */
const ASSET_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
};

const ASSET_PATH = new RegExp(`^/${ASSETS_FOLDER}/([\\w-][\\w.-]*\\.(\\w+))$`);

/** Something to send. */
export interface Page {
  readonly status: number;
  readonly type: string;
  readonly content: Content;
}

/** Finds a page of the current release. Undefined where it has no such page, or has lost it. */
export type FindReleasePage = (path: string) => Promise<Page | undefined>;

/**
 * Opens the pages of the current release: from memory, else from their files, whose bytes must be those that were
 * rendered. A release that is cleared away while a page of it is being read has been followed by another, which is then
 * asked. A page that is lost or damaged on the disk is said so once and not read again.
 */
export function openReleasePages({
  current,
  store,
  logger,
}: {
  current: CurrentRelease;
  store: ContentStore;
  logger: Logger;
}): FindReleasePage {
  const lost = new WeakSet<ReleasePage>();
  const read = async ({ folder }: ServedRelease, page: ReleasePage): Promise<Content | undefined> => {
    const body = await readIfThere(join(folder, page.file));
    return body && getHash(body) === page.hash ? store.add(page.hash, body) : undefined;
  };
  return async (path) => {
    for (;;) {
      const release = current.find();
      const page = release?.pages.get(path);
      if (!release || !page || lost.has(page)) return undefined;
      const content = store.find(page.hash) ?? (await read(release, page));
      if (content) return { status: 200, type: page.type, content };
      current.follow();
      if (current.find() !== release) continue;
      lost.add(page);
      logger.error(
        { path, release: release.header.id },
        'a page of the release is lost or damaged and rendered on demand; npm run rebuild -- --force mends it',
      );
    }
  };
}

/** Finds a hashed asset, of this release or of an earlier one that may still be open somewhere. */
export async function findAsset(path: string, releasesDir: string, store: ContentStore): Promise<Page | undefined> {
  const [, name = '', ending = ''] = ASSET_PATH.exec(path) ?? [];
  const type = ASSET_TYPES[ending];
  if (type === undefined) return undefined;
  const known = store.find(name);
  if (known) return { status: 200, type, content: known };
  const body = await readIfThere(join(getReleasePaths(releasesDir).assets, ASSETS_FOLDER, name));
  return body && { status: 200, type, content: store.add(name, body) };
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
