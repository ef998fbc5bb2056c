import { constants, copyFileSync, mkdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listNames } from './folders.ts';
import type { PageCode } from './page-code.ts';

/** The folder of hashed assets, in the compiled pages and beside the releases. */
export const ASSETS_FOLDER = '_astro';

/** How long an asset that no release uses any more stays, for pages that are still open somewhere. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** Sizes of assets by name, in bytes. */
export type Assets = Readonly<Record<string, number>>;

/**
 * Puts the hashed assets of the compiled pages beside the releases, which they outlive. Their time of change is that of
 * their last use; what has not been used for 30 days goes. A name has one content, so what is there stays. Gives
 * them all, and the names of those that were not there.
 */
export function publishAssets(
  code: PageCode,
  assetsDir: string,
  now: Date,
): { assets: Assets; published: readonly string[] } {
  const [from, to] = [join(code.clientDir, ASSETS_FOLDER), join(assetsDir, ASSETS_FOLDER)];
  mkdirSync(to, { recursive: true });
  const names = listNames(from);
  const assets = Object.fromEntries(names.map((name) => [name, statSync(join(from, name)).size]));
  const published = listLostAssets(assets, assetsDir);
  for (const name of published) publishAsset(join(from, name), join(to, name));
  for (const name of names) utimesSync(join(to, name), now, now);
  for (const name of listNames(to)) {
    const file = join(to, name);
    if (now.getTime() - statSync(file).mtimeMs > KEPT_MS) rmSync(file, { recursive: true, force: true });
  }
  return { assets, published };
}

/** Lists those of some assets that are not beside the releases, or not of their size. */
export function listLostAssets(assets: Assets, assetsDir: string): string[] {
  return Object.entries(assets)
    .filter(([name, bytes]) => findSize(join(assetsDir, ASSETS_FOLDER, name)) !== bytes)
    .map(([name]) => name);
}

/** A name that something else than a file has is no asset. */
function findSize(file: string): number | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : undefined;
}

/** Written beside its place and renamed, so that nobody reads half of it. */
function publishAsset(from: string, to: string): void {
  const unfinished = join(dirname(to), `.${process.pid}.unfinished`);
  copyFileSync(from, unfinished, constants.COPYFILE_FICLONE);
  renameSync(unfinished, to);
}
