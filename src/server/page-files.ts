import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ASSETS_FOLDER } from '../release/assets.ts';
import { isMissing } from '../release/folders.ts';
import { getHash } from '../release/hash.ts';
import { getReleasePaths } from '../release/release.ts';
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

/** How often a page is looked for again when its release was cleared away while it was being read. */
const ATTEMPTS = 3;

/** Something to send. */
export interface Page {
  readonly status: number;
  readonly type: string;
  readonly content: Content;
}

/**
 * Finds a page of the current release: from memory, else from its file, whose bytes must be those that were rendered.
 * Undefined where the release has no such page, or has lost it.
 */
export async function findReleasePage(
  path: string,
  { current, store, logger }: { current: CurrentRelease; store: ContentStore; logger: Logger },
): Promise<Page | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const release = current.find();
    const page = release?.pages.get(path);
    if (!release || !page) return undefined;
    const content = store.find(page.hash) ?? (await readPage(release, path, { store, logger }));
    if (content) return { status: 200, type: page.type, content };
    current.follow();
  }
  return undefined;
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

async function readPage(
  { folder, pages, header }: ServedRelease,
  path: string,
  { store, logger }: { store: ContentStore; logger: Logger },
): Promise<Content | undefined> {
  const page = pages.get(path);
  const body = page && (await readIfThere(join(folder, page.file)));
  if (!page || !body) return undefined;
  if (getHash(body) === page.hash) return store.add(page.hash, body);
  logger.error({ path, release: header.id }, 'a page is not what was rendered; npm run rebuild -- --force mends it');
  return undefined;
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
